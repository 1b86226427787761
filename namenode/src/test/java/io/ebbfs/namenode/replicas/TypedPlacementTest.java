package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.datanodes.RackTopology;
import io.ebbfs.namenode.policies.StoragePolicies;
import io.ebbfs.namenode.replicas.BlockService.Target;
import io.ebbfs.namenode.replicas.BlockService.WriteRequest;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replicas are put on the types of disks that HDFS's policies name, and move to them. */
class TypedPlacementTest {
  private static final int SERVERS = 8;
  private static final List<StorageType> TYPES =
      List.of(StorageType.DISK, StorageType.SSD, StorageType.ARCHIVE, StorageType.RAM_DISK);

  private static BlockFixture fixture(Random random, EnumSet<StorageType> types)
      throws IOException {
    BlockFixture f = new BlockFixture(random.nextLong(), SERVERS, 2);
    List<StorageType> of = new ArrayList<>(types);
    int next = 0;
    for (SimulatedServer server : f.servers.values()) {
      for (String storage : server.storages()) {
        server.types.put(storage, of.get(next++ % of.size()));
      }
    }
    f.registerAll();
    f.seconds(20);
    return f;
  }

  /** A cluster of servers that each have disks of these types. */
  private static BlockFixture fixture(List<List<StorageType>> types) throws IOException {
    BlockFixture f = new BlockFixture(5, types.size(), 0);
    int next = 0;
    for (SimulatedServer server : f.servers.values()) {
      for (StorageType type : types.get(next++)) {
        String storage = "%s-%d-%s".formatted(server.uuid, server.disks.size(), type);
        server.disks.put(storage, new TreeMap<>());
        server.types.put(storage, type);
      }
    }
    f.registerAll();
    f.seconds(20);
    return f;
  }

  /** A server that no copy reaches does not keep blocks from being repaired elsewhere. */
  @Test
  void blocksAreRepairedOnAnotherTypeIfTheServersOfTheirTypeFail() throws IOException {
    BlockFixture f =
        fixture(
            List.of(
                List.of(StorageType.DISK),
                List.of(StorageType.DISK),
                List.of(StorageType.ARCHIVE),
                List.of(StorageType.ARCHIVE)));
    List<SimulatedServer> servers = List.copyOf(f.servers.values());
    for (int i = 0; i < 100; i++) {
      f.writeFile(2);
    }
    f.deliverAll();
    servers.get(1).isUnreachable = true;
    servers.get(2).kill();
    f.seconds(70);
    for (long blockId : f.blocks.keySet()) {
      assertThat(f.liveStorages(blockId)).as("replicas of block " + blockId).hasSize(2);
    }
  }

  @Test
  void theTypesOfNewBlocksAreThoseThatHdfsChooses() throws IOException {
    long seed = Long.getLong("seed", new Random().nextLong());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    for (int round = 0; round < 20; round++) {
      EnumSet<StorageType> there = EnumSet.of(TYPES.get(random.nextInt(3)));
      TYPES.stream().filter(type -> random.nextBoolean()).forEach(there::add);
      there.remove(StorageType.RAM_DISK);
      BlockFixture f = fixture(random, there);
      for (BlockStoragePolicy policy : StoragePolicies.all()) {
        int replication = 1 + random.nextInt(4);
        List<StorageType> expected =
            policy.chooseStorageTypes(
                (short) replication, List.of(), EnumSet.complementOf(there), true);
        assertThat(chosen(f, policy, replication))
            .as("seed %d: %s, %d replicas, disks %s", seed, policy, replication, there)
            .containsExactlyInAnyOrderElementsOf(expected);
      }
    }
  }

  /** Nothing if the policy allows no disk that is there. */
  private static List<StorageType> chosen(
      BlockFixture f, BlockStoragePolicy policy, int replication) {
    try {
      List<Target> targets =
          f.manager.chooseTargets(
              new WriteRequest("/f", replication, BlockFixture.BLOCK_BYTES, "x", Set.of(), Set.of())
                  .on(TypeWish.forNewBlock(policy, replication)));
      f.manager.giveBack(targets);
      return targets.stream().map(target -> target.disk().type()).toList();
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("storage policy " + policy.getName());
      return List.of();
    }
  }

  @Test
  void aLostReplicaIsRebuiltOnTheTypeOfThePolicy() throws IOException {
    BlockFixture f = fixture(new Random(1), EnumSet.of(StorageType.DISK, StorageType.ARCHIVE));
    BlockRow block = f.writeFile(3); // any disks
    f.deliverAll();
    f.holder(f.liveStorages(block.getBlockId()).get(0)).kill();
    for (int i = 0; i < 60; i++) {
      f.second();
      f.deliverAll();
    }
    List<String> live = f.liveStorages(block.getBlockId());
    assertThat(live).hasSize(3);
    assertThat(types(f, block)).contains(StorageType.DISK);
  }

  @Test
  void replicasMoveToTheTypesOfThePolicyAndNoneIsMissingMeanwhile() throws IOException {
    for (StorageType of : List.of(StorageType.DISK, StorageType.ARCHIVE)) {
      BlockFixture f = fixture(new Random(2), EnumSet.of(StorageType.DISK, StorageType.ARCHIVE));
      BlockRow block = f.writeFile(3);
      f.deliverAll();
      BlockStoragePolicy policy =
          StoragePolicies.named(of == StorageType.DISK ? "HOT" : "COLD").orElseThrow();
      for (int i = 0; i < 60 && !types(f, block).equals(List.of(of, of, of)); i++) {
        f.manager.satisfy(block.getBlockId(), policy);
        f.second();
        f.deliverAll();
        assertThat(f.liveStorages(block.getBlockId())).hasSizeGreaterThanOrEqualTo(3);
      }
      assertThat(types(f, block)).containsExactly(of, of, of);
    }
  }

  /** A move away from a server is no reason to delete what the server gets later. */
  @Test
  void replicasMoveBackToAServerThatABalancerHasEmptied() throws IOException {
    BlockFixture f =
        fixture(
            List.of(
                List.of(StorageType.DISK, StorageType.ARCHIVE),
                List.of(StorageType.DISK),
                List.of(StorageType.ARCHIVE)));
    List<SimulatedServer> servers = List.copyOf(f.servers.values());
    BlockRow block;
    do { // until both replicas are on disks of type ARCHIVE
      block = f.writeFile(2);
      f.deliverAll();
    } while (types(f, block).contains(StorageType.DISK));
    f.manager.replaces(block.getBlockId(), servers.get(1).uuid);
    for (int i = 0; i < 20; i++) {
      f.manager.satisfy(block.getBlockId(), hot());
      f.second();
      f.deliverAll();
    }
    assertThat(types(f, block)).containsExactly(StorageType.DISK, StorageType.DISK);
  }

  private static BlockStoragePolicy hot() {
    return StoragePolicies.named("HOT").orElseThrow();
  }

  private static SimulatedServer addServer(BlockFixture f, int number, StorageType... types)
      throws IOException {
    SimulatedServer server =
        f.servers.containsKey("server-%02d".formatted(number))
            ? f.servers.get("server-%02d".formatted(number))
            : new SimulatedServer(number, 0, f.identity, f.servers, (s, d, b) -> {});
    for (StorageType type : types) {
      String storage = "%s-%d-%s".formatted(server.uuid, server.disks.size(), type);
      server.disks.put(storage, new TreeMap<>());
      server.types.put(storage, type);
    }
    server.register(f.frontEnd);
    f.seconds(3);
    return server;
  }

  /** If all disks of the type are in one rack, a replica stays where it is for the second rack. */
  @Test
  void aBlockStaysInTwoRacksAndIsNotCopiedAgainAndAgain(@TempDir Path directory)
      throws IOException {
    Path racks = directory.resolve("racks");
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 7; i++) {
      lines.append("127.0.0.1:%d /r%d%n".formatted(10_000 + i, i < 4 ? i % 2 : 3));
    }
    Files.writeString(racks, lines);
    BlockFixture f = new BlockFixture(5, 0, 0);
    f.topology = RackTopology.of(racks);
    f.startNamenode();
    for (int i = 0; i < 4; i++) {
      addServer(f, i, StorageType.ARCHIVE);
    }
    f.seconds(20);
    BlockRow block = f.writeFile(3);
    f.deliverAll();
    for (int i = 4; i < 7; i++) {
      addServer(f, i, StorageType.DISK);
    }
    int moves = 0;
    for (int i = 0; i < 30; i++) {
      moves += f.manager.satisfy(block.getBlockId(), hot()).moves();
      f.seconds(2);
    }
    assertThat(types(f, block))
        .containsExactlyInAnyOrder(StorageType.DISK, StorageType.DISK, StorageType.ARCHIVE);
    assertThat(moves).isLessThan(10);
    assertThat(f.manager.satisfy(block.getBlockId(), hot())).isEqualTo(TypeMoves.Ordered.NOTHING);
  }

  @Test
  void aBlockThatLacksReplicasMovesAllTheSame() throws IOException {
    BlockFixture f = new BlockFixture(5, 0, 0);
    addServer(f, 0, StorageType.ARCHIVE);
    addServer(f, 1, StorageType.ARCHIVE);
    f.seconds(20);
    BlockRow block = f.writeFile(3);
    f.deliverAll();
    addServer(f, 0, StorageType.DISK);
    addServer(f, 1, StorageType.DISK);
    for (int i = 0; i < 10; i++) {
      f.manager.satisfy(block.getBlockId(), hot());
      f.second();
    }
    assertThat(types(f, block)).containsExactly(StorageType.DISK, StorageType.DISK);
    assertThat(f.manager.satisfy(block.getBlockId(), hot())).isEqualTo(TypeMoves.Ordered.NOTHING);
  }

  @Test
  void movesWithinAServerSpreadOverItsDisks() throws IOException {
    BlockFixture f = new BlockFixture(5, 0, 0);
    addServer(f, 0, StorageType.ARCHIVE);
    f.seconds(20);
    for (int i = 0; i < 40; i++) {
      f.writeFile(1);
    }
    f.deliverAll();
    SimulatedServer server =
        addServer(f, 0, StorageType.DISK, StorageType.DISK, StorageType.DISK, StorageType.DISK);
    for (int i = 0; i < 40; i++) {
      for (long blockId : f.blocks.keySet()) {
        f.manager.satisfy(blockId, hot());
      }
      f.second();
    }
    server.disks.forEach(
        (storage, replicas) -> {
          if (server.types.get(storage) == StorageType.DISK) {
            assertThat(replicas).as(storage).hasSizeBetween(5, 15);
          } else {
            assertThat(replicas).isEmpty();
          }
        });
  }

  private static List<StorageType> types(BlockFixture f, BlockRow block) throws IOException {
    return f.liveStorages(block.getBlockId()).stream().map(f.cluster::typeOf).toList();
  }

  @Test
  void typesSurviveARestart() throws IOException {
    BlockFixture f = fixture(new Random(3), EnumSet.of(StorageType.SSD, StorageType.ARCHIVE));
    f.startNamenode();
    assertThat(f.cluster.hasTypedDisks()).isTrue();
    f.servers
        .values()
        .forEach(
            server ->
                server.types.forEach(
                    (uuid, type) -> assertThat(f.cluster.typeOf(uuid)).isEqualTo(type)));
  }
}
