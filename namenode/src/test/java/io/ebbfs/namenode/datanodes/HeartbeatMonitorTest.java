package io.ebbfs.namenode.datanodes;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.common.time.ManualClock;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry.DiskReport;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.MetadataStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HeartbeatMonitorTest {
  private static final long DEAD_AFTER = 10_000;
  private static final long GRACE = 20_000;

  private final ManualClock clock = new ManualClock();
  private final MetadataStore store = new InMemoryStore();
  private DatanodeRegistry registry;
  private HeartbeatMonitor monitor;

  @BeforeEach
  void start() throws IOException {
    registry =
        new DatanodeRegistry(
            store, IdGenerator.storages(store), clock, RedundancySettings.of(DEAD_AFTER, GRACE));
    monitor = new HeartbeatMonitor(registry, clock, DEAD_AFTER);
  }

  private static DatanodeID id(String uuid) {
    return new DatanodeID("10.0.0.1", uuid, uuid, 1, 2, 3, 4);
  }

  private List<String> passSeconds(int seconds) {
    List<String> dead = new ArrayList<>();
    for (int i = 0; i < seconds; i++) {
      clock.advance(1_000);
      monitor.declareDeadServers().stream().map(Server::uuid).forEach(dead::add);
    }
    return dead;
  }

  @Test
  void aSilentServerIsDeclaredDeadOnce() throws IOException {
    registry.register(id("silent"));
    assertThat(passSeconds(10)).isEmpty();
    assertThat(passSeconds(5)).containsExactly("silent");
    assertThat(registry.liveServers()).isEmpty();
    assertThat(registry.allServers()).hasSize(1);
  }

  @Test
  void aServerThatSendsHeartbeatsStaysLive() throws IOException {
    registry.register(id("live"));
    for (int i = 0; i < 4; i++) {
      assertThat(passSeconds(6)).isEmpty();
      assertThat(registry.heartbeat(id("live"), List.of(), 0)).isPresent();
    }
  }

  @Test
  void aDeadServerHasToRegisterAgain() throws IOException {
    registry.register(id("back"));
    assertThat(passSeconds(15)).containsExactly("back");
    assertThat(registry.heartbeat(id("back"), List.of(), 0)).isEmpty();
    registry.register(id("back"));
    assertThat(registry.liveServers()).hasSize(1);
  }

  @Test
  void aServerThatThePreviousLeaderSawIsLiveUntilItIsSilentForTooLong() throws IOException {
    registry.register(id("dead"));
    assertThat(passSeconds(15)).containsExactly("dead");
    registry.register(id("comes"));
    registry.register(id("stays away"));
    registry.ensureDisk("comes", "disk");
    DiskReport disk = new DiskReport("disk", false, 100, 10, 90);
    registry.heartbeat(id("comes"), List.of(disk), 5);
    List<Server> seen = registry.allServers();
    DatanodeRegistry next =
        new DatanodeRegistry(
            store, IdGenerator.storages(store), clock, RedundancySettings.of(DEAD_AFTER, GRACE));
    assertThat(next.liveServers()).isEmpty();
    next.presume(seen);
    assertThat(next.liveServers())
        .extracting(Server::uuid)
        .containsExactlyInAnyOrder("comes", "stays away");
    assertThat(next.isLive("disk")).isTrue();
    assertThat(next.disk("disk").orElseThrow().remainingBytes()).isEqualTo(90);
    assertThat(next.server("comes").orElseThrow().activeTransfers()).isEqualTo(5);
    assertThat(next.hasReported("disk")).isFalse();
    assertThat(next.inSafeMode()).isTrue();
    assertThat(next.heartbeat(id("comes"), List.of(disk), 5)).as("has to register").isEmpty();
    clock.advance(1_000);
    next.register(id("comes"));
    assertThat(next.heartbeat(id("comes"), List.of(disk), 5)).isPresent();
    monitor = new HeartbeatMonitor(next, clock, DEAD_AFTER);
    clock.advance(DEAD_AFTER - 2_000);
    assertThat(next.heartbeat(id("comes"), List.of(disk), 5)).isPresent();
    assertThat(passSeconds(4)).containsExactly("stays away");
  }

  @Test
  void afterAStallOfThisProcessHeartbeatsAreReadFirst() throws IOException {
    registry.register(id("patient"));
    clock.advance(DEAD_AFTER + 1);
    assertThat(monitor.declareDeadServers()).isEmpty();
    clock.advance(1_000);
    assertThat(monitor.declareDeadServers()).hasSize(1);
  }

  @Test
  void safeModeWaitsForEveryKnownDiskOrForTheGraceTimeAndReadableBlocks() {
    SafeMode safeMode = new SafeMode(clock, GRACE);
    safeMode.awaitDisk("a");
    safeMode.awaitDisk("b");
    assertThat(safeMode.isOn()).isTrue();
    safeMode.diskSettled("a");
    safeMode.diskSettled("b");
    assertThat(safeMode.isOn()).isFalse();

    SafeMode unheard = new SafeMode(clock, GRACE);
    unheard.awaitDisk("a");
    clock.advance(10 * GRACE);
    assertThat(unheard.isOn()).as("no server could report yet").isTrue();
    unheard.serverRegistered();
    clock.advance(GRACE - 1);
    assertThat(unheard.isOn()).isTrue();
    clock.advance(1);
    assertThat(unheard.isOn()).as("blocks are on no disk that has reported").isTrue();
    unheard.blocksAreReadable();
    assertThat(unheard.isOn()).isFalse();
  }
}
