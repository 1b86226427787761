package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.datanodes.ClusterIdentity;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.peers.ClusterViews;
import io.ebbfs.namenode.peers.HeardWriters;
import io.ebbfs.namenode.replicas.BlockManager;
import io.ebbfs.namenode.rpc.client.FileServices;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.stripes.StripeManager;
import io.ebbfs.protocol.proto.PeerProtos.ClusterViewProto;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.Random;

/**
 * The namenode's own classes while another namenode leads, put together as FollowerServer does,
 * without its network.
 */
final class SimFollower {
  private static final int WRITERS = 100;

  private final DatanodeRegistry cluster;
  private final FileServices files;
  private final Clock clock;
  private final HeardWriters writers;
  private boolean hasView;

  SimFollower(MetadataStore store, Clock timeOfDay, Clock clock, SimWorld world, long seed)
      throws IOException {
    this.clock = clock;
    writers = new HeardWriters(WRITERS, () -> clock.millis() * 1_000_000);
    Random random = new Random(seed);
    ClusterIdentity identity = ClusterIdentity.of(store, timeOfDay, random);
    cluster =
        new DatanodeRegistry(
            store,
            IdGenerator.storages(store),
            clock,
            SimNamenode.BLOCKS,
            SimTopology.topology(world.racks()));
    BlockManager blocks =
        new BlockManager(store, cluster, identity.blockPoolId(), clock, random, SimNamenode.BLOCKS);
    StripeManager stripes = new StripeManager(SimCodes.REGISTRY, blocks, cluster);
    blocks.bind(stripes);
    files =
        SimNamenode.files(
            store,
            IdGenerators.of(store),
            blocks,
            stripes,
            (fileId, block) -> {
              throw new IOException("block " + block.getBlockId() + " is freed by the leader");
            },
            timeOfDay,
            new LeaseManager(clock, Long.MAX_VALUE, Long.MAX_VALUE));
  }

  /** Whether the follower knows the chunk servers, so that it may serve. */
  boolean isReady() {
    return hasView;
  }

  FileServices files() {
    return files;
  }

  /** Notes that a writer lives; the leader hears of it with the next question for its view. */
  boolean hear(String writer) {
    return writers.hear(writer);
  }

  /** The leader, which answers with its view. */
  @FunctionalInterface
  interface Leader {
    ClusterViewProto view(List<String> writers) throws IOException;
  }

  /** Asks the leader for its view, and names the writers. */
  void askForView(Leader leader) throws IOException {
    List<String> named = writers.toTell();
    ClusterViews.apply(leader.view(named), cluster, clock);
    writers.told(named);
    hasView = true;
  }

  /** The chunk servers as this namenode knows them. */
  ClusterViewProto view() {
    return ClusterViews.of(cluster, clock);
  }
}
