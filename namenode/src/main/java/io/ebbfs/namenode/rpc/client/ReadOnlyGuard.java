package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
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

  @Override
  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    if (cluster.isReadOnly() && CHANGES.contains(method.getName())) {
      throw new SafeModeException(
          "Cannot "
              + method.getName()
              + ". Name node is in safe mode: an operator entered it. Leave it with 'hdfs dfsadmin"
              + " -safemode leave'");
    }
    try {
      return method.invoke(calls, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
