package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.rpc.server.MethodHandler;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.server.namenode.SafeModeException;

/**
 * Refuses the calls of ClientProtocol that change files, while an operator has entered safe mode.
 * In the safe mode after a start, EbbFS accepts them.
 */
public final class ReadOnlyGuard implements InvocationHandler {
  private static final Set<String> CHANGES =
      Set.of(
          "create",
          "append",
          "addBlock",
          "getAdditionalDatanode",
          "abandonBlock",
          "complete",
          "fsync",
          "updateBlockForPipeline",
          "updatePipeline",
          "recoverLease",
          "mkdirs",
          "delete",
          "rename",
          "rename2",
          "concat",
          "truncate",
          "setPermission",
          "setOwner",
          "setTimes",
          "setReplication");

  private final ClientProtocol calls;
  private final DatanodeRegistry cluster;

  private ReadOnlyGuard(ClientProtocol calls, DatanodeRegistry cluster) {
    this.calls = calls;
    this.cluster = cluster;
  }

  /** The same calls, guarded. */
  public static ClientProtocol of(ClientProtocol calls, DatanodeRegistry cluster) {
    return (ClientProtocol)
        Proxy.newProxyInstance(
            ClientProtocol.class.getClassLoader(),
            new Class<?>[] {ClientProtocol.class},
            new ReadOnlyGuard(calls, cluster));
  }

  /** The same handlers, guarded. The keys are the names of the methods. */
  public static Map<String, MethodHandler> of(
      Map<String, MethodHandler> handlers, DatanodeRegistry cluster) {
    Map<String, MethodHandler> guarded = new HashMap<>(handlers);
    guarded.replaceAll(
        (method, handler) -> CHANGES.contains(method) ? guard(method, handler, cluster) : handler);
    return guarded;
  }

  private static MethodHandler guard(
      String method, MethodHandler handler, DatanodeRegistry cluster) {
    return (frame, offset, length) -> {
      check(method, cluster);
      return handler.answer(frame, offset, length);
    };
  }

  private static void check(String method, DatanodeRegistry cluster) throws SafeModeException {
    if (cluster.isReadOnly()) {
      throw new SafeModeException(
          "Cannot "
              + method
              + ". Name node is in safe mode: an operator entered it. Leave it with 'hdfs dfsadmin"
              + " -safemode leave'");
    }
  }

  @Override
  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    if (CHANGES.contains(method.getName())) {
      check(method.getName(), cluster);
    }
    try {
      return method.invoke(calls, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
