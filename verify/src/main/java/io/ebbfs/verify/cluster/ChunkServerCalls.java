package io.ebbfs.verify.cluster;

import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.rpc.ChunkServerClient;
import io.ebbfs.protocol.rpc.RemoteCall;
import io.ebbfs.protocol.rpc.RpcSettings;
import io.ebbfs.testbed.cluster.LocalCluster;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.DFSUtilClient;
import org.apache.hadoop.hdfs.client.BlockReportOptions;
import org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** Calls the chunk servers of a local cluster directly. Not thread-safe. */
final class ChunkServerCalls implements AutoCloseable {
  private static final int RPC_TIMEOUT_MILLIS = 20_000;

  private final LocalCluster local;
  private final Map<Integer, ChunkServerClient> clients = new HashMap<>();

  ChunkServerCalls(LocalCluster local) {
    this.local = local;
  }

  /** Lets a server compare blocks with their checksums. */
  VerifyResponseProto verify(int server, VerifyRequestProto request) throws IOException {
    ChunkServerClient client = clients.get(server);
    if (client == null) {
      client =
          new ChunkServerClient(
              new InetSocketAddress(local.hostOf(server), local.layout().ports().ipc().get(server)),
              RpcSettings.tryOnce(RPC_TIMEOUT_MILLIS).withConnectRetries(10, 45),
              local.serviceKey());
      clients.put(server, client);
    }
    IOException failure = null;
    for (int tries = 0; tries < 3; tries++) {
      try {
        return client.chunk().verify(null, request);
      } catch (ServiceException e) {
        // The first call after a server's death finds its old connection broken.
        failure = RemoteCall.cause(e);
      }
    }
    throw failure;
  }

  /** Makes every server send a full block report now. */
  void triggerReports() throws IOException {
    for (int server = 0; server < local.layout().servers(); server++) {
      int ipc = local.layout().ports().ipc().get(server);
      int transfer = local.layout().ports().transfer().get(server);
      ClientDatanodeProtocol datanode =
          DFSUtilClient.createClientDatanodeProtocolProxy(
              new DatanodeID(local.hostOf(server), local.hostOf(server), "", transfer, 0, 0, ipc),
              new Configuration(),
              RPC_TIMEOUT_MILLIS,
              false);
      try {
        datanode.triggerBlockReport(new BlockReportOptions.Factory().setIncremental(false).build());
      } finally {
        RPC.stopProxy(datanode);
      }
    }
  }

  @Override
  public void close() {
    clients.values().forEach(ChunkServerClient::close);
  }
}
