package io.ebbfs.namenode;

import io.ebbfs.common.http.PrometheusText;
import io.ebbfs.common.http.StatusServer;
import io.ebbfs.common.http.StreamedPage;
import io.ebbfs.namenode.datanodes.RackTopology;
import io.ebbfs.namenode.events.KafkaChangePublisher;
import io.ebbfs.namenode.files.tree.DirectoryTimeWriter;
import io.ebbfs.namenode.leader.LeaderTimes;
import io.ebbfs.namenode.leader.Leadership;
import io.ebbfs.namenode.leader.ReadOnlyMark;
import io.ebbfs.namenode.rpc.RpcEndpoint;
import io.ebbfs.namenode.rpc.StandbyCalls;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.SharedStoreProvider;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.apache.hadoop.ipc.StandbyException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A namenode on a store that others share. One of them leads: it hears the chunk servers and does
 * the work in the background. All others follow it: they serve clients, too. A namenode that knows
 * no leader refuses all calls, so that clients turn to another one. When the leader is silent, a
 * follower takes over and begins as a namenode does after a restart. A leader that cannot renew its
 * leadership in time becomes a follower again.
 */
public final class SharedNamenode implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SharedNamenode.class);
  private static final Duration STORE_PATIENCE = Duration.ofMinutes(1);
  private static final long PAUSE_AFTER_FAILURE_MILLIS = 1_000;
  private static final long WRITE_TIMES_MILLIS = 250;
  private static final long FOLD_MILLIS = 1_000;
  private static final long WRITE_LAST_TIMES_NANOS = 5_000_000_000L;

  private final NamenodeConfig config;
  private final Clock clock;
  private final RandomGenerator random;
  private final MetadataStore store;
  private final RpcEndpoint door;
  private final LeaderTimes times;
  private final Leadership leadership;
  private final InetSocketAddress address;
  private final Thread renewer;
  private final Thread role;
  private final ReadOnlyMark readOnly;
  private final DirectoryTimeWriter directoryTimes;
  private final ScheduledThreadPoolExecutor timer;
  private final Optional<KafkaChangePublisher> publisher;
  private volatile NamenodeServer leader;
  private volatile FollowerServer follower;
  private volatile boolean closed;

  private SharedNamenode(
      NamenodeConfig config,
      Clock clock,
      RandomGenerator random,
      MetadataStore store,
      DirectoryTimeWriter directoryTimes,
      RpcEndpoint door) {
    this.config = config;
    this.clock = clock;
    this.random = random;
    this.store = store;
    this.door = door;
    this.address = door.address();
    this.times = LeaderTimes.of(config.leaderTimeout());
    String name = address.getHostString() + ":" + address.getPort();
    this.leadership =
        new Leadership(store, name + "-" + UUID.randomUUID(), name, times, System::nanoTime);
    this.readOnly = new SharedMark(leadership, times.timeout());
    this.directoryTimes = directoryTimes;
    // One thread writes times, the other one folds changes, which may wait for Kafka.
    this.timer = new ScheduledThreadPoolExecutor(2, task -> new Thread(task, "merger"));
    this.publisher = publisher(config, store);
    this.renewer = new Thread(this::renew, "leadership");
    this.role = new Thread(this::playRoles, "role");
  }

  /**
   * Joins the store and becomes a standby.
   *
   * @throws IOException with a message for the operator if the store does not answer or the port
   *     cannot be had
   */
  public static SharedNamenode start(NamenodeConfig config, Clock clock, RandomGenerator random)
      throws IOException {
    MetadataStore store =
        SharedStoreProvider.find()
            .open(
                config.data().resolve("store"),
                config.host(),
                config.storeNodes(),
                config.lockTimeout());
    boolean started = false;
    try {
      // Only a leader asks for racks; a mistake is to be noticed now.
      RackTopology.of(config.topology(), config.topologyScript());
      DirectoryTimeWriter directoryTimes = DirectoryTimeWriter.on(store, STORE_PATIENCE);
      RpcEndpoint door = door(config);
      SharedNamenode made = new SharedNamenode(config, clock, random, store, directoryTimes, door);
      made.role.start();
      made.renewer.start();
      made.timer.scheduleWithFixedDelay(
          () -> made.directoryTimes.tick(() -> !made.closed),
          WRITE_TIMES_MILLIS,
          WRITE_TIMES_MILLIS,
          TimeUnit.MILLISECONDS);
      made.timer.scheduleWithFixedDelay(
          made::foldChanges, FOLD_MILLIS, FOLD_MILLIS, TimeUnit.MILLISECONDS);
      started = true;
      return made;
    } finally {
      if (!started) {
        store.close();
      }
    }
  }

  private static Optional<KafkaChangePublisher> publisher(
      NamenodeConfig config, MetadataStore store) {
    if (config.kafka().isBlank()) {
      return Optional.empty();
    }
    KafkaChangePublisher made = new KafkaChangePublisher(config.kafka());
    store.changes().publishTo(made);
    return Optional.of(made);
  }

  private void foldChanges() {
    if (isLeader()) {
      return; // the leader folds with its other work
    }
    try {
      store.changes().fold();
    } catch (IOException | RuntimeException e) {
      LOG.warn("The changes of files and bytes are not summed up yet: {}", e.toString());
    }
  }

  /** Has the port as long as this namenode runs. At first it refuses all calls. */
  private static RpcEndpoint door(NamenodeConfig config) throws IOException {
    RpcEndpoint made = new RpcEndpoint(config.handlers(), RpcEndpoint.newRetryAnswers());
    boolean started = false;
    try {
      StandbyCalls.addTo(made, () -> "not known yet");
      made.start(config.host(), config.port());
      started = true;
      return made;
    } finally {
      if (!started) {
        closeQuietly(made);
      }
    }
  }

  /** Refuses all calls from now on. */
  private void standBy() throws IOException {
    RpcEndpoint refusing = new RpcEndpoint(door);
    StandbyCalls.addTo(refusing, () -> leadership.leader().orElse("not known yet"));
    refusing.start(config.host(), address.getPort());
  }

  private static void closeQuietly(RpcEndpoint endpoint) {
    try {
      endpoint.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  // ---- the leadership ---------------------------------------------------------------------------

  private void renew() {
    String failure = "";
    try {
      while (!closed) {
        if (!role.isAlive()) { // an Error has ended it
          leadership.standAside();
        }
        try {
          leadership.tick();
          failure = "";
        } catch (IOException | RuntimeException e) {
          if (!failure.equals(e.toString())) { // several times a second
            failure = e.toString();
            LOG.warn("The leadership was not renewed: {}", failure);
          }
        }
        Thread.sleep(leadership.hasLeaderEnded() ? times.renew() / 4 + 1 : times.renew());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void playRoles() {
    try {
      while (!closed) {
        follow();
        if (!closed) {
          lead();
        }
      }
    } catch (InterruptedException e) {
      LOG.debug("This namenode stops"); // the thread ends; a set mark would disturb what closes now
    } finally {
      closeFollower();
    }
  }

  /**
   * Serves beside the leader once it is known, until this namenode leads. The follower goes on
   * until the leader has taken its place.
   */
  private void follow() throws InterruptedException {
    while (!closed && !leadership.holds()) {
      try {
        if (follower == null && leadership.otherLeader().isPresent()) {
          follower =
              new FollowerServer(
                  config.withPort(address.getPort()),
                  clock,
                  random,
                  store,
                  door,
                  leadership::otherLeader,
                  leadership::noteEnd,
                  leadership::changes);
        }
        if (follower != null && follower.isReady() && !follower.isServing()) {
          follower.start();
        }
        Thread.sleep(times.renew() / 4 + 1);
      } catch (IOException | RuntimeException e) {
        LOG.warn("This namenode cannot serve beside the leader yet: {}", e.toString());
        Thread.sleep(PAUSE_AFTER_FAILURE_MILLIS);
      }
    }
  }

  private void closeFollower() {
    FollowerServer last = follower;
    follower = null;
    if (last != null) {
      last.close();
    }
  }

  private void lead() throws InterruptedException {
    LOG.info("This namenode leads, term {}", leadership.term());
    FollowerServer before = follower;
    NamenodeServer.Lead lead =
        new NamenodeServer.Lead(
            this::term,
            readOnly,
            before == null ? NamenodeServer.Lead.ALONE.view() : before.view());
    try (NamenodeServer server =
        NamenodeServer.startOn(
            store, door, config.withPort(address.getPort()), clock, random, lead)) {
      leader = server;
      closeFollower();
      while (!closed && leadership.holds()) {
        Thread.sleep(times.renew() / 4 + 1);
      }
      if (!closed) {
        LOG.warn("This namenode leads no more, because it has not renewed its leadership in time");
      }
      standBy();
    } catch (IOException | RuntimeException e) {
      LOG.error("This namenode cannot lead, and lets another one lead", e);
      leadership.standAside();
      refuseCalls();
      Thread.sleep(PAUSE_AFTER_FAILURE_MILLIS);
    } finally {
      leader = null;
    }
  }

  /** What keeps this namenode from leading, such as a damaged row, may concern a follower, too. */
  private void refuseCalls() {
    try {
      standBy();
    } catch (IOException | RuntimeException e) {
      LOG.error("This namenode cannot refuse calls", e);
    }
    closeFollower();
  }

  /** Safe mode of all namenodes: a mark in the leader's row. */
  private record SharedMark(Leadership leadership, long timeoutMillis) implements ReadOnlyMark {
    @Override
    public boolean isSet() {
      return leadership.isReadOnly(); // however old: who leads has written the row
    }

    @Override
    public void set(boolean readOnly) throws IOException {
      leadership.setReadOnly(readOnly);
      if (!readOnly) {
        return;
      }
      try {
        // After this time each namenode has seen the mark, or knows that its knowledge is too old.
        Thread.sleep(timeoutMillis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException(
            "safe mode was entered, but other namenodes may still change files for a moment");
      }
    }
  }

  private long term() throws StandbyException {
    if (!leadership.holds()) {
      throw new StandbyException("this namenode has not renewed its leadership in time");
    }
    return leadership.term();
  }

  // ---- what others ask --------------------------------------------------------------------------

  /** The address for clients and chunk servers. */
  public InetSocketAddress address() {
    return address;
  }

  public boolean isLeader() {
    return leader != null;
  }

  /** Whether this namenode serves clients while another one leads. */
  public boolean isServingFollower() {
    FollowerServer now = follower;
    return now != null && now.isServing();
  }

  /** What supervisors and Prometheus may ask. A standby is ready. */
  public StatusServer.State state() {
    return new StatusServer.State() {
      @Override
      public Optional<String> notReady() {
        NamenodeServer now = leader;
        return now == null ? Optional.empty() : now.state().notReady();
      }

      @Override
      public String metrics() {
        NamenodeServer now = leader;
        PrometheusText text = new PrometheusText();
        text.gauge(
            "ebbfs_namenode_leader", "1 if this namenode leads, else 0", now == null ? 0 : 1);
        FollowerServer beside = follower;
        boolean serves = now != null || beside != null && beside.isServing();
        text.gauge(
            "ebbfs_namenode_serves", "1 if this namenode answers clients, else 0", serves ? 1 : 0);
        text.family("ebbfs_store_calls_total", "counter", "Calls of the metadata store by kind");
        store
            .calls()
            .forEach((kind, calls) -> text.line("ebbfs_store_calls_total", "kind", kind, calls));
        if (now != null) {
          return text + now.state().metrics();
        }
        return beside == null ? text.withProcess().toString() : text + beside.metrics();
      }
    };
  }

  /** What {@code hdfs fsck} asks for: the namenode that leads knows the state of all blocks. */
  public StreamedPage fsck() {
    return (query, client, out) -> {
      NamenodeServer now = leader;
      if (now == null) {
        out.write(
            "this namenode does not lead: ask the namenode at %s for fsck%n"
                .formatted(leadership.leader().orElse("an address that is not known yet")));
      } else {
        now.fsck().write(query, client, out);
      }
    };
  }

  /**
   * Gives the leadership up first: another namenode takes over while the last times are written.
   */
  private void leaveOthersToLead() throws IOException {
    try {
      leadership.resign();
    } finally {
      long began = System.nanoTime();
      directoryTimes.writeAll(() -> System.nanoTime() - began < WRITE_LAST_TIMES_NANOS);
    }
  }

  /** Stops to serve, gives the leadership up and leaves the store. */
  @Override
  public synchronized void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    try {
      standBy(); // connections that are read until the end turn to another namenode
      door.close();
      renewer.interrupt();
      role.interrupt();
      role.join();
      renewer.join();
      timer.shutdown();
      timer.awaitTermination(times.timeout(), TimeUnit.MILLISECONDS);
      leaveOthersToLead();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      publisher.ifPresent(KafkaChangePublisher::close);
      store.close();
    }
  }
}
