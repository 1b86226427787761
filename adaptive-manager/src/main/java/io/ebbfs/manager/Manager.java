package io.ebbfs.manager;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.manager.api.ApiServer;
import io.ebbfs.manager.api.ApiWriters;
import io.ebbfs.manager.api.ManagerState;
import io.ebbfs.manager.config.LivePolicies;
import io.ebbfs.manager.config.ManagerConfig;
import io.ebbfs.manager.config.ManagerOptions;
import io.ebbfs.manager.health.Health;
import io.ebbfs.manager.heat.DirectoryReads;
import io.ebbfs.manager.heat.ManagerStore;
import io.ebbfs.manager.heat.ReadCounter;
import io.ebbfs.manager.policy.ClusterFit;
import io.ebbfs.manager.policy.Evaluation;
import io.ebbfs.manager.schedule.DecisionProposer;
import io.ebbfs.manager.schedule.Evaluator;
import io.ebbfs.manager.schedule.HeatReporter;
import io.ebbfs.manager.schedule.QuartzSchedules;
import io.ebbfs.manager.schedule.Timeline;
import io.ebbfs.manager.schedule.TransitionLog;
import io.ebbfs.manager.view.NamenodeException;
import io.ebbfs.manager.view.NamenodeGateway;
import io.ebbfs.manager.view.NamespaceView;
import io.ebbfs.manager.view.TransitionView;
import io.ebbfs.manager.view.ViewFollower;
import io.ebbfs.manager.view.ViewReader;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.quartz.SchedulerException;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The adaptive manager: it counts reads, evaluates the policies on a schedule, proposes transitions
 * to the namenode, and serves the REST API. Its own data may be lost without harm to any file.
 * Thread-safe after {@link #start}.
 */
public final class Manager implements ManagerState, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Manager.class);
  private static final String EVALUATE = "evaluate";

  /** A file that was read within this time may be too new for the view. */
  private static final long NEW_FILE_MILLIS = 60_000;

  private final ManagerOptions options;
  private final ManagerConfig config;
  private final Clock clock;
  private final LivePolicies policies;
  private final ManagerStore store;
  private final NamenodeGateway namenode;
  private final DirectoryReads directoryReads;
  private final NamespaceView view;
  private final ViewFollower follower;
  private final TransitionLog transitions = new TransitionLog();
  private final ReadCounter opens;
  private final DecisionProposer decisions;
  private final Evaluator evaluator;
  private final HeatReporter heat;
  private final Timeline timeline;
  private final QuartzSchedules schedules;
  private final ApiServer api;
  private volatile GetClusterResponseProto cluster;

  /**
   * Opens the store and reads the policies, without starting anything.
   *
   * @param protocol supplies the channel to the namenode; it is called for each request, so that it
   *     may reconnect
   * @throws ConfigException if policies.yaml is broken
   * @throws IOException if the store cannot be opened
   */
  public Manager(
      ManagerOptions options,
      ManagerConfig config,
      CodeRegistry codes,
      Supplier<CodingProtocol> protocol,
      Clock clock)
      throws ConfigException, IOException {
    this.options = options;
    this.config = config;
    this.clock = clock;
    this.policies = LivePolicies.open(options.confDirectory(), codes, clock.millis());
    this.store = ManagerStore.open(options.dataDirectory());
    this.namenode = new NamenodeGateway(protocol, config.limits().pageSize());
    this.directoryReads = store.directoryReads(config.heat().halfLives());
    this.view = openView(codes);
    this.follower = new ViewFollower(options.kafka(), namenode, view);
    this.opens =
        new ReadCounter(
            options.kafka(), config.heat().topic(), config.heat().halfLives(), store, clock);
    this.decisions = new DecisionProposer(namenode, transitions);
    this.evaluator =
        new Evaluator(policies, codes, config, namenode, view, follower, store, decisions, clock);
    this.heat =
        new HeatReporter(
            directoryReads,
            view::hasFile,
            () -> opens.status().connected() && follower.status().following(),
            namenode,
            config.schedule().sampleEveryMillis());
    this.timeline = new Timeline(store);
    this.schedules = newSchedules();
    this.api = new ApiServer(this, ApiWriters.of(options.apiToken()), clock);
  }

  private NamespaceView openView(CodeRegistry codes) throws IOException {
    try {
      return NamespaceView.open(
          options.dataDirectory().resolve("view"),
          policies.current().policies(),
          codes,
          directoryReads);
    } catch (IOException e) {
      store.close();
      throw e;
    }
  }

  private QuartzSchedules newSchedules() {
    try {
      return new QuartzSchedules();
    } catch (SchedulerException e) {
      view.close();
      store.close();
      throw new IllegalStateException("Quartz does not start: " + e.getMessage(), e);
    }
  }

  /**
   * Starts the API, the consumer and the schedules.
   *
   * @throws IOException if the HTTP port cannot be bound; everything is closed then
   */
  public void start() throws IOException {
    try {
      api.start(options.httpHost(), options.httpPort());
      opens.start();
      follower.start();
      ManagerConfig.Schedule every = config.schedule();
      schedules.every("sample", 0, every.sampleEveryMillis(), this::sample);
      schedules.every(
          EVALUATE,
          every.evaluateEveryMillis(),
          every.evaluateEveryMillis(),
          () -> evaluator.evaluateNowAndThen(false));
      schedules.every(
          "heat",
          every.sampleEveryMillis(),
          every.sampleEveryMillis(),
          () -> heat.report(clock.millis()));
      long prune = config.heat().pruneEveryMillis();
      schedules.every("prune", prune, prune, this::prune);
      schedules.every("reload", 0, every.reloadEveryMillis(), this::reload);
      schedules.start();
    } catch (SchedulerException e) {
      close();
      throw new IOException("The schedules do not start: " + e.getMessage(), e);
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  private void sample() throws RocksDBException {
    cluster = namenode.cluster();
    transitions.refresh(namenode);
    // A dry run: the figures of the API are fresh, and the schedule alone proposes.
    evaluator.evaluateNowAndThen(true);
    Evaluator.Result result = evaluator.last();
    if (result != null) {
      timeline.add(
          clock.millis(), result.evaluation(), cluster, config.schedule().keepSamplesMillis());
    }
  }

  private void prune() throws RocksDBException {
    if (follower.status().following()) {
      int pruned =
          store.prune(
              clock.millis(),
              config.heat().halfLives(),
              config.heat().pruneBelow(),
              view::hasFile,
              clock.millis() - NEW_FILE_MILLIS);
      LOG.debug("{} read counts of deleted or cold files were dropped", pruned);
    }
  }

  private void reload() throws SchedulerException {
    if (policies.poll(clock.millis())) {
      schedules.trigger(EVALUATE);
    }
  }

  /**
   * Waits until the live cluster has the servers and disks that the policies ask for, at most for
   * the time that the configuration gives.
   *
   * @return the policies that are still refused then
   */
  public List<Evaluation.Refusal> awaitFailureDomains() throws InterruptedException {
    long deadline = System.nanoTime() + config.startup().clusterWaitMillis() * 1_000_000;
    while (true) {
      List<Evaluation.Refusal> refusals = refusalsNow();
      if (refusals.isEmpty() || System.nanoTime() >= deadline) {
        return refusals;
      }
      Thread.sleep(200);
    }
  }

  private List<Evaluation.Refusal> refusalsNow() {
    try {
      return ClusterFit.check(
          policies.current().policies(), ViewReader.cluster(namenode.cluster()));
    } catch (NamenodeException e) {
      return List.of(
          new Evaluation.Refusal("all", e.getMessage(), "start the namenode, or see its log"));
    }
  }

  @Override
  public Health.Report health() {
    List<TransitionRow> undone =
        transitions.ended().stream()
            .filter(row -> TransitionView.UNDONE.contains(row.getState()))
            .toList();
    Evaluator.Result last = evaluator.last();
    return Health.report(
        cluster,
        namenode.problem(),
        opens.status(),
        policies.current(),
        last == null ? null : last.evaluation(),
        undone,
        pausedSince());
  }

  /** A store that fails is told by its own messages. */
  private Long pausedSince() {
    try {
      OptionalLong since = store.pausedSince();
      return since.isPresent() ? since.getAsLong() : null;
    } catch (RocksDBException e) {
      LOG.warn("Whether proposing is paused is not known: {}", e.getMessage());
      return null;
    }
  }

  @Override
  public ManagerStore store() {
    return store;
  }

  @Override
  public GetClusterResponseProto cluster() {
    return cluster;
  }

  @Override
  public ManagerOptions options() {
    return options;
  }

  @Override
  public ManagerConfig config() {
    return config;
  }

  @Override
  public NamenodeGateway namenode() {
    return namenode;
  }

  @Override
  public Evaluator evaluator() {
    return evaluator;
  }

  @Override
  public NamespaceView view() {
    return view;
  }

  @Override
  public DirectoryReads directoryReads() {
    return directoryReads;
  }

  @Override
  public ViewFollower follower() {
    return follower;
  }

  @Override
  public DecisionProposer decisions() {
    return decisions;
  }

  @Override
  public TransitionLog transitions() {
    return transitions;
  }

  @Override
  public Timeline timeline() {
    return timeline;
  }

  @Override
  public LivePolicies policies() {
    return policies;
  }

  @Override
  public ReadCounter.Status opens() {
    return opens.status();
  }

  @Override
  public long nowMillis() {
    return clock.millis();
  }

  /** The port that the API listens at. */
  public int httpPort() {
    return api.port();
  }

  /** Stops everything; users stop before what they use. Idempotent. */
  @Override
  public void close() {
    api.close();
    follower.stop();
    schedules.close();
    opens.close();
    follower.close();
    view.close();
    store.close();
  }
}
