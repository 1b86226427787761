package io.ebbfs.namenode.datanodes;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.common.time.ManualClock;
import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.DatanodeRegistry.DiskReport;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.MetadataStore;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.junit.jupiter.api.Test;

class DatanodeRegistryTest {
  private static final DatanodeID SERVER = new DatanodeID("10.0.0.1", "s", "s", 1, 2, 3, 4);

  private final ManualClock clock = new ManualClock();
  private final MetadataStore store = new InMemoryStore();

  private DatanodeRegistry registry() throws IOException {
    return new DatanodeRegistry(
        store, IdGenerator.storages(store), clock, RedundancySettings.of(10_000, 20_000));
  }

  private static List<DiskReport> working(String... disks) {
    return Stream.of(disks).map(disk -> new DiskReport(disk, false, 10, 0, 10)).toList();
  }

  private static List<String> lost(DatanodeRegistry registry, String... disks) throws IOException {
    return registry.heartbeat(SERVER, working(disks), 0).orElseThrow().stream()
        .map(Disk::storageUuid)
        .toList();
  }

  @Test
  void aHeartbeatTellsOnceOfADiskThatHasFailed() throws IOException {
    DatanodeRegistry registry = registry();
    registry.register(SERVER);
    assertThat(lost(registry, "a", "b")).isEmpty();
    assertThat(lost(registry, "a")).containsExactly("b");
    assertThat(lost(registry, "a")).isEmpty();
  }

  @Test
  void aFailureThatAnotherNamenodeHasWrittenIsNotMissed() throws IOException {
    DatanodeRegistry former = registry();
    former.register(SERVER);
    lost(former, "a", "b");
    DatanodeRegistry leader = registry();
    leader.register(SERVER);
    lost(leader, "a", "b");
    assertThat(lost(former, "a")).containsExactly("b");
    // A new disk has the leader read the row, in which the other disk has failed.
    assertThat(lost(leader, "a", "new")).containsExactly("b");
  }
}
