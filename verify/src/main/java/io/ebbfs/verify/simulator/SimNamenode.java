package io.ebbfs.verify.simulator;

import io.ebbfs.common.time.ManualClock;
import io.ebbfs.namenode.audit.MetadataChecker;
import io.ebbfs.namenode.audit.MetadataChecker.Finding;
import io.ebbfs.namenode.audit.MetadataChecker.Severity;
import io.ebbfs.namenode.datanodes.ClusterIdentity;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.tree.DeleteService;
import io.ebbfs.namenode.files.tree.MkdirService;
import io.ebbfs.namenode.files.tree.PendingDeletionReaper;
import io.ebbfs.namenode.replicas.BlockManager;
import io.ebbfs.namenode.rpc.coding.BlockCounts;
import io.ebbfs.namenode.rpc.coding.CodingService;
import io.ebbfs.namenode.rpc.datanode.DatanodeFrontEnd;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.stripes.StripeManager;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings.Verification;
import io.ebbfs.protocol.CodingProtocol;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol;

/** The namenode's own classes, from one start of the process to its death. */
final class SimNamenode {
  private static final Caller.Superuser SUPERUSER = new Caller.Superuser("sim", "sim");
  private static final RedundancySettings BLOCKS =
      new RedundancySettings(8_000, 3_000, 10_000, 10_000, 4, 1_000, 2_000, 4_000, 2_000, 10_000);
  private static final TransitionSettings TRANSITIONS = settings(6);
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
  private final DatanodeFrontEnd datanodes;
  private final CodingService periodic;
  private final CodingProtocol coding;
  private final PendingDeletionReaper reaper;
  private final SimClient.Namenode forClients;

  SimNamenode(MetadataStore store, ManualClock clock, SimWorld world, long seed, PlantedBug bug)
      throws IOException {
    this.store = store;
    Random random = new Random(seed);
    identity = ClusterIdentity.of(store, clock, random);
    cluster =
        new DatanodeRegistry(
            store, IdGenerator.storages(store), clock, BLOCKS, SimTopology.topology(world.racks()));
    blocks = new BlockManager(store, cluster, identity.blockPoolId(), clock, random, BLOCKS);
    StripeManager stripes = new StripeManager(SimCodes.REGISTRY, blocks, cluster);
    blocks.bind(stripes);
    datanodes = new DatanodeFrontEnd(identity, cluster, blocks, (a, b, c, d, e, f) -> {});
    IdGenerators ids = IdGenerators.of(store);
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
    new MkdirService(store, ids.inodes(), clock, NamespaceLimits.DEFAULT).makeRoot(SUPERUSER);
    reaper = new PendingDeletionReaper(store, blocks, stripes);
    forClients =
        new SimClient.Namenode(
            store,
            blocks,
            new DeleteService(store, clock, () -> {}),
            new Caller(SUPERUSER.user(), java.util.Set::of, SUPERUSER),
            ids,
            datanodes);
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
    blocks.tick();
    periodic.tick();
  }
}
