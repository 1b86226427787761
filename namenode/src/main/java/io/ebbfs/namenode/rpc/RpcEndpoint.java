package io.ebbfs.namenode.rpc;

import io.ebbfs.namenode.rpc.server.MethodHandler;
import io.ebbfs.namenode.rpc.server.OwnCalls;
import io.ebbfs.namenode.rpc.server.RetryAnswers;
import io.ebbfs.namenode.rpc.server.RpcProtocols;
import io.ebbfs.namenode.rpc.server.RpcProtocols.Traits;
import io.ebbfs.namenode.rpc.server.RpcServer;
import io.ebbfs.namenode.rpc.server.ServerLimits;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.PeerProtocol;
import io.ebbfs.protocol.proto.CodingProtos.CodingProtocolService;
import io.ebbfs.protocol.proto.CodingProtos.GetReadPlanRequestProto;
import io.ebbfs.protocol.proto.PeerProtos.ClusterViewProto;
import io.ebbfs.protocol.proto.PeerProtos.ForwardedAnswerProto;
import io.ebbfs.protocol.proto.PeerProtos.ForwardedCallProto;
import io.ebbfs.protocol.proto.PeerProtos.GetViewRequestProto;
import io.ebbfs.protocol.proto.PeerProtos.PeerProtocolService;
import io.ebbfs.protocol.rpc.ServiceKey;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.ClientNamenodeProtocol;
import org.apache.hadoop.hdfs.protocol.proto.DatanodeProtocolProtos.DatanodeProtocolService;
import org.apache.hadoop.hdfs.protocol.proto.DatanodeProtocolProtos.HeartbeatRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.DatanodeProtocolProtos.HeartbeatResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.NamenodeProtocolProtos.NamenodeProtocolService;
import org.apache.hadoop.hdfs.protocolPB.ClientNamenodeProtocolPB;
import org.apache.hadoop.hdfs.protocolPB.ClientNamenodeProtocolServerSideTranslatorPB;
import org.apache.hadoop.hdfs.protocolPB.DatanodeProtocolPB;
import org.apache.hadoop.hdfs.protocolPB.DatanodeProtocolServerSideTranslatorPB;
import org.apache.hadoop.hdfs.protocolPB.NamenodeProtocolPB;
import org.apache.hadoop.hdfs.protocolPB.NamenodeProtocolServerSideTranslatorPB;
import org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol;
import org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * Serves the protocols of the namenode on one port. An endpoint may be replaced by another one at
 * the same port, without the end of a connection.
 */
public final class RpcEndpoint implements AutoCloseable {
  private static final Traits CLIENT_TRAITS =
      new Traits(
          // A client that lost the answer of such a call repeats it.
          Set.of(
              "create",
              "mkdirs",
              "append",
              "truncate",
              "concat",
              "rename",
              "rename2",
              "delete",
              "setXAttr",
              "removeXAttr",
              "setErasureCodingPolicy",
              "unsetErasureCodingPolicy"),
          Set.of(
              "getFileInfo",
              "getFileLinkInfo",
              "getListing",
              "getBlockLocations",
              "create",
              "addBlock",
              "abandonBlock",
              "complete",
              "renewLease",
              "mkdirs",
              "rename",
              "rename2",
              "delete",
              "setPermission",
              "setOwner",
              "setTimes",
              "setReplication",
              "getServerDefaults"));

  private static final long HEAP_SHARE_OF_ANSWERS = 64;

  private final RpcProtocols protocols = new RpcProtocols();
  private final ServerLimits limits;
  private final RpcServer server;
  private final boolean replaces;

  /**
   * Prepares the server; {@link #start} binds its port.
   *
   * @param handlers threads that answer calls
   */
  public RpcEndpoint(int handlers, RetryAnswers retries) {
    this(handlers, ServerLimits.DEFAULT, retries);
  }

  RpcEndpoint(int handlers, ServerLimits limits, RetryAnswers retries) {
    this.limits = limits;
    this.server = new RpcServer(handlers, limits, protocols, retries);
    this.replaces = false;
    ToolCalls.addTo(protocols);
  }

  /**
   * Prepares an endpoint that replaces a running one with its {@link #start}, at the same port. The
   * running one still owns the port and the threads, and is closed last.
   */
  public RpcEndpoint(RpcEndpoint running) {
    this.limits = running.limits;
    this.server = running.server;
    this.replaces = true;
    ToolCalls.addTo(protocols);
  }

  /** A memory of answers, for the endpoints that the same clients call. */
  public static RetryAnswers newRetryAnswers() {
    return new RetryAnswers(Runtime.getRuntime().maxMemory() / HEAP_SHARE_OF_ANSWERS);
  }

  public void addClients(ClientProtocol clients) throws IOException {
    protocols.add(
        ClientNamenodeProtocolPB.class,
        ClientNamenodeProtocol.newReflectiveBlockingService(
            new ClientNamenodeProtocolServerSideTranslatorPB(clients)),
        CLIENT_TRAITS);
  }

  /** From now on, these handlers answer methods of ClientProtocol; the keys are their names. */
  public void replaceClientMethods(Map<String, MethodHandler> handlers) {
    handlers.forEach(
        (method, handler) -> protocols.replace(ClientNamenodeProtocolPB.class, method, handler));
  }

  /** Whether a call of ClientProtocol must not take effect twice. */
  static boolean takesEffectOnce(String method) {
    return CLIENT_TRAITS.once().contains(method);
  }

  /** Lets something run around each method of ClientProtocol, after all its handlers are there. */
  public void wrapClientMethods(BiFunction<String, MethodHandler, MethodHandler> around) {
    protocols.wrap(ClientNamenodeProtocolPB.class, around);
  }

  /**
   * Lets the namenode itself call the methods of ClientProtocol, after all their handlers are
   * there.
   *
   * @param user who makes these calls
   */
  public OwnCalls ownCalls(String user) {
    return protocols.ownCalls(ClientNamenodeProtocolPB.class, user);
  }

  /** Lets something run around each method of DatanodeProtocol, in the same way. */
  public void wrapDatanodeMethods(BiFunction<String, MethodHandler, MethodHandler> around) {
    protocols.wrap(DatanodeProtocolPB.class, around);
  }

  /** Clients and chunk servers that are connected now. */
  public int connections() {
    return server.connections();
  }

  public void addDatanodes(DatanodeProtocol datanodes) throws IOException {
    addDatanodes(datanodes, heartbeat -> {});
  }

  /**
   * The same.
   *
   * @param beforeHeartbeat gets each heartbeat as it came, before its call
   */
  public void addDatanodes(
      DatanodeProtocol datanodes, Consumer<HeartbeatRequestProto> beforeHeartbeat)
      throws IOException {
    protocols.add(
        DatanodeProtocolPB.class,
        DatanodeProtocolService.newReflectiveBlockingService(
            new DatanodeProtocolServerSideTranslatorPB(datanodes, limits.frameBytes()) {
              @Override
              public HeartbeatResponseProto sendHeartbeat(
                  RpcController controller, HeartbeatRequestProto heartbeat)
                  throws ServiceException {
                beforeHeartbeat.accept(heartbeat);
                return super.sendHeartbeat(controller, heartbeat);
              }
            }),
        Traits.NONE);
  }

  /** Adds NamenodeProtocol, which HDFS's balancer speaks. */
  public void addBalancers(NamenodeProtocol balancers) throws IOException {
    protocols.add(
        NamenodeProtocolPB.class,
        NamenodeProtocolService.newReflectiveBlockingService(
            new NamenodeProtocolServerSideTranslatorPB(balancers)),
        Traits.NONE);
  }

  /**
   * Adds CodingProtocol, for callers that prove that they know the key. A user may ask for the read
   * plan of a block of a file, which names the path of the file.
   */
  public void addCoding(CodingProtocolService.BlockingInterface coding, ServiceKey key) {
    protocols.add(
        CodingProtocol.class,
        CodingProtocolService.newReflectiveBlockingService(
            ServicesOnly.guard(
                CodingProtocolService.BlockingInterface.class,
                coding,
                CodingProtocol.NAME,
                key,
                request -> request instanceof GetReadPlanRequestProto plan && plan.hasPath())),
        Traits.NONE);
  }

  /**
   * Lets other namenodes have calls of clients run here, and ask for the chunk servers. All
   * handlers of ClientProtocol are there.
   */
  public void addPeers(PeerView view, ServiceKey key) {
    protocols.add(
        PeerProtocol.class,
        PeerProtocolService.newReflectiveBlockingService(
            ServicesOnly.guard(
                PeerProtocolService.BlockingInterface.class,
                new ViewOnly(view, RpcEndpoint::clockMillis),
                PeerProtocol.NAME,
                key)),
        Traits.NONE);
    protocols.forward(
        PeerProtocol.class,
        "forward",
        ClientNamenodeProtocolPB.class,
        key,
        RpcEndpoint::clockMillis);
  }

  /** The clock by which other namenodes tell how long they wait for a call. */
  private static long clockMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  /** What a leader tells the other namenodes when they ask. Thread-safe. */
  @FunctionalInterface
  public interface PeerView {
    /**
     * The chunk servers as the leader sees them.
     *
     * @param writers clients of which the other namenode has heard
     */
    ClusterViewProto answer(List<String> writers);
  }

  private record ViewOnly(PeerView view, LongSupplier clockMillis)
      implements PeerProtocolService.BlockingInterface {
    @Override
    public ForwardedAnswerProto forward(RpcController controller, ForwardedCallProto call)
        throws ServiceException {
      throw new ServiceException("forwarded calls have a handler of their own");
    }

    @Override
    public ClusterViewProto getView(RpcController controller, GetViewRequestProto request) {
      long now = clockMillis.getAsLong();
      return view.answer(request.getWritersList()).toBuilder().setClockMillis(now).build();
    }
  }

  /** Adds a PeerProtocol that refuses all calls, so that no key is needed. */
  void addStandbyPeers(PeerProtocolService.BlockingInterface refusing) {
    protocols.add(
        PeerProtocol.class,
        PeerProtocolService.newReflectiveBlockingService(refusing),
        Traits.NONE);
  }

  /** Adds a CodingProtocol that refuses all calls, so that no key is needed. */
  void addStandbyCoding(CodingProtocolService.BlockingInterface refusing) {
    protocols.add(
        CodingProtocol.class,
        CodingProtocolService.newReflectiveBlockingService(refusing),
        Traits.NONE);
  }

  /**
   * Binds the port and serves. No protocol may be added after.
   *
   * @param port 0 for any free port; without a meaning if the endpoint replaces another one
   */
  public void start(String host, int port) throws IOException {
    if (replaces) {
      server.answerBy(protocols);
    } else {
      server.start(host, port);
    }
  }

  public InetSocketAddress address() {
    return server.address();
  }

  /** Ends all connections and calls, unless the endpoint has replaced another one. */
  @Override
  public void close() throws InterruptedException {
    if (!replaces) {
      server.close();
    }
  }
}
