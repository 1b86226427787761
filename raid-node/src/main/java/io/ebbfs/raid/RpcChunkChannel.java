package io.ebbfs.raid;

import io.ebbfs.protocol.ChunkProtocol;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * {@link ChunkChannel} over Hadoop RPC to the servers' IPC ports, with one cached proxy for each
 * address that was ever used. A call ends after its time-out at the latest.
 */
public final class RpcChunkChannel implements ChunkChannel, AutoCloseable {
  // Far more than servers of a cluster: only addresses that come and go for ever fill it.
  private static final int MAX_PROXIES = 4096;

  private final Configuration conf;
  private final ConcurrentMap<InetSocketAddress, ChunkProtocol> proxies = new ConcurrentHashMap<>();

  /** A channel whose calls time out after so many milliseconds. */
  public RpcChunkChannel(long timeoutMillis) {
    conf = Rpc.configuration(timeoutMillis, ChunkProtocol.class);
  }

  @Override
  public CombineResponseProto combine(DatanodeIDProto executor, CombineRequestProto request)
      throws IOException {
    return ask(() -> proxy(executor).combine(null, request));
  }

  @Override
  public VerifyResponseProto verify(DatanodeIDProto server, VerifyRequestProto request)
      throws IOException {
    return ask(() -> proxy(server).verify(null, request));
  }

  private interface Question<A> {
    A ask() throws ServiceException, IOException;
  }

  /**
   * Asks a server once more if it went away meanwhile: one that was restarted is there again. A
   * combine that it did before is answered, not done again.
   */
  private static <A> A ask(Question<A> question) throws IOException {
    try {
      return question.ask();
    } catch (ServiceException e) {
      if (!connectionBroke(e)) {
        throw Rpc.cause(e);
      }
    }
    try {
      return question.ask();
    } catch (ServiceException e) {
      throw Rpc.cause(e);
    }
  }

  /** Rather than: no connection could be made, or there was an answer, or none in time. */
  private static boolean connectionBroke(ServiceException e) {
    return e.getCause() instanceof IOException cause
        && !(cause instanceof RemoteException)
        && !(cause instanceof ConnectException)
        && !(cause instanceof SocketTimeoutException);
  }

  private ChunkProtocol proxy(DatanodeIDProto server) throws IOException {
    InetSocketAddress address = new InetSocketAddress(server.getIpAddr(), server.getIpcPort());
    ChunkProtocol known = proxies.get(address);
    if (known != null) {
      return known;
    }
    if (proxies.size() >= MAX_PROXIES) {
      close();
    }
    ChunkProtocol made = RPC.getProxy(ChunkProtocol.class, ChunkProtocol.VERSION, address, conf);
    ChunkProtocol other = proxies.putIfAbsent(address, made);
    if (other != null) {
      RPC.stopProxy(made);
      return other;
    }
    return made;
  }

  @Override
  public void close() {
    for (InetSocketAddress address : proxies.keySet()) {
      ChunkProtocol proxy = proxies.remove(address);
      if (proxy != null) {
        RPC.stopProxy(proxy);
      }
    }
  }
}
