package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.common.time.ManualClock;
import io.ebbfs.namenode.datanodes.ClusterIdentity;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.RackTopology;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.datanodes.SharedRandom;
import io.ebbfs.namenode.replicas.BlockService.WriteRequest;
import io.ebbfs.namenode.rpc.datanode.DatanodeFrontEnd;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.MetadataStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.hdfs.AddBlockFlag;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.server.common.HdfsServerConstants.NodeType;
import org.apache.hadoop.hdfs.server.common.StorageInfo;
import org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException;
import org.apache.hadoop.hdfs.server.protocol.DatanodeRegistration;
import org.apache.hadoop.hdfs.server.protocol.DatanodeStorage;
import org.apache.hadoop.hdfs.server.protocol.StorageReport;
import org.apache.hadoop.hdfs.server.protocol.VolumeFailureSummary;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Where blocks go whose writers favor or avoid servers: six servers, 10.0.0.1 to 6, in two racks.
 */
class WriterWishesTest {
  private static final long FREE = 1L << 40;
  private static final int TIMES = 50;
  private static final String LOCAL = "10.0.0.1";

  @TempDir Path directory;
  private ReplicaTargetChooser chooser;
  private DatanodeFrontEnd frontEnd;
  private ClusterIdentity identity;

  @BeforeEach
  void start() throws IOException {
    Path racks = directory.resolve("racks");
    StringBuilder table = new StringBuilder();
    for (int i = 1; i <= 6; i++) {
      table.append("10.0.0.%d /%s%n".formatted(i, i <= 3 ? "left" : "right"));
    }
    Files.writeString(racks, table);
    MetadataStore store = new InMemoryStore();
    ManualClock clock = new ManualClock();
    Random random = new Random(1);
    RedundancySettings settings = RedundancySettings.of(10_000, 20_000);
    identity = ClusterIdentity.of(store, clock, random);
    DatanodeRegistry cluster =
        new DatanodeRegistry(
            store, IdGenerator.storages(store), clock, settings, RackTopology.of(racks));
    BlockManager manager =
        new BlockManager(store, cluster, identity.blockPoolId(), clock, random, settings);
    frontEnd = new DatanodeFrontEnd(identity, cluster, manager, null);
    chooser = new ReplicaTargetChooser(cluster, clock, new SharedRandom(random));
    for (int i = 1; i <= 6; i++) {
      heartbeat(i, FREE);
    }
  }

  private DatanodeRegistration register(int server) throws IOException {
    DatanodeRegistration registration =
        new DatanodeRegistration(
            new DatanodeID(
                "10.0.0." + server, "host" + server, "server-" + server, 9866, 1, 2, 9867),
            new StorageInfo(
                -57, identity.namespaceId(), identity.clusterId(), 0, NodeType.DATA_NODE),
            null,
            "3.5.0");
    frontEnd.registerDatanode(registration);
    return registration;
  }

  private void heartbeat(int server, long freeBytes) throws IOException {
    DatanodeRegistration registration = register(server);
    frontEnd.sendHeartbeat(
        registration,
        new StorageReport[] {
          new StorageReport(
              new DatanodeStorage("disk-" + server), false, FREE, FREE - freeBytes, freeBytes, 0, 0)
        },
        0,
        0,
        0,
        0,
        0,
        new VolumeFailureSummary(new String[0], 0, 0),
        true,
        null,
        null);
  }

  private List<String> chosen(int replication, List<String> favored, AddBlockFlag... flags)
      throws IOException {
    Set<AddBlockFlag> set = EnumSet.noneOf(AddBlockFlag.class);
    set.addAll(List.of(flags));
    return chooser
        .choose(
            new WriteRequest(
                "/f",
                replication,
                1 << 20,
                LOCAL,
                Set.of(),
                Set.of(),
                WriterWishes.of(favored, set)))
        .stream()
        .map(target -> target.server().hostName())
        .toList();
  }

  private static boolean isLeft(String host) {
    return host.compareTo("host3") <= 0;
  }

  @Test
  void favoredServersGetTheReplicasInTheirOrder() throws IOException {
    assertThat(chosen(2, List.of("10.0.0.5:9866", "host2:9866"))).containsExactly("host5", "host2");
    assertThat(chosen(1, List.of("host4", "host5"))).containsExactly("host4");
    assertThat(chosen(3, List.of("host6:0", "host3"))).startsWith("host6", "host3").hasSize(3);
  }

  @Test
  void aFavoredServerThatIsUnknownOrFullIsPassedOver() throws IOException {
    heartbeat(5, 10);
    for (int i = 0; i < TIMES; i++) {
      assertThat(chosen(3, List.of("host5:9866", "nobody:9866", "host2:1", "host6:9866", ":", "")))
          .startsWith("host6")
          .doesNotContain("host5")
          .hasSize(3);
    }
  }

  /** As when another namenode begins to lead: the client repeats the call by itself. */
  @Test
  void theFirstHeartbeatOfAServerIsAwaited() throws IOException {
    for (int i = 1; i <= 6; i++) {
      heartbeat(i, 10);
    }
    assertThatThrownBy(() -> chosen(1, List.of()))
        .isExactlyInstanceOf(IOException.class)
        .hasMessageContaining("no disk with");
    register(7);
    assertThatThrownBy(() -> chosen(1, List.of())).isInstanceOf(NotReplicatedYetException.class);
    heartbeat(7, FREE);
    assertThat(chosen(1, List.of())).containsExactly("host7");
  }

  @Test
  void aBlockStaysOnTwoRacksWhateverIsFavored() throws IOException {
    List<String> left = List.of("host1", "host2", "host3");
    for (int i = 0; i < TIMES; i++) {
      assertThat(chosen(3, left)).startsWith("host1", "host2").anyMatch(host -> !isLeft(host));
      assertThat(chosen(2, left)).startsWith("host1").anyMatch(host -> !isLeft(host));
    }
    assertThat(chosen(1, left)).containsExactly("host1");
  }

  @Test
  void withoutWishesTheFirstReplicaIsOnTheMachineOfTheWriter() throws IOException {
    for (int i = 0; i < TIMES; i++) {
      assertThat(chosen(3, List.of())).startsWith("host1");
    }
  }

  @Test
  void aWriterMayAvoidItsMachineOrItsRack() throws IOException {
    boolean isElsewhere = false;
    for (int i = 0; i < TIMES; i++) {
      assertThat(chosen(3, List.of(), AddBlockFlag.NO_LOCAL_WRITE)).doesNotContain("host1");
      assertThat(chosen(1, List.of(), AddBlockFlag.NO_LOCAL_RACK))
          .noneMatch(WriterWishesTest::isLeft);
      assertThat(chosen(3, List.of(), AddBlockFlag.NO_LOCAL_RACK))
          .as("on two racks")
          .satisfiesOnlyOnce(host -> assertThat(host).matches(WriterWishesTest::isLeft));
      isElsewhere |=
          !chosen(1, List.of(), AddBlockFlag.IGNORE_CLIENT_LOCALITY).equals(List.of("host1"));
    }
    assertThat(isElsewhere).isTrue();
  }

  @Test
  void whatIsAvoidedIsTakenIfNothingElseHasRoom() throws IOException {
    for (int i = 2; i <= 6; i++) {
      heartbeat(i, 10);
    }
    assertThat(chosen(1, List.of(), AddBlockFlag.NO_LOCAL_RACK)).containsExactly("host1");
  }
}
