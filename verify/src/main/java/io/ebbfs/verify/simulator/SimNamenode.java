package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.audit.MetadataChecker;
import io.ebbfs.namenode.audit.MetadataChecker.Finding;
import io.ebbfs.namenode.audit.MetadataChecker.Severity;
import io.ebbfs.namenode.datanodes.ClusterIdentity;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.io.FileAppendService;
import io.ebbfs.namenode.files.io.FileCreationService;
import io.ebbfs.namenode.files.io.FileReadService;
import io.ebbfs.namenode.files.io.FileSettings;
import io.ebbfs.namenode.files.io.FileWriteService;
import io.ebbfs.namenode.files.io.LeaseMonitor;
import io.ebbfs.namenode.files.io.LeaseRecovery;
import io.ebbfs.namenode.files.io.ReplicationFactorService;
import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.files.tree.AttributeService;
import io.ebbfs.namenode.files.tree.ContentSummaryService;
import io.ebbfs.namenode.files.tree.DeleteService;
import io.ebbfs.namenode.files.tree.InodeLookup;
import io.ebbfs.namenode.files.tree.MkdirService;
import io.ebbfs.namenode.files.tree.PendingDeletionReaper;
import io.ebbfs.namenode.files.tree.RenameService;
import io.ebbfs.namenode.replicas.BlockManager;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.rpc.client.FileServices;
import io.ebbfs.namenode.rpc.coding.BlockCounts;
import io.ebbfs.namenode.rpc.coding.CodingService;
import io.ebbfs.namenode.rpc.datanode.DatanodeFrontEnd;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.RestoredStore;
import io.ebbfs.namenode.stripes.StripeManager;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings.Verification;
import io.ebbfs.protocol.CodingProtocol;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol;

/** The namenode's own classes, from one start of the process to its death. */
final class SimNamenode {
  private static final Caller.Superuser SUPERUSER = new Caller.Superuser("sim", "sim");

  /** No report is under way for longer. */
  static final long REPORT_TRAVEL_MILLIS = 2_000;

  private static final RedundancySettings BLOCKS =
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
  private final SimClient.Namenode forClients;

  SimNamenode(
      MetadataStore store,
      Clock timeOfDay,
      Clock clock,
      SimWorld world,
      SimCluster servers,
      long seed,
      PlantedBug bug)
      throws IOException {
    this.store = store;
    Random random = new Random(seed);
    identity = ClusterIdentity.of(store, timeOfDay, random);
    cluster =
        new DatanodeRegistry(
            store, IdGenerator.storages(store), clock, BLOCKS, SimTopology.topology(world.racks()));
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
    FileServices files =
        files(
            store,
            ids,
            bug == PlantedBug.RECOVERS_BEFORE_SCAN ? judgingAtOnce(blocks) : blocks,
            timeOfDay,
            clock);
    files.mkdirs().makeRoot(SUPERUSER);
    leases = new LeaseMonitor(store, files.leases(), files.recovery());
    datanodes =
        new DatanodeFrontEnd(
            identity, cluster, blocks, files.recovery()::commitBlockSynchronization);
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
            stripes,
            clock,
            random,
            world.isTight() ? FEW_ATTEMPTS : TRANSITIONS);
    periodic = service;
    coding = bug == PlantedBug.PUBLISHES_UNASKED ? committingUnasked(service, view) : service;
    forClients =
        new SimClient.Namenode(
            files, new Caller(SUPERUSER.user(), Set::of, SUPERUSER), world.isTight());
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
  void reportBadByClient(SimBlock block, String storageUuid) throws IOException {
    if (bug == PlantedBug.BELIEVES_CLIENTS) {
      blocks.reportWrongBytes(block.blockId(), block.generationStamp(), storageUuid, "said so");
    } else {
      blocks.suspect(block.blockId(), block.generationStamp(), storageUuid, "said so");
    }
  }

  private static FileServices files(
      MetadataStore store, IdGenerators ids, BlockService blocks, Clock timeOfDay, Clock clock) {
    LeaseManager leases = new LeaseManager(clock, SOFT_LIMIT_MILLIS, HARD_LIMIT_MILLIS);
    LeaseRecovery recovery =
        new LeaseRecovery(store, blocks, leases, ids.generationStamps(), timeOfDay, FILES);
    return new FileServices(
        new MkdirService(store, ids.inodes(), timeOfDay, LIMITS),
        new AttributeService(store),
        new InodeLookup(store),
        new RenameService(store, timeOfDay, LIMITS, () -> {}),
        new DeleteService(store, timeOfDay, () -> {}),
        new FileCreationService(store, ids.inodes(), timeOfDay, LIMITS, leases, recovery, () -> {}),
        new FileAppendService(store, blocks, timeOfDay, leases, recovery),
        new FileWriteService(
            store, blocks, ids.blocks(), ids.generationStamps(), timeOfDay, LIMITS, FILES),
        new FileReadService(store, blocks, timeOfDay, LIMITS, (inode, path, millis, client) -> {}),
        new ReplicationFactorService(store, blocks, LIMITS),
        new ContentSummaryService(store),
        leases,
        recovery);
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
  boolean believesInService(String storageUuid) {
    return cluster.isLive(storageUuid);
  }

  String blockPoolId() {
    return identity.blockPoolId();
  }

  DatanodeProtocol datanodes() {
    return datanodes;
  }

  CodingProtocol coding() {
    return coding;
  }

  SimClient.Namenode forClients() {
    return forClients;
  }

  /** The contradictions of the rows. */
  List<Finding> check() throws IOException {
    return MetadataChecker.run(SimCodes.REGISTRY, store, cluster, 10).stream()
        .filter(finding -> finding.severity() == Severity.WRONG)
        .toList();
  }

  /** Does all periodic work once. */
  void tick() throws IOException {
    reaper.reapAll();
    leases.tick();
    blocks.inspectSuspects();
    blocks.tick();
    periodic.tick();
  }
}
