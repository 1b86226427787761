package io.ebbfs.namenode.rpc.datanode;

import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.replicas.ReplicaVerifier;
import io.ebbfs.protocol.proto.ChunkProtos.VerifiedBlockProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.rpc.ChunkServerClient;
import io.ebbfs.protocol.rpc.RemoteCall;
import io.ebbfs.protocol.rpc.RpcSettings;
import io.ebbfs.protocol.rpc.ServiceKey;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocolPB.PBHelperClient;
import org.apache.hadoop.ipc.RpcNoSuchProtocolException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has replicas verified by chunk servers, with ChunkProtocol, which a stock DataNode does not know.
 * Thread-safe.
 */
public final class ChunkServerVerifier implements ReplicaVerifier {
  private static final Logger LOG = LoggerFactory.getLogger(ChunkServerVerifier.class);
  private static final int CONNECT_MILLIS = 5_000;

  /** A server reads a whole block for its answer. */
  private static final long CALL_MILLIS = 60_000;

  private final RpcSettings settings =
      RpcSettings.tryOnce(CALL_MILLIS).withConnectTimeout(CONNECT_MILLIS);
  private final ServiceKey key;

  /** A verifier that proves to the servers by the key that it is a service. */
  public ChunkServerVerifier(ServiceKey key) {
    this.key = key;
  }

  @Override
  public Health verify(Server server, ExtendedBlock block) {
    InetSocketAddress address = new InetSocketAddress(server.ipAddress(), server.ipcPort());
    VerifyRequestProto request =
        VerifyRequestProto.newBuilder().addBlocks(PBHelperClient.convert(block)).build();
    try (ChunkServerClient client = new ChunkServerClient(address, settings, key)) {
      VerifyResponseProto response =
          RemoteCall.answerOf(() -> client.chunk().verify(null, request));
      return response.getBlocksCount() == 1
          ? healthOf(response.getBlocks(0), block.getNumBytes())
          : Health.UNKNOWN;
    } catch (RpcNoSuchProtocolException e) {
      return Health.UNABLE;
    } catch (IOException e) {
      LOG.info("chunk server {} did not verify {}: {}", address, block, e.toString());
      return Health.UNKNOWN;
    }
  }

  private static Health healthOf(VerifiedBlockProto answer, long lengthBytes) {
    return switch (answer.getHealth()) {
      // A replica of another length is no replica of the block: its report says so.
      case BLOCK_OK -> answer.getLengthBytes() == lengthBytes ? Health.GOOD : Health.UNKNOWN;
      case BLOCK_CORRUPT -> Health.BAD;
      case BLOCK_MISSING -> Health.MISSING;
      default -> Health.UNKNOWN;
    };
  }
}
