package io.ebbfs.namenode.rpc;

import io.ebbfs.namenode.rpc.server.CurrentCall;
import io.ebbfs.protocol.rpc.ServiceKey;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.function.Predicate;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** Refuses each call of a protocol whose caller does not prove that it is a service. */
record ServicesOnly(Object service, String protocol, ServiceKey key, Predicate<Object> isForUsers)
    implements InvocationHandler {
  /** The same service behind the check. */
  static <S> S guard(Class<S> type, S service, String protocol, ServiceKey key) {
    return guard(type, service, protocol, key, request -> false);
  }

  /**
   * The same service behind the check, but for some requests.
   *
   * @param isForUsers which requests any user may make: the service checks the user itself
   */
  static <S> S guard(
      Class<S> type, S service, String protocol, ServiceKey key, Predicate<Object> isForUsers) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            new ServicesOnly(service, protocol, key, isForUsers)));
  }

  @Override
  public Object invoke(Object self, Method method, Object[] arguments) throws Throwable {
    try {
      boolean isOfUser = arguments != null && Arrays.stream(arguments).anyMatch(isForUsers);
      if (!isOfUser) {
        CurrentCall call = CurrentCall.get();
        key.check(protocol, call.context(), call.address());
      }
      return method.invoke(service, arguments);
    } catch (AccessControlException e) {
      throw new ServiceException(e);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
