package io.ebbfs.namenode.peers;

import io.ebbfs.namenode.leader.Leadership.Leader;
import io.ebbfs.namenode.rpc.server.RelayedException;
import io.ebbfs.protocol.proto.PeerProtos.ClusterViewProto;
import io.ebbfs.protocol.proto.PeerProtos.ForwardedAnswerProto;
import io.ebbfs.protocol.proto.PeerProtos.ForwardedCallProto;
import io.ebbfs.protocol.rpc.PeerClient;
import io.ebbfs.protocol.rpc.RpcSettings;
import io.ebbfs.protocol.rpc.ServiceKey;
import java.io.IOException;
import java.net.ConnectException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.hadoop.ipc.RetriableException;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.security.AccessControlException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way of a namenode to the one that leads. A call that the leader has not answered when another
 * one leads, or when its connection breaks, is sent again, marked as repeated. So every call may
 * run twice: calls of ClientProtocol either have the same effect then, or leave a row by which the
 * second run knows the first. A call tells until when this process waits for it, so that the leader
 * does not run it later, when the client has been told to repeat it. No thread of a caller waits.
 * Thread-safe.
 */
public final class LeaderLink implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LeaderLink.class);

  /** Calls at the leader at a time, and calls that wait for one of these places. */
  private static final int CALLERS = 256;

  private static final int WAITING_CALLS = 10_000;
  private static final int WRITERS = 100_000;
  private static final int CALL_TIMEOUT_MILLIS = 10_000;
  private static final int NO_TIMEOUT = 0;
  private static final int CONNECT_TIMEOUT_MILLIS = 1_000;
  private static final int IDLE_MILLIS = 60_000;

  /** Calls that take as long as they take. The client decides how long it waits. */
  private static final Set<String> LONG_CALLS = Set.of("saveNamespace");

  private static final long WATCH_MILLIS = 50;
  private static final long AGAIN_MILLIS = 50;

  private final Supplier<Optional<Leader>> leader;
  private final Consumer<Leader> onEnded;
  private final ServiceKey key;
  private final long patienceNanos;
  private final int callTimeoutMillis;
  private final HeardWriters writers = new HeardWriters(WRITERS, System::nanoTime);
  private final ScheduledThreadPoolExecutor timer =
      new ScheduledThreadPoolExecutor(1, task -> daemon(task, "leader-link"));
  private final ScheduledThreadPoolExecutor viewer =
      new ScheduledThreadPoolExecutor(1, task -> daemon(task, "leader-view"));
  private volatile Connection connection;
  private volatile boolean closed;

  /**
   * A link that follows the leader from one namenode to the next.
   *
   * @param leader the namenode that leads, as far as it is known; must not block
   * @param onEnded hears that no process listens at the address of a leader; must not block
   * @param patienceMillis how long a call waits for a namenode that leads
   */
  public LeaderLink(
      Supplier<Optional<Leader>> leader,
      Consumer<Leader> onEnded,
      ServiceKey key,
      long patienceMillis) {
    this(leader, onEnded, key, patienceMillis, CALL_TIMEOUT_MILLIS);
  }

  /** With another time-out of one attempt of a call. */
  LeaderLink(
      Supplier<Optional<Leader>> leader,
      Consumer<Leader> onEnded,
      ServiceKey key,
      long patienceMillis,
      int callTimeoutMillis) {
    this.leader = leader;
    this.onEnded = onEnded;
    this.key = key;
    this.patienceNanos = TimeUnit.MILLISECONDS.toNanos(patienceMillis);
    this.callTimeoutMillis = callTimeoutMillis;
    timer.scheduleWithFixedDelay(this::watch, 0, WATCH_MILLIS, TimeUnit.MILLISECONDS);
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /**
   * What the clock of a leader has shown, and when this process heard of it. The time that it tells
   * is never later than the leader's own, because an answer is heard after it was made.
   */
  private record LeaderClock(long toldMillis, long heardNanos) {
    long millis() {
      return toldMillis + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - heardNanos);
    }
  }

  /** The connection to one leader, in one of its terms. */
  private static final class Connection {
    private final Leader leader;
    private final PeerClient client;
    private final PeerClient patient;
    private final int callTimeoutMillis;
    private volatile LeaderClock clock;
    // Whether the log has said so; used by the thread that asks for the view.
    private boolean refused;
    private final ThreadPoolExecutor callers =
        new ThreadPoolExecutor(
            CALLERS,
            CALLERS,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(WAITING_CALLS),
            task -> daemon(task, "leader-call"));

    Connection(Leader leader, ServiceKey key, int callTimeoutMillis) throws IOException {
      this.leader = leader;
      this.callTimeoutMillis = callTimeoutMillis;
      this.client = client(callTimeoutMillis, key);
      this.patient = client(NO_TIMEOUT, key);
      callers.allowCoreThreadTimeOut(true);
    }

    private PeerClient client(int timeoutMillis, ServiceKey key) throws IOException {
      return new PeerClient(
          NetUtils.createSocketAddr(leader.address()),
          RpcSettings.tryOnce(timeoutMillis)
              .withConnectTimeout(CONNECT_TIMEOUT_MILLIS)
              .withIdle(IDLE_MILLIS),
          key);
    }

    ForwardedAnswerProto forward(ForwardedCallProto call) throws IOException {
      if (LONG_CALLS.contains(call.getMethod())) {
        return patient.forward(call);
      }
      if (clock == null) {
        view(List.of());
      }
      LeaderClock told = clock;
      return client.forward(
          told == null // by a leader of an older version
              ? call
              : call.toBuilder().setUntilMillis(told.millis() + callTimeoutMillis).build());
    }

    ClusterViewProto view(Collection<String> writers) throws IOException {
      ClusterViewProto view = client.view(writers);
      if (view.hasClockMillis()) {
        clock = new LeaderClock(view.getClockMillis(), System.nanoTime());
      }
      return view;
    }

    /** Calls under way are interrupted, and try again elsewhere. */
    void close() {
      callers.shutdownNow().forEach(Runnable::run);
      client.close();
      patient.close();
    }
  }

  // ---- which namenode ---------------------------------------------------------------------------

  private void watch() {
    try {
      Optional<Leader> now = leader.get();
      Connection old = connection;
      if (now.isPresent() && (old == null || !old.leader.equals(now.get()))) {
        LOG.info("Namenode {} leads, term {}", now.get().address(), now.get().term());
        Connection next = new Connection(now.get(), key, callTimeoutMillis);
        connection = next;
        if (old != null) {
          old.close();
        }
        if (closed) {
          next.close();
        }
      }
    } catch (IOException | RuntimeException e) {
      LOG.warn("The namenode that leads cannot be called: {}", e.toString());
    }
  }

  // ---- calls ------------------------------------------------------------------------------------

  /**
   * Has a call of a client run at the leader.
   *
   * @return the bytes of the answer; fails with a {@link RelayedException} as the call did, or with
   *     a {@link RetriableException} if no leader is found in time or too many calls wait
   */
  public CompletableFuture<byte[]> forward(ForwardedCallProto call) {
    Forwarding forwarding = new Forwarding(call);
    forwarding.begin();
    return forwarding.answer;
  }

  /** A call on its way to the leader; one thread at a time works on it. */
  private final class Forwarding implements Runnable {
    private final CompletableFuture<byte[]> answer = new CompletableFuture<>();
    private final long endNanos = System.nanoTime() + patienceNanos;
    private ForwardedCallProto call;
    private Connection at;

    Forwarding(ForwardedCallProto call) {
      this.call = call;
    }

    void begin() {
      at = connection;
      if (at == null || closed) {
        again(null);
        return;
      }
      try {
        at.callers.execute(this);
      } catch (Error e) { // no thread can be started
        answer.completeExceptionally(new IOException(e));
        throw e;
      } catch (RejectedExecutionException e) {
        if (at.callers.isShutdown()) {
          again(null);
        } else {
          answer.completeExceptionally(
              new RetriableException(
                  "%d calls wait for the namenode that leads; repeat the call in a moment"
                      .formatted(WAITING_CALLS)));
        }
      }
    }

    @Override
    public void run() {
      // A call that its client has given up must not take effect late.
      if (at.callers.isShutdown() || isOver()) {
        again(null);
        return;
      }
      try {
        answer.complete(resultOf(at.forward(call)));
      } catch (RelayedException e) {
        answer.completeExceptionally(e);
      } catch (IOException | RuntimeException e) {
        noteEnd(at, e);
        call = call.toBuilder().setRepeated(true).build();
        again(e);
      } catch (Error e) {
        answer.completeExceptionally(new IOException(e));
        throw e;
      }
    }

    private boolean isOver() {
      return System.nanoTime() - endNanos > 0;
    }

    private void again(Exception why) {
      if (closed || isOver()) {
        answer.completeExceptionally(
            new RetriableException(
                "no namenode that leads has answered in time%s; repeat the call in a moment"
                    .formatted(why == null ? "" : " (" + why + ")")));
        return;
      }
      try {
        timer.schedule(this::begin, AGAIN_MILLIS, TimeUnit.MILLISECONDS);
      } catch (RejectedExecutionException e) {
        answer.completeExceptionally(
            new RetriableException("this namenode stops; repeat the call at another one"));
      }
    }
  }

  private static byte[] resultOf(ForwardedAnswerProto answer) throws RelayedException {
    if (answer.hasFailureClass()) {
      throw new RelayedException(answer.getFailureClass(), answer.getFailureMessage());
    }
    return answer.getResult().toByteArray();
  }

  // ---- the view ---------------------------------------------------------------------------------

  /**
   * Asks for the leader's view again and again, one question at a time, and names the clients that
   * write files here. A view that does not come is left out.
   */
  public void watchView(long everyMillis, Consumer<ClusterViewProto> taker) {
    viewer.scheduleWithFixedDelay(
        () -> takeView(connection, taker), 0, everyMillis, TimeUnit.MILLISECONDS);
  }

  /**
   * Notes that a client that writes files lives; the leader hears of it with the next question for
   * its view.
   *
   * @return false if too many clients wait for this
   */
  boolean hear(String writer) {
    return writers.hear(writer);
  }

  private void takeView(Connection at, Consumer<ClusterViewProto> taker) {
    if (at == null) {
      return;
    }
    try {
      List<String> named = writers.toTell();
      taker.accept(at.view(named));
      writers.told(named);
    } catch (AccessControlException e) {
      if (!at.refused) {
        at.refused = true;
        LOG.warn(
            "Namenode {}, which leads, refuses this one: {}", at.leader.address(), e.getMessage());
      }
    } catch (IOException | RuntimeException e) {
      noteEnd(at, e);
      LOG.debug("the leader {} has not told its view: {}", at.leader.address(), e.toString());
    }
  }

  /** A machine refuses a connection at once if no process listens there. */
  private void noteEnd(Connection at, Exception failure) {
    if (failure instanceof ConnectException) {
      onEnded.accept(at.leader);
    }
  }

  /** Calls under way, and calls that wait, fail. */
  @Override
  public void close() {
    closed = true;
    viewer.shutdownNow();
    Connection last = connection;
    if (last != null) {
      last.close();
    }
    timer.shutdown(); // calls that wait for the timer still run, and fail
  }
}
