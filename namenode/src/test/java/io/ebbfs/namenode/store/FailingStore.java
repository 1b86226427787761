package io.ebbfs.namenode.store;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.ipc.RetriableException;

/** A store whose transactions fail for a moment. */
public final class FailingStore {
  private static final Set<String> FAILING = Set.of("transact", "listInBackground");

  private final MetadataStore store;
  private final AtomicInteger failures = new AtomicInteger();

  /**
   * @param rows the store that keeps the rows
   */
  public FailingStore(MetadataStore rows) {
    store =
        (MetadataStore)
            Proxy.newProxyInstance(
                MetadataStore.class.getClassLoader(),
                new Class<?>[] {MetadataStore.class},
                (proxy, method, arguments) -> {
                  if (FAILING.contains(method.getName()) && isFailing()) {
                    throw new RetriableException("the store does not answer");
                  }
                  try {
                    return method.invoke(rows, arguments);
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                });
  }

  private boolean isFailing() {
    return failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
  }

  /** The store. */
  public MetadataStore store() {
    return store;
  }

  /** The next transactions fail. */
  public void failNext(int transactions) {
    failures.set(transactions);
  }
}
