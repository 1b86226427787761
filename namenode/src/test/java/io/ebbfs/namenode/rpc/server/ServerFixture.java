package io.ebbfs.namenode.rpc.server;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.util.Set;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.ClientNamenodeProtocol;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.ClientNamenodeProtocol.BlockingInterface;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.GetFileInfoRequestProto;
import org.apache.hadoop.hdfs.protocolPB.ClientNamenodeProtocolPB;

/**
 * A server with handlers of a test's own. The method getFileInfo is quick, delete has to take
 * effect once, and fsync is neither.
 */
final class ServerFixture implements AutoCloseable {
  /** A handler that gets the path of a request, the first field of all requests here. */
  @FunctionalInterface
  interface PathHandler {
    byte[] answer(String path) throws IOException;
  }

  private final RpcServer server;

  private ServerFixture(RpcServer server) {
    this.server = server;
  }

  static ServerFixture start(int handlers, ServerLimits limits, PathHandler handler)
      throws IOException {
    RpcProtocols protocols = new RpcProtocols();
    BlockingInterface none =
        (BlockingInterface)
            Proxy.newProxyInstance(
                ServerFixture.class.getClassLoader(),
                new Class<?>[] {BlockingInterface.class},
                (proxy, method, arguments) -> {
                  throw new UnsupportedOperationException(method.getName());
                });
    protocols.add(
        ClientNamenodeProtocolPB.class,
        ClientNamenodeProtocol.newReflectiveBlockingService(none),
        new RpcProtocols.Traits(Set.of("delete"), Set.of("getFileInfo")));
    for (String method : Set.of("getFileInfo", "fsync", "delete")) {
      protocols.replace(
          ClientNamenodeProtocolPB.class,
          method,
          (frame, offset, length) ->
              handler.answer(
                  GetFileInfoRequestProto.parser().parseFrom(frame, offset, length).getSrc()));
    }
    RpcServer server = new RpcServer(handlers, limits, protocols, new RetryAnswers(10_000));
    server.start("127.0.0.1", 0);
    return new ServerFixture(server);
  }

  InetSocketAddress address() {
    return server.address();
  }

  /** A new connection on which calls may follow. */
  WireClient connect() throws IOException {
    return WireClient.open(address());
  }

  int connections() {
    return server.connections();
  }

  long bytesInFlight() {
    return server.inFlight().bytes();
  }

  @Override
  public void close() throws InterruptedException {
    server.close();
  }
}
