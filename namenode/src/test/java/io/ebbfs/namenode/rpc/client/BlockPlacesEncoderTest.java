package io.ebbfs.namenode.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.common.time.ManualClock;
import io.ebbfs.namenode.Seeds;
import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.files.io.FilePlaces;
import io.ebbfs.namenode.replicas.BlockManager;
import io.ebbfs.namenode.replicas.BlockPlaces;
import io.ebbfs.namenode.replicas.BlockPlaces.Place;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.InMemoryStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hdfs.protocol.LocatedBlocks;
import org.apache.hadoop.hdfs.protocol.SystemErasureCodingPolicies;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.AddBlockResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.GetBlockLocationsResponseProto;
import org.apache.hadoop.hdfs.protocolPB.PBHelperClient;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;

/** The bytes of our encoder are those of Hadoop's classes, over random rows. */
class BlockPlacesEncoderTest {
  private static final String POOL = "BP-1-ebbfs-2";
  private static final int SERVERS = 6;

  private final long seed = Seeds.next(BlockPlacesEncoderTest.class);
  private final Random random = new Random(seed);
  private final RandomRows rows = new RandomRows(random);
  private final BlockPlacesEncoder encoder = new BlockPlacesEncoder(POOL);
  private final List<Server> servers = new ArrayList<>();
  private BlockManager hadoop;

  @BeforeEach
  void start() throws IOException {
    InMemoryStore store = new InMemoryStore();
    ManualClock clock = new ManualClock();
    RedundancySettings settings = RedundancySettings.of(10_000, 20_000);
    DatanodeRegistry cluster =
        new DatanodeRegistry(store, IdGenerator.storages(store), clock, settings);
    hadoop = new BlockManager(store, cluster, POOL, clock, random, settings);
    for (int i = 0; i < SERVERS; i++) {
      servers.add(server("server-" + i));
    }
  }

  /** A server as a heartbeat may describe it. */
  private Server server(String uuid) {
    List<Disk> disks = new ArrayList<>();
    for (int left = random.nextInt(4); left > 0; left--) {
      long capacity = random.nextLong() >>> 5 + random.nextInt(50);
      long used = (long) (capacity * random.nextDouble() / 2);
      disks.add(
          new Disk(
              rows.text(10), 1, uuid, random.nextInt(4) == 0, capacity, used, capacity - used));
    }
    return new Server(
        uuid,
        "host-" + rows.text(10),
        "192.0.2." + random.nextInt(256),
        random.nextInt(65_536),
        random.nextInt(65_536),
        random.nextInt(65_536),
        "/rack-" + rows.text(5),
        random.nextBoolean(),
        rows.number(),
        random.nextInt(1_000),
        disks);
  }

  private BlockPlaces places() {
    List<Place> places = new ArrayList<>();
    for (int left = random.nextInt(5); left > 0; left--) {
      boolean proxy = random.nextInt(4) == 0;
      places.add(
          new Place(servers.get(random.nextInt(SERVERS)), proxy ? "" : "DS-" + rows.text(20)));
    }
    byte[] groupIndices = null;
    if (random.nextInt(3) == 0) {
      groupIndices = new byte[places.size()];
      random.nextBytes(groupIndices);
    }
    return new BlockPlaces(
        rows.block(),
        rows.number(),
        places,
        !places.isEmpty() && random.nextBoolean(),
        groupIndices);
  }

  @RepeatedTest(100)
  void locationsHaveTheBytesOfHadoop() {
    // The second file meets servers that the encoder has described before, and newer ones.
    for (int i = 0; i < 2; i++) {
      FilePlaces file = file();
      assertThat(encoder.locations(file))
          .as("seed %d", seed)
          .isEqualTo(
              GetBlockLocationsResponseProto.newBuilder()
                  .setLocations(PBHelperClient.convert(located(file)))
                  .build()
                  .toByteArray());
      int changed = random.nextInt(SERVERS);
      servers.set(changed, server("server-" + changed));
    }
  }

  private FilePlaces file() {
    List<BlockPlaces> blocks = new ArrayList<>();
    for (int left = random.nextInt(6); left > 0; left--) {
      blocks.add(places());
    }
    return new FilePlaces(
        rows.number(),
        random.nextBoolean(),
        blocks,
        random.nextInt(4) == 0 ? null : places(),
        random.nextBoolean(),
        SystemErasureCodingPolicies.getByID((byte) random.nextInt(6)));
  }

  private LocatedBlocks located(FilePlaces file) {
    return new LocatedBlocks(
        file.lengthBytes(),
        file.underConstruction(),
        file.blocks().stream().map(hadoop::located).toList(),
        file.last() == null ? null : hadoop.located(file.last()),
        file.lastComplete(),
        null,
        file.policy());
  }

  @RepeatedTest(50)
  void anAddedBlockHasTheBytesOfHadoop() {
    BlockPlaces block = places();
    assertThat(encoder.added(block))
        .as("seed %d", seed)
        .isEqualTo(
            AddBlockResponseProto.newBuilder()
                .setBlock(PBHelperClient.convertLocatedBlock(hadoop.located(block)))
                .build()
                .toByteArray());
  }
}
