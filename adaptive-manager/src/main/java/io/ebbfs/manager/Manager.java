package io.ebbfs.manager;

import io.ebbfs.manager.cluster.Namenode;
import io.ebbfs.manager.cluster.NamenodeException;
import io.ebbfs.manager.cluster.Views;
import io.ebbfs.manager.config.LivePolicies;
import io.ebbfs.manager.config.ManagerConfig;
import io.ebbfs.manager.heat.ManagerStore;
import io.ebbfs.manager.heat.OpenConsumer;
import io.ebbfs.manager.policy.ClusterFit;
import io.ebbfs.manager.policy.Evaluation;
import io.ebbfs.manager.policy.TransitionView;
import io.ebbfs.manager.web.ApiServer;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.settings.ConfigException;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.function.Supplier;
import org.quartz.SchedulerException;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The adaptive manager: counts reads, evaluates the policies on a schedule, proposes transitions to
 * the namenode, and answers at its REST API. Everything it keeps may be lost without harm to any
 * file. Thread-safe after {@link #start}.
 */
public final class Manager implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Manager.class);
  private static final String EVALUATE = "evaluate";

  private final ManagerOptions options;
  private final ManagerConfig config;
  private final Clock clock;
  private final LivePolicies policies;
  private final ManagerStore store;
  private final Namenode namenode;
  private final TransitionLog transitions = new TransitionLog();
  private final OpenConsumer opens;
  private final Evaluator evaluator;
  private final Timeline timeline;
  private final Schedules schedules;
  private final ApiServer api;
  private volatile GetClusterResponseProto cluster;

  /**
   * Opens the store and reads the policies; starts nothing.
   *
   * @param protocol gives the namenode's protocol; called for each request, so it may reconnect
   * @throws ConfigException if policies.yaml is broken
   * @throws IOException if the store cannot be opened
   */
  public Manager(
      ManagerOptions options, ManagerConfig config, Supplier<CodingProtocol> protocol, Clock clock)
      throws ConfigException, IOException {
    this.options = options;
    this.config = config;
    this.clock = clock;
    this.policies = LivePolicies.open(options.confDirectory(), clock.millis());
    this.store = ManagerStore.open(options.dataDirectory());
    this.namenode = new Namenode(protocol, config.limits().pageSize());
    this.opens =
        new OpenConsumer(
            options.kafka(), config.heat().topic(), config.heat().halfLifeMillis(), store, clock);
    this.evaluator = new Evaluator(policies, config, namenode, store, transitions, clock);
    this.timeline = new Timeline(store);
    this.schedules = newSchedules();
    this.api = new ApiServer(this);
  }

  private Schedules newSchedules() {
    try {
      return new Schedules();
    } catch (SchedulerException e) {
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
      ManagerConfig.Schedule every = config.schedule();
      schedules.every("sample", 0, every.sampleEveryMillis(), this::sample);
      schedules.every(
          EVALUATE,
          every.evaluateEveryMillis(),
          every.evaluateEveryMillis(),
          () -> evaluator.evaluate(false));
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
    Evaluator.Result result = evaluator.refresh();
    timeline.add(
        clock.millis(), result.evaluation(), cluster, config.schedule().keepSamplesMillis());
  }

  private void prune() throws RocksDBException {
    Evaluator.Result last = evaluator.last();
    if (last != null) {
      int pruned =
          store.prune(
              clock.millis(),
              config.heat().halfLifeMillis(),
              config.heat().pruneBelow(),
              last.verdicts()::containsKey,
              last.listedMillis());
      LOG.debug("{} read counts of deleted or stone-cold files were dropped", pruned);
    }
  }

  private void reload() throws SchedulerException {
    if (policies.poll(clock.millis())) {
      schedules.trigger(EVALUATE);
    }
  }

  /**
   * Waits until the live cluster has the failure domains that the policies ask for.
   *
   * @return what is still refused after the time that the configuration gives; empty if all is well
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
      return ClusterFit.check(policies.current().policies(), Views.cluster(namenode.cluster()));
    } catch (NamenodeException e) {
      return List.of(
          new Evaluation.Refusal("all", e.getMessage(), "start the namenode, or see its log"));
    }
  }

  /** What is wrong now. */
  public Health.Report health() {
    List<TransitionRow> undone =
        transitions.ended().stream()
            .filter(row -> TransitionView.UNDONE.contains(row.getState()))
            .toList();
    return Health.report(
        cluster, namenode.problem(), opens.status(), policies.current(), evaluator.last(), undone);
  }

  /** The cluster as of the last look; null before the first. */
  public GetClusterResponseProto cluster() {
    return cluster;
  }

  public ManagerConfig config() {
    return config;
  }

  public Namenode namenode() {
    return namenode;
  }

  public Evaluator evaluator() {
    return evaluator;
  }

  public TransitionLog transitions() {
    return transitions;
  }

  public Timeline timeline() {
    return timeline;
  }

  public LivePolicies policies() {
    return policies;
  }

  public OpenConsumer.Status opens() {
    return opens.status();
  }

  public long nowMillis() {
    return clock.millis();
  }

  /** The port that the API listens at. */
  public int httpPort() {
    return api.port();
  }

  /** Stops everything, in the order of dependence. Idempotent. */
  @Override
  public void close() {
    api.close();
    schedules.close();
    opens.close();
    store.close();
  }
}
