package io.ebbfs.namenode;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.definitions.CodesFile;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.http.StatusServer;
import io.ebbfs.common.http.StreamedPage;
import io.ebbfs.common.time.SteadyClock;
import io.ebbfs.namenode.audit.QuotaInspector;
import io.ebbfs.namenode.datanodes.ClusterIdentity;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.RackTopology;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.datanodes.ReportLeases;
import io.ebbfs.namenode.events.KafkaChangePublisher;
import io.ebbfs.namenode.events.KafkaOpenPublisher;
import io.ebbfs.namenode.files.acls.AclService;
import io.ebbfs.namenode.files.erasure.ErasureCodingService;
import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.io.ConcatService;
import io.ebbfs.namenode.files.io.FileAppendService;
import io.ebbfs.namenode.files.io.FileCreationService;
import io.ebbfs.namenode.files.io.FileReadService;
import io.ebbfs.namenode.files.io.FileSettings;
import io.ebbfs.namenode.files.io.FileWriteService;
import io.ebbfs.namenode.files.io.LeaseMonitor;
import io.ebbfs.namenode.files.io.LeaseRecovery;
import io.ebbfs.namenode.files.io.OpenListener;
import io.ebbfs.namenode.files.io.ReplicationFactorService;
import io.ebbfs.namenode.files.io.TruncateService;
import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.files.policies.PolicySatisfier;
import io.ebbfs.namenode.files.policies.PolicyService;
import io.ebbfs.namenode.files.quotas.QuotaService;
import io.ebbfs.namenode.files.quotas.TreeCounter;
import io.ebbfs.namenode.files.trash.TrashEmptier;
import io.ebbfs.namenode.files.tree.AttributeService;
import io.ebbfs.namenode.files.tree.ContentSummaryService;
import io.ebbfs.namenode.files.tree.DeleteService;
import io.ebbfs.namenode.files.tree.InodeLookup;
import io.ebbfs.namenode.files.tree.MkdirService;
import io.ebbfs.namenode.files.tree.PendingDeletionReaper;
import io.ebbfs.namenode.files.tree.RenameService;
import io.ebbfs.namenode.files.xattrs.ReportedHeat;
import io.ebbfs.namenode.files.xattrs.XAttrLimits;
import io.ebbfs.namenode.files.xattrs.XAttrService;
import io.ebbfs.namenode.fsck.Fsck;
import io.ebbfs.namenode.leader.ReadOnlyMark;
import io.ebbfs.namenode.peers.ClusterViews;
import io.ebbfs.namenode.replicas.BlockManager;
import io.ebbfs.namenode.replicas.EncodedBlocks;
import io.ebbfs.namenode.rpc.RpcEndpoint;
import io.ebbfs.namenode.rpc.RpcEndpoint.PeerView;
import io.ebbfs.namenode.rpc.TrashCalls;
import io.ebbfs.namenode.rpc.UnclearCalls;
import io.ebbfs.namenode.rpc.audit.AuditLog;
import io.ebbfs.namenode.rpc.client.BalancerCalls;
import io.ebbfs.namenode.rpc.client.ClientFrontEnd;
import io.ebbfs.namenode.rpc.client.DirectCalls;
import io.ebbfs.namenode.rpc.client.ExcludedReader;
import io.ebbfs.namenode.rpc.client.FileServices;
import io.ebbfs.namenode.rpc.client.Listings;
import io.ebbfs.namenode.rpc.client.LongCalls;
import io.ebbfs.namenode.rpc.client.MetaSave;
import io.ebbfs.namenode.rpc.client.OperatorServices;
import io.ebbfs.namenode.rpc.client.ReadOnlyGuard;
import io.ebbfs.namenode.rpc.client.SnapshotServices;
import io.ebbfs.namenode.rpc.coding.BlockCounts;
import io.ebbfs.namenode.rpc.coding.CodingService;
import io.ebbfs.namenode.rpc.coding.HibernateService;
import io.ebbfs.namenode.rpc.coding.PlanReaders;
import io.ebbfs.namenode.rpc.coding.RebalanceService;
import io.ebbfs.namenode.rpc.datanode.ChunkServerVerifier;
import io.ebbfs.namenode.rpc.datanode.DatanodeFrontEnd;
import io.ebbfs.namenode.rpc.datanode.DatanodeFrontEnd.LeaderTerm;
import io.ebbfs.namenode.rpc.server.CallCounters;
import io.ebbfs.namenode.rpc.server.MethodHandler;
import io.ebbfs.namenode.rpc.server.RetryAnswers;
import io.ebbfs.namenode.store.CallPruner;
import io.ebbfs.namenode.store.FailedSync;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.RestoredStore;
import io.ebbfs.namenode.store.RocksDbStore;
import io.ebbfs.namenode.store.StoreBackups;
import io.ebbfs.namenode.store.StoreFormat;
import io.ebbfs.namenode.store.StoreMemory;
import io.ebbfs.namenode.stripes.StripeManager;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings;
import io.ebbfs.namenode.tasks.scan.GroupDamage;
import io.ebbfs.protocol.proto.PeerProtos.ClusterViewProto;
import io.ebbfs.protocol.rpc.ServiceKey;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.time.ZoneId;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.apache.hadoop.fs.FsServerDefaults;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.DataChecksum;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The namenode: makes and joins its parts, serves them on one port, and stops them in order. */
public final class NamenodeServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NamenodeServer.class);
  private static final String SUPERGROUP = "supergroup";

  /** Threads that wait for chunk servers to read suspect replicas. */
  private static final int INSPECTORS = 4;

  private static final long OTHERS_CHANGE_MILLIS = 60_000;
  private static final long OTHERS_DELETE_MILLIS = 1_000;
  private static final long BACKUPS_MILLIS = 60_000;

  private final ServerParts parts = new ServerParts();
  private final LoopMeter loops = new LoopMeter();
  private PendingDeletionReaper reaper;
  // The port of namenodes that take turns; null if this namenode has a port of its own.
  private RpcEndpoint door;
  private RpcEndpoint endpoint;
  private NamenodeStatus status;
  private Fsck fsck;

  private NamenodeServer() {}

  /**
   * Starts a namenode on an embedded store.
   *
   * @throws IOException with a message for the operator if the data cannot be opened or the port
   *     not be had
   */
  public static NamenodeServer start(NamenodeConfig config, Clock clock, RandomGenerator random)
      throws IOException {
    return start(server -> server.buildEmbedded(config, clock, random));
  }

  /**
   * Starts a namenode on a store that its caller closes.
   *
   * @param door has the port and the connections
   * @param lead how it leads the namenodes on the store
   */
  static NamenodeServer startOn(
      MetadataStore store,
      RpcEndpoint door,
      NamenodeConfig config,
      Clock clock,
      RandomGenerator random,
      Lead lead)
      throws IOException {
    return start(
        server -> {
          server.door = door;
          StoreBackups backups = backups(store, config, clock);
          server.build(config, clock, random, store, backups, lead);
          server.every(
              BACKUPS_MILLIS,
              "backups",
              () -> {
                lead.term().require();
                backups.tick();
              });
          // Other namenodes may end before they have folded what they have changed.
          server.every(OTHERS_CHANGE_MILLIS, "changes of others", store.changes()::foldEverything);
          // Other namenodes delete files, too.
          server.every(OTHERS_DELETE_MILLIS, "deletions", server.reaper::wake);
        });
  }

  /**
   * The leadership of a namenode.
   *
   * @param term in which it leads
   * @param readOnly what the other namenodes know of the safe mode that an operator enters
   * @param view the chunk servers as this namenode knew them while it followed
   */
  record Lead(LeaderTerm term, ReadOnlyMark readOnly, ClusterViewProto view) {
    /** Of a namenode that has its store alone. */
    static final Lead ALONE =
        new Lead(
            () -> 1,
            ReadOnlyMark.NONE,
            ClusterViewProto.newBuilder().setAwaitsServers(true).build());
  }

  private interface Builder {
    void build(NamenodeServer server) throws IOException;
  }

  private static NamenodeServer start(Builder builder) throws IOException {
    NamenodeServer server = new NamenodeServer();
    boolean started = false;
    try {
      builder.build(server);
      started = true;
      return server;
    } finally {
      if (!started) {
        server.close();
      }
    }
  }

  static Path refuseBackup() throws IOException {
    throw new IOException(
        "this namenode does not lead, and the one that leads takes the backups: ask that one");
  }

  private void buildEmbedded(NamenodeConfig config, Clock timeOfDay, RandomGenerator random)
      throws IOException {
    StoreMemory.checkHeap(config.storeCache(), Runtime.getRuntime().maxMemory());
    RocksDbStore store =
        parts.stopsFirst(
            RocksDbStore.open(
                config.data().resolve("metadata"),
                config.lockTimeout(),
                config.storeCache(),
                FailedSync::stopProcess));
    if (!config.kafka().isBlank()) {
      store.changes().publishTo(parts.stopsFirst(new KafkaChangePublisher(config.kafka())));
    }
    StoreBackups backups = backups(store, config, timeOfDay);
    every(BACKUPS_MILLIS, "backups", backups::tick);
    build(config, timeOfDay, random, store, backups, Lead.ALONE);
  }

  private static StoreBackups backups(MetadataStore store, NamenodeConfig config, Clock timeOfDay) {
    return new StoreBackups(
        store, config.backupDirectory(), config.backupEvery(), config.backupsKept(), timeOfDay);
  }

  private void build(
      NamenodeConfig config,
      Clock timeOfDay,
      RandomGenerator random,
      MetadataStore store,
      StoreBackups backups,
      Lead lead)
      throws IOException {
    ServiceKey key = ServiceKey.readIfNamed(config.serviceKey());
    Clock clock = SteadyClock.from(timeOfDay);
    CodeRegistry codes = codes(config);
    StoreFormat.check(store);
    store.changes().open();
    ClusterIdentity identity = ClusterIdentity.of(store, timeOfDay, random);
    RedundancySettings redundancy =
        RedundancySettings.of(config.deadAfter(), config.safeModeGrace())
            .withOrphanWait(config.orphanWait())
            .withSafeModeThreshold(config.safeModeThreshold())
            .withRepairDelay(config.repairDelay())
            .withCopyRate(config.copyRate())
            .withEnoughReplicas(config.replication());
    DatanodeRegistry cluster =
        new DatanodeRegistry(
            store,
            IdGenerator.storages(store),
            clock,
            redundancy,
            RackTopology.of(config.topology(), config.topologyScript()));
    cluster.presume(ClusterViews.servers(lead.view(), clock));
    if (lead.readOnly().isSet()) {
      cluster.setSafeMode(true);
    }
    BlockManager blocks =
        new BlockManager(
            store,
            cluster,
            identity.blockPoolId(),
            clock,
            random,
            redundancy,
            new ChunkServerVerifier(key));
    StripeManager stripes = new StripeManager(codes, blocks, cluster);
    blocks.bind(stripes);

    Caller.Superuser superuser = superuser();
    BlockCounts counts =
        new BlockCounts(
            blocks::underReplicatedBlocks,
            blocks::missingBlocks,
            blocks::orphanReplicas,
            blocks::orphanBytes,
            blocks::lostDisksToWalk,
            blocks::lostDiskBlocksExamined,
            blocks::pendingDeletions,
            blocks::pendingDeletionsOfGroups,
            new GroupDamage(),
            blocks::blocksOn,
            () -> Optional.of(blocks.scan()),
            blocks::drain);
    ReportedHeat heat = new ReportedHeat(clock);
    IdGenerators ids = IdGenerators.of(store);
    RestoredStore.skipIds(store, ids);
    blocks.bind(ids);
    CodingService coding =
        new CodingService(
            identity.blockPoolId(),
            codes,
            store,
            ids,
            blocks,
            counts,
            cluster,
            cluster,
            stripes,
            heat,
            clock,
            random,
            TransitionSettings.defaults()
                .with(config.rewriteDeadShare(), config.verify(), config.mendPlacements())
                .withRepairDelay(config.repairDelay())
                .withLimits(config.limits())
                .withReplication(config.replication()));
    reaper = parts.stopsFirst(new PendingDeletionReaper(store, blocks, stripes));
    OpenListener opens = opens(config, coding);
    LeaseManager leases = new LeaseManager(clock, config.leaseSoftLimit(), config.leaseHardLimit());
    FileServices files =
        files(
            config,
            store,
            ids,
            new Blocks(blocks, stripes, coding.freer()),
            heat,
            timeOfDay,
            leases,
            opens,
            reaper::wake);
    files.mkdirs().makeRoot(superuser);
    coding.bind(files.recovery().waits());
    coding.bind(new PlanReaders(store, files.inodes(), superuser));
    coding.bind(new HibernateService(cluster, blocks));
    coding.bind(new RebalanceService(store, cluster, blocks.rebalancer(), config.rebalance()));
    coding.bind(parts.stopsFirst(new QuotaInspector(store, files.treeCounter(), backups::onCopy)));
    reaper.start();
    every(1_000, "calls", new CallPruner(store, timeOfDay)::tick);
    every(
        1_000,
        "blocks",
        () -> {
          blocks.tick();
          files.satisfier().tick();
        });
    every(1_000, "coding", coding::tick);
    // On a thread of its own, because it waits for Kafka.
    every(1_000, "changes", store.changes()::fold);
    for (int i = 0; i < INSPECTORS; i++) {
      every(500, "inspector-" + i, blocks::inspectSuspects);
    }
    every(5_000, "topology", cluster::refreshRacks);
    LeaseMonitor monitor = new LeaseMonitor(store, files.leases(), files.recovery());
    every(
        2_000,
        "leases",
        () -> {
          lead.term().require();
          if (!cluster.inSafeMode()) {
            monitor.tick();
          }
        });

    LongCalls longCalls = longCalls(config);
    BlockCounts withGroups = counts.with(coding.groupDamage());
    ClientProtocol clients =
        ReadOnlyGuard.of(
            new ClientFrontEnd(
                files,
                blocks,
                withGroups,
                cluster,
                defaults(config),
                superuser,
                new OperatorServices(
                    backups::take,
                    lead.readOnly(),
                    ExcludedReader.of(
                        config.excludeFile(), config.includeFile(), config.hostsFile()),
                    new MetaSave(
                        config.data().resolve("metasave"), cluster, blocks, counts, timeOfDay),
                    longCalls)),
            cluster::isReadOnly);
    DatanodeFrontEnd datanodes =
        new DatanodeFrontEnd(
            identity,
            cluster,
            blocks,
            files.recovery()::commitBlockSynchronization,
            new ReportLeases(clock, reportsAtOnce(config), cluster::isLiveServer),
            lead.term());
    Map<String, MethodHandler> direct =
        ReadOnlyGuard.of(
            new DirectCalls(files, superuser, identity.blockPoolId()).handlers(),
            cluster::isReadOnly);
    CallCounters calls = new CallCounters();
    Optional<AuditLog> audit = audit(config);
    Served served =
        new Served(
            clients,
            direct,
            datanodes,
            new BalancerCalls(
                identity, cluster, blocks.movable(), superuser, lead.term(), longCalls),
            coding,
            writers -> {
              writers.forEach(leases::renew);
              return ClusterViews.of(cluster, clock);
            },
            key,
            calls,
            audit,
            new UnclearCalls(lead.term()::require, store, timeOfDay),
            lead.term());
    RetryAnswers retries = RpcEndpoint.newRetryAnswers();
    endpoint =
        endpoint(
            door == null ? new RpcEndpoint(config.handlers(), retries) : new RpcEndpoint(door),
            served);
    if (config.servicePort() != 0) {
      endpoint(new RpcEndpoint(config.serviceHandlers(), retries), served)
          .start(config.host(), config.servicePort());
    }
    if (config.trash().isOn()) {
      emptyTrash(config, store, files, superuser, timeOfDay, lead.term(), cluster);
    }
    endpoint.start(config.host(), config.port()); // last: nothing can fail after it
    fsck =
        new Fsck(
            new Fsck.Sources(store, files.inodes(), files.reads(), blocks, cluster),
            identity.blockPoolId(),
            config.replication(),
            superuser,
            timeOfDay);
    status =
        new NamenodeStatus(
            cluster,
            coding,
            calls,
            endpoint::connections,
            () -> audit.map(AuditLog::dropped).orElse(0L),
            config.data().toFile()::getUsableSpace,
            loops);
    LOG.info("Namenode of cluster {} serves at {}", identity.clusterId(), endpoint.address());
  }

  private void emptyTrash(
      NamenodeConfig config,
      MetadataStore store,
      FileServices files,
      Caller.Superuser superuser,
      Clock timeOfDay,
      LeaderTerm term,
      DatanodeRegistry cluster) {
    TrashEmptier emptier =
        new TrashEmptier(
            store,
            files.reads(),
            superuser,
            new TrashCalls(endpoint.ownCalls(superuser.user())),
            config.trash(),
            timeOfDay,
            ZoneId.systemDefault());
    every(
        1_000,
        "trash",
        () -> {
          term.require();
          if (!cluster.inSafeMode()) {
            emptier.tick();
          }
        });
  }

  /** The user of this process, and its group. */
  static Caller.Superuser superuser() throws IOException {
    return new Caller.Superuser(
        UserGroupInformation.getCurrentUser().getShortUserName(), SUPERGROUP);
  }

  /** At one port, heartbeats need handlers that no report occupies. */
  private static int reportsAtOnce(NamenodeConfig config) {
    return config.servicePort() == 0
        ? Math.max(1, Math.min(config.reportsAtOnce(), config.handlers() / 2))
        : config.reportsAtOnce();
  }

  /** Reports and long calls together leave handlers to heartbeats, at either port. */
  static LongCalls longCalls(NamenodeConfig config) {
    int free =
        config.servicePort() == 0
            ? config.handlers() / 2
            : Math.min(config.handlers(), config.serviceHandlers() - config.reportsAtOnce());
    return new LongCalls(Math.max(1, free / 2));
  }

  /** What answers the calls of each protocol. */
  private record Served(
      ClientProtocol clients,
      Map<String, MethodHandler> direct,
      DatanodeFrontEnd datanodes,
      BalancerCalls balancers,
      CodingService coding,
      PeerView view,
      ServiceKey key,
      CallCounters calls,
      Optional<AuditLog> audit,
      UnclearCalls unclear,
      LeaderTerm term) {}

  /** All protocols, for a port with a call queue and handlers of its own. */
  private RpcEndpoint endpoint(RpcEndpoint made, Served served) throws IOException {
    parts.stopsFirst(made);
    made.addClients(served.clients());
    made.replaceClientMethods(served.direct());
    made.addDatanodes(served.datanodes(), served.datanodes()::noteFigures);
    made.addBalancers(served.balancers());
    made.wrapClientMethods(served.unclear()::around);
    served.audit().ifPresent(audit -> made.wrapClientMethods(audit::around));
    made.wrapClientMethods(served.calls()::around);
    // A namenode that was frozen may have calls of an earlier time: it runs none of them.
    made.wrapClientMethods(
        (method, handler) ->
            (frame, offset, length) -> {
              served.term().require();
              return handler.answer(frame, offset, length);
            });
    made.wrapDatanodeMethods(served.calls()::around);
    made.addCoding(served.coding(), served.key());
    made.addPeers(served.view(), served.key());
    return made;
  }

  private Optional<AuditLog> audit(NamenodeConfig config) throws IOException {
    return config.auditLog().isBlank()
        ? Optional.empty()
        : Optional.of(parts.stopsFirst(AuditLog.open(Path.of(config.auditLog()))));
  }

  static CodeRegistry codes(NamenodeConfig config) throws IOException {
    if (config.codes().isBlank()) {
      return CodeRegistry.builtIn();
    }
    try {
      return CodesFile.read(Path.of(config.codes()));
    } catch (ConfigException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /** Blocks with their replicas, their stripes, and what frees them from the stripes. */
  record Blocks(BlockManager replicas, StripeManager stripes, EncodedBlocks encoded) {}

  /**
   * The services for clients.
   *
   * @param heat what the manager has reported
   * @param onPendingDeletion hears of each delete that leaves rows to be removed
   */
  static FileServices files(
      NamenodeConfig config,
      MetadataStore store,
      IdGenerators ids,
      Blocks all,
      ReportedHeat heat,
      Clock timeOfDay,
      LeaseManager leases,
      OpenListener opens,
      Runnable onPendingDeletion) {
    BlockManager blocks = all.replicas();
    NamespaceLimits limits = NamespaceLimits.DEFAULT.withMinBlockSize(config.minBlockSize());
    FileSettings settings =
        new FileSettings(config.completeWait(), FileSettings.DEFAULT.recoveryRetryMillis());
    LeaseRecovery recovery =
        new LeaseRecovery(
            store,
            blocks,
            all.stripes(),
            all.encoded(),
            leases,
            ids.generationStamps(),
            timeOfDay,
            settings);
    TreeCounter counter = new TreeCounter(store);
    FileReadService reads = new FileReadService(store, blocks, timeOfDay, limits, opens);
    return new FileServices(
        new MkdirService(store, ids.inodes(), timeOfDay, limits),
        new AttributeService(store),
        new AclService(store),
        new XAttrService(
            store,
            timeOfDay,
            new XAttrLimits(config.xattrsPerInode(), (int) config.xattrSize()),
            heat),
        new QuotaService(store, counter),
        new PolicyService(store, counter),
        new PolicySatisfier(store, blocks, timeOfDay),
        new ErasureCodingService(store, timeOfDay),
        new InodeLookup(store),
        new RenameService(store, timeOfDay, limits, counter, onPendingDeletion),
        new DeleteService(store, timeOfDay, onPendingDeletion),
        new FileCreationService(
            store, ids.inodes(), timeOfDay, limits, leases, recovery, onPendingDeletion),
        new FileAppendService(store, blocks, timeOfDay, leases, recovery),
        new TruncateService(store, timeOfDay, recovery),
        new ConcatService(store, blocks, all.stripes(), all.encoded(), timeOfDay),
        new FileWriteService(
            store,
            blocks,
            ids.blocks(),
            ids.inodes(),
            ids.generationStamps(),
            timeOfDay,
            limits,
            settings),
        reads,
        new ReplicationFactorService(store, blocks, limits),
        new ContentSummaryService(store),
        counter,
        leases,
        recovery,
        Listings.of(store, blocks, reads, limits),
        SnapshotServices.of(store, timeOfDay, onPendingDeletion));
  }

  private OpenListener opens(NamenodeConfig config, CodingService coding) {
    return config.kafka().isBlank()
        ? (inodeId, path, timeMillis, client) -> coding.counters().add("opens", 1)
        : parts.stopsFirst(new KafkaOpenPublisher(config.kafka(), coding.counters()::add));
  }

  static FsServerDefaults defaults(NamenodeConfig config) {
    return new FsServerDefaults(
        config.blockSize(),
        512,
        64 << 10,
        (short) config.replication(),
        4096,
        false,
        config.trash().intervalMinutes(),
        DataChecksum.Type.CRC32C,
        "");
  }

  /** Periodic work. */
  @FunctionalInterface
  private interface Periodic {
    void run() throws IOException;
  }

  private void every(long millis, String name, Periodic work) {
    ScheduledExecutorService timer =
        Executors.newSingleThreadScheduledExecutor(
            runnable -> {
              Thread thread = new Thread(runnable, name);
              thread.setDaemon(true);
              return thread;
            });
    timer.scheduleWithFixedDelay(
        () -> runQuietly(name, () -> loops.measure(name, work::run)),
        millis,
        millis,
        TimeUnit.MILLISECONDS);
    parts.stopsFirst(
        () -> {
          timer.shutdownNow();
          timer.awaitTermination(10, TimeUnit.SECONDS);
        });
  }

  private static void runQuietly(String name, Periodic work) {
    try {
      work.run();
    } catch (IOException | RuntimeException e) {
      LOG.warn("The periodic work of '{}' failed; it runs again soon", name, e);
    }
  }

  /** What the periodic work of this namenode has cost so far. */
  public LoopMeter loops() {
    return loops;
  }

  /** What supervisors and Prometheus may ask. */
  public StatusServer.State state() {
    return status;
  }

  /** What {@code hdfs fsck} asks for. */
  public StreamedPage fsck() {
    return fsck;
  }

  /** The address for clients and chunk servers. */
  public InetSocketAddress address() {
    return endpoint.address();
  }

  /** Stops the parts in the reverse order of their start: the RPC server first, the store last. */
  @Override
  public void close() {
    parts.close();
  }
}
