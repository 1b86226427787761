package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.audit.MetadataChecker;
import io.ebbfs.namenode.audit.MetadataChecker.Finding;
import io.ebbfs.namenode.audit.MetadataChecker.Severity;
import io.ebbfs.namenode.datanodes.ClusterIdentity;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.datanodes.ReportLeases;
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
import io.ebbfs.namenode.files.io.ReplicationFactorService;
import io.ebbfs.namenode.files.io.TruncateService;
import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.files.policies.PolicyService;
import io.ebbfs.namenode.files.quotas.QuotaService;
import io.ebbfs.namenode.files.quotas.TreeCounter;
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
import io.ebbfs.namenode.peers.ClusterViews;
import io.ebbfs.namenode.replicas.BlockManager;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.EncodedBlocks;
import io.ebbfs.namenode.rpc.client.FileServices;
import io.ebbfs.namenode.rpc.client.Listings;
import io.ebbfs.namenode.rpc.client.SnapshotServices;
import io.ebbfs.namenode.rpc.coding.BlockCounts;
import io.ebbfs.namenode.rpc.coding.CodingService;
import io.ebbfs.namenode.rpc.datanode.DatanodeFrontEnd;
import io.ebbfs.namenode.rpc.datanode.DatanodeFrontEnd.LeaderTerm;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.RestoredStore;
import io.ebbfs.namenode.stripes.StripeManager;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings.Verification;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.PeerProtos.ClusterViewProto;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol;
import org.apache.hadoop.ipc.StandbyException;

/**
 * The namenode's own classes, from one start of the process to its death, or while it leads others.
 */
final class SimNamenode implements SimNamenodes {
  private static final Caller.Superuser SUPERUSER = new Caller.Superuser("sim", "sim");

  /** No report is under way for longer. */
  static final long REPORT_TRAVEL_MILLIS = 2_000;

  static final RedundancySettings BLOCKS =
      new RedundancySettings(8_000, 3_000, 10_000, 10_000, 4, 1_000, 2_000, 4_000, 2_000, 10_000)
          .withOrphanWait(12_000);
  private static final TransitionSettings TRANSITIONS = settings(6);
  private static final NamespaceLimits LIMITS = NamespaceLimits.DEFAULT.withMinBlockSize(1);
  // Calls never wait: the simulated time stands still meanwhile.
  private static final FileSettings FILES = new FileSettings(0, 2_000);
  private static final long SOFT_LIMIT_MILLIS = 3_000;
  private static final long HARD_LIMIT_MILLIS = 8_000;

  // With few attempts a transition ends as NO_SPACE or NO_DOMAINS before its schedule ends.
  private static final TransitionSettings FEW_ATTEMPTS = settings(2);

  private static TransitionSettings settings(int attempts) {
    return new TransitionSettings(
        attempts,
        500,
        4_000,
        60_000,
        64,
        1_000,
        1_000,
        10_000,
        100,
        100,
        0.5,
        Verification.ON,
        true);
  }

  private final MetadataStore store;
  private final ClusterIdentity identity;
  private final DatanodeRegistry cluster;
  private final BlockManager blocks;
  private final PlantedBug bug;
  private final DatanodeFrontEnd datanodes;
  private final CodingService periodic;
  private final CodingProtocol coding;
  private final PendingDeletionReaper reaper;
  private final LeaseMonitor leases;
  private final FileServices files;
  private final Lead lead;
  private final Clock clock;
  private final boolean tight;

  /**
   * The leadership of a namenode.
   *
   * @param view the chunk servers as this namenode knew them while it followed
   */
  record Lead(LeaderTerm term, ClusterViewProto view) {
    /** Of a namenode that has its store alone. */
    static final Lead ALONE = new Lead(() -> 1, ClusterViewProto.getDefaultInstance());
  }

  SimNamenode(
      MetadataStore store,
      Clock timeOfDay,
      Clock clock,
      SimWorld world,
      SimCluster servers,
      long seed,
      PlantedBug bug,
      Lead lead)
      throws IOException {
    this.store = store;
    this.clock = clock;
    this.lead = lead;
    this.tight = world.isTight();
    Random random = new Random(seed);
    store.changes().open();
    identity = ClusterIdentity.of(store, timeOfDay, random);
    cluster =
        new DatanodeRegistry(
            store, IdGenerator.storages(store), clock, BLOCKS, SimTopology.topology(world.racks()));
    cluster.presume(ClusterViews.servers(lead.view(), clock));
    blocks =
        new BlockManager(
            store,
            cluster,
            identity.blockPoolId(),
            clock,
            random,
            bug == PlantedBug.DELETES_UNKNOWN ? BLOCKS.withOrphanWait(0) : BLOCKS,
            servers::verify);
    this.bug = bug;
    StripeManager stripes = new StripeManager(SimCodes.REGISTRY, blocks, cluster);
    blocks.bind(stripes);
    IdGenerators ids = IdGenerators.of(store);
    if (bug != PlantedBug.REUSES_IDS) {
      RestoredStore.skipIds(store, ids);
      blocks.bind(ids);
    }
    reaper = new PendingDeletionReaper(store, blocks, stripes);
    SimClusterView view = new SimClusterView(cluster);
    CodingService service =
        new CodingService(
            identity.blockPoolId(),
            SimCodes.REGISTRY,
            store,
            ids,
            blocks,
            new BlockCounts(() -> 0, () -> 0, disk -> 0),
            view,
            cluster,
            stripes,
            new ReportedHeat(clock),
            clock,
            random,
            world.isTight() ? FEW_ATTEMPTS : TRANSITIONS);
    files =
        files(
            store,
            ids,
            bug == PlantedBug.RECOVERS_BEFORE_SCAN ? judgingAtOnce(blocks) : blocks,
            stripes,
            service.freer(),
            timeOfDay,
            new LeaseManager(clock, SOFT_LIMIT_MILLIS, HARD_LIMIT_MILLIS));
    files.mkdirs().makeRoot(SUPERUSER);
    leases = new LeaseMonitor(store, files.leases(), files.recovery());
    datanodes =
        new DatanodeFrontEnd(
            identity,
            cluster,
            blocks,
            files.recovery()::commitBlockSynchronization,
            new ReportLeases(clock, Integer.MAX_VALUE, uuid -> true),
            lead.term());
    periodic = service;
    coding = bug == PlantedBug.PUBLISHES_UNASKED ? committingUnasked(service, view) : service;
  }

  /** Whoever calls from within the simulation. */
  static Caller caller() {
    return new Caller(SUPERUSER.user(), Set::of, SUPERUSER);
  }

  /** The namenode takes every holder for known and in service. */
  private static BlockService judgingAtOnce(BlockService blocks) {
    return (BlockService)
        Proxy.newProxyInstance(
            SimNamenode.class.getClassLoader(),
            new Class<?>[] {BlockService.class},
            (proxy, method, arguments) -> {
              if (method.getName().startsWith("whyHolders")) {
                return Optional.empty();
              }
              try {
                return method.invoke(blocks, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /** A client says that it has read wrong bytes from a replica. */
  @Override
  public void reportBadByClient(SimBlock block, String storageUuid) throws IOException {
    if (bug == PlantedBug.BELIEVES_CLIENTS) {
      blocks.reportWrongBytes(block.blockId(), block.generationStamp(), storageUuid, "said so");
    } else {
      blocks.suspect(block.blockId(), block.generationStamp(), storageUuid, "said so");
    }
  }

  /** The services for clients. */
  static FileServices files(
      MetadataStore store,
      IdGenerators ids,
      BlockService blocks,
      StripeManager stripes,
      EncodedBlocks encoded,
      Clock timeOfDay,
      LeaseManager leases) {
    LeaseRecovery recovery =
        new LeaseRecovery(
            store, blocks, stripes, encoded, leases, ids.generationStamps(), timeOfDay, FILES);
    TreeCounter counter = new TreeCounter(store);
    FileReadService reads =
        new FileReadService(store, blocks, timeOfDay, LIMITS, (inode, path, millis, client) -> {});
    return new FileServices(
        new MkdirService(store, ids.inodes(), timeOfDay, LIMITS),
        new AttributeService(store),
        new AclService(store),
        new XAttrService(store, timeOfDay, XAttrLimits.DEFAULT, new ReportedHeat(timeOfDay)),
        new QuotaService(store, counter),
        new PolicyService(store, counter),
        null, // all simulated disks are of one type, and nobody orders moves between types
        new ErasureCodingService(store, timeOfDay),
        new InodeLookup(store),
        new RenameService(store, timeOfDay, LIMITS, counter, () -> {}),
        new DeleteService(store, timeOfDay, () -> {}),
        new FileCreationService(store, ids.inodes(), timeOfDay, LIMITS, leases, recovery, () -> {}),
        new FileAppendService(store, blocks, timeOfDay, leases, recovery),
        new TruncateService(store, timeOfDay, recovery),
        new ConcatService(store, blocks, stripes, encoded, timeOfDay),
        new FileWriteService(
            store,
            blocks,
            ids.blocks(),
            ids.inodes(),
            ids.generationStamps(),
            timeOfDay,
            LIMITS,
            FILES),
        reads,
        new ReplicationFactorService(store, blocks, LIMITS),
        new ContentSummaryService(store),
        counter,
        leases,
        recovery,
        Listings.of(store, blocks, reads, LIMITS),
        SnapshotServices.of(store, timeOfDay, () -> {}));
  }

  /** Whoever commits sees all servers and disks alive. */
  private static CodingProtocol committingUnasked(CodingProtocol service, SimClusterView view) {
    return (CodingProtocol)
        Proxy.newProxyInstance(
            SimNamenode.class.getClassLoader(),
            new Class<?>[] {CodingProtocol.class},
            (proxy, method, arguments) -> {
              view.setEverythingLives(method.getName().equals("commit"));
              try {
                return method.invoke(service, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              } finally {
                view.setEverythingLives(false);
              }
            });
  }

  /** Whether the namenode believes that a disk is in service. */
  @Override
  public boolean believesInService(String storageUuid) {
    return cluster.isLive(storageUuid);
  }

  @Override
  public String blockPoolId() {
    return identity.blockPoolId();
  }

  @Override
  public DatanodeProtocol datanodes(SimServer server) {
    return datanodes;
  }

  @Override
  public CodingProtocol coding() {
    return coding;
  }

  @Override
  public SimClient.Namenode forClients() {
    return new SimClient.Namenode() {
      @Override
      public <R> R call(SimClient.Call<R> call) throws IOException {
        return call.run(files, caller());
      }

      @Override
      public void renewLease(String writer) {
        files.leases().renew(writer);
      }

      @Override
      public boolean isTight() {
        return tight;
      }
    };
  }

  FileServices files() {
    return files;
  }

  /** Answers a namenode that follows this one, which names the writers that it has heard of. */
  ClusterViewProto view(List<String> writers) {
    writers.forEach(files.leases()::renew);
    return ClusterViews.of(cluster, clock);
  }

  /** The contradictions of the rows. */
  @Override
  public List<Finding> check() throws IOException {
    return MetadataChecker.run(SimCodes.REGISTRY, store, cluster, 10).stream()
        .filter(finding -> finding.severity() == Severity.WRONG)
        .toList();
  }

  /** Does all periodic work once. */
  @Override
  public void tick() throws IOException {
    reaper.reapAll();
    tickLeases();
    blocks.inspectSuspects();
    blocks.tick();
    periodic.tick();
    store.changes().fold();
  }

  private void tickLeases() throws IOException {
    try {
      lead.term().require();
    } catch (StandbyException e) {
      return;
    }
    leases.tick();
  }
}
