package io.ebbfs.namenode.rpc;

import io.ebbfs.protocol.proto.CodingProtos.CodingProtocolService;
import io.ebbfs.protocol.proto.PeerProtos.PeerProtocolService;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.function.Supplier;
import org.apache.hadoop.ha.HAServiceProtocol.HAServiceState;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol;
import org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol;
import org.apache.hadoop.ipc.StandbyException;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * The answers of a namenode that is not the leader: clients and servers turn to another one when
 * they get a {@link StandbyException}.
 */
public final class StandbyCalls {
  private StandbyCalls() {}

  /**
   * Makes an endpoint answer all protocols so.
   *
   * @param leader names the leader for messages; must not block
   */
  public static void addTo(RpcEndpoint endpoint, Supplier<String> leader) throws IOException {
    endpoint.addClients(refusing(ClientProtocol.class, leader));
    endpoint.addDatanodes(refusing(DatanodeProtocol.class, leader));
    addServices(endpoint, leader);
  }

  /** The same without the calls of clients and of DataNodes. */
  public static void addServices(RpcEndpoint endpoint, Supplier<String> leader) throws IOException {
    endpoint.addBalancers(refusing(NamenodeProtocol.class, leader));
    endpoint.addStandbyCoding(
        proxy(
            CodingProtocolService.BlockingInterface.class,
            (proxy, method, arguments) -> {
              throw new ServiceException(refusal(leader));
            }));
    endpoint.addStandbyPeers(
        proxy(
            PeerProtocolService.BlockingInterface.class,
            (proxy, method, arguments) -> {
              throw new ServiceException(refusal(leader));
            }));
  }

  private static <P> P refusing(Class<P> protocol, Supplier<String> leader) {
    return proxy(
        protocol,
        (proxy, method, arguments) -> {
          if (method.getName().equals("getHAServiceState")) {
            return HAServiceState.STANDBY;
          }
          throw refusal(leader);
        });
  }

  private static StandbyException refusal(Supplier<String> leader) {
    return new StandbyException("this namenode is a standby; the leader is " + leader.get());
  }

  private static <P> P proxy(Class<P> type, InvocationHandler handler) {
    return type.cast(
        Proxy.newProxyInstance(
            StandbyCalls.class.getClassLoader(), new Class<?>[] {type}, handler));
  }
}
