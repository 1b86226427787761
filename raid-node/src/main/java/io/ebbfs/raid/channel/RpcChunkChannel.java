package io.ebbfs.raid.channel;

import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.rpc.ChunkServerClient;
import io.ebbfs.protocol.rpc.RemoteCall;
import io.ebbfs.protocol.rpc.RpcSettings;
import io.ebbfs.protocol.rpc.ServiceKey;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * {@link ChunkChannel} over Hadoop RPC to the servers' IPC ports. Keeps one client for each address
 * that was ever used. A call ends after its time-out at the latest.
 */
public final class RpcChunkChannel implements ChunkChannel, AutoCloseable {
  private static final int CONNECT_TIMEOUT_MILLIS = 10_000;

  // A cluster has far fewer servers. Only addresses that change again and again reach this number.
  private static final int MAX_CLIENTS = 4096;

  private final RpcSettings settings;
  private final ServiceKey key;
  private final ConcurrentMap<InetSocketAddress, ChunkServerClient> clients =
      new ConcurrentHashMap<>();

  /**
   * A channel whose calls time out after so many milliseconds.
   *
   * @param key proves to the servers that the caller is a service
   */
  public RpcChunkChannel(long timeoutMillis, ServiceKey key) {
    this.key = key;
    settings = RpcSettings.tryOnce(timeoutMillis).withConnectTimeout(CONNECT_TIMEOUT_MILLIS);
  }

  @Override
  public CombineResponseProto combine(DatanodeIDProto executor, CombineRequestProto request)
      throws IOException {
    return ask(() -> client(executor).chunk().combine(null, request));
  }

  @Override
  public VerifyResponseProto verify(DatanodeIDProto server, VerifyRequestProto request)
      throws IOException {
    return ask(() -> client(server).chunk().verify(null, request));
  }

  private interface Question<A> {
    A ask() throws ServiceException, IOException;
  }

  /**
   * Asks a server once more if the connection broke: a server that was restarted is there again. A
   * server that has already done a combine answers it and does not do it again.
   */
  private static <A> A ask(Question<A> question) throws IOException {
    try {
      return question.ask();
    } catch (ServiceException e) {
      if (!connectionBroke(e)) {
        throw RemoteCall.cause(e);
      }
    }
    try {
      return question.ask();
    } catch (ServiceException e) {
      throw RemoteCall.cause(e);
    }
  }

  /** Not if the server refused the connection, threw an exception or let the time run out. */
  private static boolean connectionBroke(ServiceException e) {
    return e.getCause() instanceof IOException cause
        && !(cause instanceof RemoteException)
        && !(cause instanceof ConnectException)
        && !(cause instanceof SocketTimeoutException);
  }

  private ChunkServerClient client(DatanodeIDProto server) throws IOException {
    InetSocketAddress address = new InetSocketAddress(server.getIpAddr(), server.getIpcPort());
    ChunkServerClient known = clients.get(address);
    if (known != null) {
      return known;
    }
    if (clients.size() >= MAX_CLIENTS) {
      close();
    }
    ChunkServerClient made = new ChunkServerClient(address, settings, key);
    ChunkServerClient other = clients.putIfAbsent(address, made);
    if (other != null) {
      made.close();
      return other;
    }
    return made;
  }

  @Override
  public void close() {
    for (InetSocketAddress address : clients.keySet()) {
      ChunkServerClient client = clients.remove(address);
      if (client != null) {
        client.close();
      }
    }
  }
}
