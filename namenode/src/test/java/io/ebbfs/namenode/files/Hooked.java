package io.ebbfs.namenode.files;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** Objects of an interface whose calls a test sees, to let something happen between two of them. */
final class Hooked {
  private Hooked() {}

  /** What a call answers. */
  @FunctionalInterface
  interface Answer {
    Object to(Method method, Object[] arguments) throws Exception;
  }

  /** An object that answers each call so; a method that fails fails with its own exception. */
  static <T> T of(Class<T> type, Answer answer) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              try {
                return answer.to(method, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
