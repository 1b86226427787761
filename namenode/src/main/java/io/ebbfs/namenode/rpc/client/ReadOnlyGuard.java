package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.rpc.server.ChangingCalls;
import io.ebbfs.namenode.rpc.server.MethodHandler;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.server.namenode.SafeModeException;

/**
 * Refuses the calls of ClientProtocol that change files, while an operator has entered safe mode.
 * In the safe mode after a start, EbbFS accepts them.
 */
public final class ReadOnlyGuard implements InvocationHandler {
  private final ClientProtocol calls;
  private final BooleanSupplier readOnly;

  private ReadOnlyGuard(ClientProtocol calls, BooleanSupplier readOnly) {
    this.calls = calls;
    this.readOnly = readOnly;
  }

  /**
   * The same calls, guarded.
   *
   * @param readOnly whether an operator has entered safe mode; must not block
   */
  public static ClientProtocol of(ClientProtocol calls, BooleanSupplier readOnly) {
    return (ClientProtocol)
        Proxy.newProxyInstance(
            ClientProtocol.class.getClassLoader(),
            new Class<?>[] {ClientProtocol.class},
            new ReadOnlyGuard(calls, readOnly));
  }

  /** The same handlers, guarded. The keys are the names of the methods. */
  public static Map<String, MethodHandler> of(
      Map<String, MethodHandler> handlers, BooleanSupplier readOnly) {
    Map<String, MethodHandler> guarded = new HashMap<>(handlers);
    guarded.replaceAll(
        (method, handler) ->
            ChangingCalls.ALL.contains(method) ? guard(method, handler, readOnly) : handler);
    return guarded;
  }

  private static MethodHandler guard(
      String method, MethodHandler handler, BooleanSupplier readOnly) {
    return (frame, offset, length) -> {
      check(method, readOnly);
      return handler.answer(frame, offset, length);
    };
  }

  private static void check(String method, BooleanSupplier readOnly) throws SafeModeException {
    if (readOnly.getAsBoolean()) {
      throw new SafeModeException(
          "Cannot "
              + method
              + ". Name node is in safe mode: an operator entered it. Leave it with 'hdfs dfsadmin"
              + " -safemode leave'");
    }
  }

  @Override
  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    if (ChangingCalls.ALL.contains(method.getName())) {
      check(method.getName(), readOnly);
    }
    try {
      return method.invoke(calls, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
