package io.ebbfs.protocol.rpc;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.ipc.StandbyException;
import org.apache.hadoop.net.ConnectTimeoutException;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls of one protocol at the one of several namenodes that serves. A call that no namenode has
 * taken goes to the next one, for a limited time. A call that may have been executed is repeated
 * only if that changes nothing. A call that a namenode keeps without an answer is given up once
 * another namenode serves; its late answer is dropped. Thread-safe.
 */
final class FailoverCalls<P> implements InvocationHandler, Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(FailoverCalls.class);
  private static final long ROUND_PAUSE_MILLIS = 200;

  /**
   * How long a call waits.
   *
   * @param silenceMillis until the other namenodes are asked whether they serve
   * @param searchMillis for a namenode that serves
   */
  record Patience(long silenceMillis, long searchMillis) {
    static final Patience DEFAULT = new Patience(2_000, 10_000);
  }

  /** A cheap call that only a namenode that serves answers, and that changes nothing. */
  interface Probe<P> {
    void ask(P namenode) throws ServiceException;
  }

  /** A proxy of one namenode. */
  record Namenode<P>(String address, P proxy) {}

  private final List<Namenode<P>> namenodes;
  private final List<String> repeatable;
  private final Probe<P> probe;
  private final Patience patience;

  /** The index of the namenode that served last. */
  private final AtomicInteger serving = new AtomicInteger();

  private final ExecutorService callers =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "namenode-call");
            thread.setDaemon(true);
            return thread;
          });

  /**
   * Calls that were not made yet.
   *
   * @param repeatable the names of the calls that may be executed twice
   */
  FailoverCalls(
      List<Namenode<P>> namenodes, List<String> repeatable, Probe<P> probe, Patience patience) {
    this.namenodes = namenodes;
    this.repeatable = repeatable;
    this.probe = probe;
    this.patience = patience;
  }

  @Override
  public Object invoke(Object self, Method method, Object[] arguments) throws Throwable {
    if (method.getDeclaringClass() == Object.class) {
      return method.invoke(this, arguments);
    }
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patience.searchMillis());
    for (int attempt = 1; ; attempt++) {
      int at = serving.get();
      try {
        return call(at, method, arguments);
      } catch (ServiceException e) {
        if (isAnswer(e)) {
          throw e;
        }
        pass(at, e);
        boolean again = neverArrived(e) || repeatable.contains(method.getName());
        if (!again || System.nanoTime() > end) {
          throw e;
        }
        if (attempt % namenodes.size() == 0) {
          pause();
        }
      }
    }
  }

  private Object call(int at, Method method, Object[] arguments) throws Throwable {
    Future<Object> answer =
        callers.submit(() -> method.invoke(namenodes.get(at).proxy(), arguments));
    while (true) {
      try {
        return answer.get(patience.silenceMillis(), TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        if (anotherServes(at)) {
          answer.cancel(true);
          throw new ServiceException(
              new IOException(
                  "namenode %s has not answered %s, and namenode %s serves now"
                      .formatted(
                          namenodes.get(at).address(),
                          method.getName(),
                          namenodes.get(serving.get()).address())));
        }
      } catch (InterruptedException e) {
        answer.cancel(true);
        throw interrupted();
      } catch (ExecutionException e) {
        throw e.getCause() instanceof InvocationTargetException inner
            ? inner.getCause()
            : e.getCause();
      }
    }
  }

  // ---- which namenode ---------------------------------------------------------------------------

  /** Whether a namenode other than this one serves; if so, calls go there from now on. */
  private boolean anotherServes(int silent) throws ServiceException {
    for (int i = 1; i < namenodes.size(); i++) {
      int other = (silent + i) % namenodes.size();
      if (serves(other)) {
        if (serving.compareAndSet(silent, other)) {
          LOG.info(
              "namenode {} is silent; calls go to {}",
              namenodes.get(silent).address(),
              namenodes.get(other).address());
        }
        return true;
      }
    }
    return false;
  }

  private boolean serves(int at) throws ServiceException {
    Callable<Boolean> question =
        () -> {
          probe.ask(namenodes.get(at).proxy());
          return true;
        };
    Future<Boolean> answer = callers.submit(question);
    try {
      return answer.get(patience.silenceMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      return false;
    } catch (TimeoutException e) {
      answer.cancel(true);
      return false;
    } catch (InterruptedException e) {
      answer.cancel(true);
      throw interrupted();
    }
  }

  /** Lets calls go to the next namenode, unless another thread has found one. */
  private void pass(int from, ServiceException why) {
    int next = (from + 1) % namenodes.size();
    if (serving.compareAndSet(from, next)) {
      LOG.debug(
          "namenode {} does not serve: {}; trying {}",
          namenodes.get(from).address(),
          String.valueOf(why.getCause()),
          namenodes.get(next).address());
    }
  }

  // ---- what a failure means ---------------------------------------------------------------------

  /** The namenode that serves has executed or refused the call. */
  private static boolean isAnswer(ServiceException e) {
    return e.getCause() instanceof RemoteException
        && !(RemoteCall.cause(e) instanceof StandbyException);
  }

  private static boolean neverArrived(ServiceException e) {
    IOException cause = RemoteCall.cause(e);
    return cause instanceof StandbyException
        || cause instanceof ConnectException
        || cause instanceof ConnectTimeoutException
        || cause instanceof NoRouteToHostException
        || cause instanceof UnknownHostException;
  }

  private static void pause() throws ServiceException {
    try {
      Thread.sleep(ROUND_PAUSE_MILLIS);
    } catch (InterruptedException e) {
      throw interrupted();
    }
  }

  private static ServiceException interrupted() {
    Thread.currentThread().interrupt();
    return new ServiceException(
        new InterruptedIOException("interrupted while waiting for a namenode"));
  }

  /** Stops the proxies of the namenodes. */
  @Override
  public void close() {
    callers.shutdownNow();
    namenodes.forEach(namenode -> RpcProxies.stop(namenode.proxy()));
  }
}
