package io.ebbfs.namenode;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.common.http.PrometheusText;
import io.ebbfs.common.time.SteadyClock;
import io.ebbfs.namenode.datanodes.ClusterIdentity;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.RackTopology;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.events.KafkaOpenPublisher;
import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.io.OpenListener;
import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.files.xattrs.ReportedHeat;
import io.ebbfs.namenode.leader.Leadership.Changes;
import io.ebbfs.namenode.leader.Leadership.Leader;
import io.ebbfs.namenode.leader.ReadOnlyMark;
import io.ebbfs.namenode.peers.ClusterViews;
import io.ebbfs.namenode.peers.FollowerCalls;
import io.ebbfs.namenode.peers.LeaderLink;
import io.ebbfs.namenode.replicas.BlockManager;
import io.ebbfs.namenode.rpc.RpcEndpoint;
import io.ebbfs.namenode.rpc.StandbyCalls;
import io.ebbfs.namenode.rpc.UnclearCalls;
import io.ebbfs.namenode.rpc.audit.AuditLog;
import io.ebbfs.namenode.rpc.client.ClientFrontEnd;
import io.ebbfs.namenode.rpc.client.DirectCalls;
import io.ebbfs.namenode.rpc.client.ExcludedReader;
import io.ebbfs.namenode.rpc.client.FileServices;
import io.ebbfs.namenode.rpc.client.MetaSave;
import io.ebbfs.namenode.rpc.client.OperatorServices;
import io.ebbfs.namenode.rpc.client.ReadOnlyGuard;
import io.ebbfs.namenode.rpc.coding.BlockCounts;
import io.ebbfs.namenode.rpc.datanode.StandbyDatanodeCalls;
import io.ebbfs.namenode.rpc.server.CallCounters;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.StoreFormat;
import io.ebbfs.namenode.stripes.StripeManager;
import io.ebbfs.protocol.proto.PeerProtos.ClusterViewProto;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.rpc.ServiceKey;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.apache.hadoop.ipc.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A namenode that serves clients while another one leads. It answers the calls that need rows alone
 * and has all others run at the leader. It does no work in the background. It tells DataNodes that
 * it is the standby, and drops their reports.
 */
final class FollowerServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FollowerServer.class);
  private static final long VIEW_MILLIS = 200;

  /** Longer than a takeover takes, and shorter than clients wait for an answer. */
  private static final long PATIENCE_MILLIS = 20_000;

  private final ServerParts parts = new ServerParts();
  private final NamenodeConfig config;
  private final Clock clock;
  private final DatanodeRegistry cluster;
  private final LeaderLink link;
  private final CallCounters calls = new CallCounters();
  private final RpcEndpoint endpoint;
  private final Supplier<Changes> changes;
  private volatile boolean hasView;
  private volatile boolean serving;

  /** Transitions are planned by the leader: the call that needs one runs there. */
  private static void leaveToLeader(long fileId, BlockRow block) throws IOException {
    throw new IOException(
        "block %d of file %d is encoded, and only the namenode that leads frees it: repeat the call there"
            .formatted(block.getBlockId(), fileId));
  }

  /**
   * Prepares a follower, which serves once {@link #start} is called.
   *
   * @param store stays open when the follower is closed
   * @param door has the port and the connections
   * @param leader the namenode that leads, as far as it is known
   * @param onEnded hears that no process listens at the address of a leader
   * @param changes whether files may be changed, as far as it is known
   */
  FollowerServer(
      NamenodeConfig config,
      Clock timeOfDay,
      RandomGenerator random,
      MetadataStore store,
      RpcEndpoint door,
      Supplier<Optional<Leader>> leader,
      Consumer<Leader> onEnded,
      Supplier<Changes> changes)
      throws IOException {
    this.config = config;
    this.changes = changes;
    this.clock = SteadyClock.from(timeOfDay);
    boolean made = false;
    try {
      ServiceKey key = ServiceKey.readIfNamed(config.serviceKey());
      StoreFormat.check(store);
      ClusterIdentity identity = ClusterIdentity.of(store, timeOfDay, random);
      RedundancySettings redundancy =
          RedundancySettings.of(config.deadAfter(), config.safeModeGrace());
      cluster =
          new DatanodeRegistry(
              store, IdGenerator.storages(store), clock, redundancy, RackTopology.none());
      BlockManager blocks =
          new BlockManager(store, cluster, identity.blockPoolId(), clock, random, redundancy);
      CodeRegistry codes = NamenodeServer.codes(config);
      StripeManager stripes = new StripeManager(codes, blocks, cluster);
      blocks.bind(stripes);
      FileServices files =
          NamenodeServer.files(
              config,
              store,
              IdGenerators.of(store),
              new NamenodeServer.Blocks(blocks, stripes, FollowerServer::leaveToLeader),
              new ReportedHeat(clock), // the manager reports to the leader
              timeOfDay,
              neverExpiring(clock),
              opens(),
              () -> {}); // the leader looks for deletions by itself
      link = parts.stopsFirst(new LeaderLink(leader, onEnded, key, PATIENCE_MILLIS));
      UnclearCalls unclear = new UnclearCalls(this::requireKnowledge, store, timeOfDay);
      endpoint = endpoint(door, files, blocks, unclear, identity, leader);
      link.watchView(VIEW_MILLIS, this::take);
      made = true;
    } finally {
      if (!made) {
        close();
      }
    }
  }

  /** Whether a lease has ended is decided by the leader alone. */
  private static LeaseManager neverExpiring(Clock clock) {
    return new LeaseManager(clock, Long.MAX_VALUE, Long.MAX_VALUE);
  }

  private OpenListener opens() {
    return config.kafka().isBlank()
        ? (inodeId, path, timeMillis, client) -> {}
        : parts.stopsFirst(new KafkaOpenPublisher(config.kafka(), (name, amount) -> {}));
  }

  private RpcEndpoint endpoint(
      RpcEndpoint door,
      FileServices files,
      BlockManager blocks,
      UnclearCalls unclear,
      ClusterIdentity identity,
      Supplier<Optional<Leader>> leader)
      throws IOException {
    Caller.Superuser superuser = NamenodeServer.superuser();
    RpcEndpoint made = new RpcEndpoint(door);
    made.addClients(
        ReadOnlyGuard.of(
            new ClientFrontEnd(
                files,
                blocks,
                new BlockCounts(() -> 0, () -> 0, storage -> 0),
                cluster,
                NamenodeServer.defaults(config),
                superuser,
                // The leader does what operators order.
                new OperatorServices(
                    NamenodeServer::refuseBackup,
                    ReadOnlyMark.NONE,
                    ExcludedReader.of("", "", ""),
                    MetaSave.NONE,
                    NamenodeServer.longCalls(config))),
            this::isReadOnly));
    made.replaceClientMethods(
        ReadOnlyGuard.of(
            new DirectCalls(files, superuser, identity.blockPoolId()).handlers(),
            this::isReadOnly));
    made.wrapClientMethods(unclear::around);
    if (!config.auditLog().isBlank()) {
      made.wrapClientMethods(parts.stopsFirst(AuditLog.open(Path.of(config.auditLog())))::around);
    }
    // The leader writes the audit line of a call that it runs.
    made.wrapClientMethods(new FollowerCalls(link, this::knowsWhetherToChange)::around);
    made.wrapClientMethods(calls::around);
    Supplier<String> leaderName = () -> leader.get().map(Leader::address).orElse("not known yet");
    made.addDatanodes(new StandbyDatanodeCalls(identity, leaderName));
    StandbyCalls.addServices(made, leaderName);
    return made;
  }

  private void take(ClusterViewProto view) {
    ClusterViews.apply(view, cluster, clock);
    hasView = true;
  }

  private boolean knowsWhetherToChange() {
    return changes.get() != Changes.UNKNOWN;
  }

  private void requireKnowledge() throws RetriableException {
    if (!knowsWhetherToChange()) {
      throw new RetriableException(
          "this namenode does not know whether files may be changed; repeat the call in a moment");
    }
  }

  private boolean isReadOnly() {
    return changes.get() == Changes.REFUSED;
  }

  /** The chunk servers as this namenode knows them now. */
  ClusterViewProto view() {
    return ClusterViews.of(cluster, clock);
  }

  /** Whether the follower knows the chunk servers, so that it may serve. */
  boolean isReady() {
    return hasView;
  }

  /** Serves from now on. */
  void start() throws IOException {
    endpoint.start(config.host(), config.port());
    serving = true;
    LOG.info("This namenode serves beside the one that leads, at {}", endpoint.address());
  }

  boolean isServing() {
    return serving;
  }

  String metrics() {
    PrometheusText text = new PrometheusText();
    text.gauge("ebbfs_namenode_connections", "Connections of RPC", endpoint.connections());
    NamenodeStatus.addCalls(text, calls);
    return text.withProcess().toString();
  }

  @Override
  public void close() {
    parts.close();
  }
}
