package io.ebbfs.namespace.simulation;

import io.ebbfs.namespace.IdGenerator;
import io.ebbfs.namespace.IdGenerators;
import io.ebbfs.namespace.ManualClock;
import io.ebbfs.namespace.block.BlockManager;
import io.ebbfs.namespace.block.BlockSettings;
import io.ebbfs.namespace.block.ClusterIdentity;
import io.ebbfs.namespace.block.ClusterMap;
import io.ebbfs.namespace.block.DatanodeFrontEnd;
import io.ebbfs.namespace.coding.BlockCounts;
import io.ebbfs.namespace.coding.CodingService;
import io.ebbfs.namespace.coding.MetadataCheck;
import io.ebbfs.namespace.coding.MetadataCheck.Finding;
import io.ebbfs.namespace.coding.MetadataCheck.Severity;
import io.ebbfs.namespace.inode.Caller;
import io.ebbfs.namespace.inode.Deletions;
import io.ebbfs.namespace.inode.Limits;
import io.ebbfs.namespace.inode.Namespace;
import io.ebbfs.namespace.inode.Reaper;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.stripe.StripeManager;
import io.ebbfs.namespace.transition.TransitionSettings;
import io.ebbfs.namespace.transition.TransitionSettings.Verification;
import io.ebbfs.protocol.CodingProtocol;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol;

/** The namenode's own classes, put together for one process life. */
final class SimNamenode {
  private static final Caller.Superuser SUPERUSER = new Caller.Superuser("sim", "sim");
  private static final BlockSettings BLOCKS =
      new BlockSettings(8_000, 3_000, 10_000, 10_000, 4, 1_000, 2_000, 4_000, 2_000, 10_000);
  private static final TransitionSettings TRANSITIONS = settings(6);
  // What lacks space or servers ends as such before a schedule does.
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
  private final ClusterMap cluster;
  private final BlockManager blocks;
  private final DatanodeFrontEnd datanodes;
  private final CodingService coding;
  private final Reaper reaper;
  private final SimClient.Namenode forClients;

  SimNamenode(MetadataStore store, ManualClock clock, World world, long seed) throws IOException {
    this.store = store;
    Random random = new Random(seed);
    identity = ClusterIdentity.of(store, clock, random);
    cluster =
        new ClusterMap(
            store, IdGenerator.storages(store), clock, BLOCKS, Racks.topology(world.racks()));
    blocks = new BlockManager(store, cluster, identity.blockPoolId(), clock, random, BLOCKS);
    StripeManager stripes = new StripeManager(blocks);
    blocks.bind(stripes);
    datanodes = new DatanodeFrontEnd(identity, cluster, blocks, (a, b, c, d, e, f) -> {});
    IdGenerators ids = IdGenerators.of(store);
    coding =
        new CodingService(
            identity.blockPoolId(),
            store,
            ids,
            blocks,
            new BlockCounts(() -> 0, () -> 0, disk -> 0),
            cluster,
            stripes,
            clock,
            random,
            world.isTight() ? FEW_ATTEMPTS : TRANSITIONS);
    new Namespace(store, ids.inodes(), clock, Limits.DEFAULT).initialize(SUPERUSER);
    reaper = new Reaper(store, blocks, stripes);
    forClients =
        new SimClient.Namenode(
            store,
            blocks,
            new Deletions(store, clock, () -> {}),
            new Caller(SUPERUSER.user(), java.util.Set::of, SUPERUSER),
            ids,
            datanodes);
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

  /** What the rows contradict each other in. */
  List<Finding> check() throws IOException {
    return MetadataCheck.run(store, cluster, 10).stream()
        .filter(finding -> finding.severity() == Severity.WRONG)
        .toList();
  }

  /** All periodic work, once. */
  void tick() throws IOException {
    reaper.reapAll();
    blocks.tick();
    coding.tick();
  }
}
