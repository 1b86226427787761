package io.ebbfs.namenode.datanodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.common.time.ManualClock;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.InMemoryStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.server.protocol.DisallowedDatanodeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** HDFS's file of hosts in JSON, and what it lets servers do. */
class HostListsTest {
  private static final long LATE = 4_102_444_800_000L;

  @TempDir Path directory;

  private HostLists read(String json) throws IOException {
    Path file = directory.resolve("hosts.json");
    Files.writeString(file, json);
    return HostLists.readJson(file);
  }

  @Test
  void statesOfAllKindsAreRead() throws IOException {
    HostLists lists =
        read(
            """
            [ {"hostName": "a.example"},
              {"hostName": "b.example", "port": 9866, "adminState": "DECOMMISSIONED"},
              {"hostName": "c.example", "adminState": "IN_MAINTENANCE",
               "maintenanceExpireTimeInMS": 4102444800000, "upgradeDomain": "x"},
              {"hostName": "d.example", "adminState": "IN_MAINTENANCE"} ]
            """);
    assertThat(lists.included())
        .containsExactlyInAnyOrder("a.example", "b.example:9866", "c.example", "d.example");
    assertThat(lists.excluded().names()).containsExactly("b.example:9866");
    assertThat(lists.hibernating())
        .isEqualTo(Map.of("c.example", LATE, "d.example", Long.MAX_VALUE));
    assertThat(lists.hibernatesUntil("c.example", "10.0.0.3", 9866)).isEqualTo(Optional.of(LATE));
    assertThat(lists.admits("a.example", "10.0.0.1", 1)).isTrue();
    assertThat(lists.admits("b.example", "10.0.0.2", 1)).as("another port").isFalse();
    assertThat(lists.admits("e.example", "10.0.0.5", 1)).isFalse();
  }

  @Test
  void aFileWithoutAServerInServiceLimitsNobody() throws IOException {
    for (String state : List.of("IN_MAINTENANCE", "DECOMMISSIONED")) {
      HostLists lists = read("[ {\"hostName\": \"w3\", \"adminState\": \"%s\"} ]".formatted(state));
      assertThat(lists.admits("w1", "10.0.0.1", 9866)).as(state).isTrue();
      assertThat(lists.admits("w3", "10.0.0.3", 9866)).as(state).isTrue();
    }
  }

  @Test
  void aServerIsKnownByTheAddressOfItsName() throws IOException {
    HostLists lists =
        read("""
                [ {"hostName": "localhost", "port": 9866},
                  {"hostName": "localhost", "port": 9867, "adminState": "IN_MAINTENANCE"} ]
                """)
            .withAddresses();
    assertThat(lists.admits("w1", "127.0.0.1", 9866)).isTrue();
    assertThat(lists.admits("w1", "127.0.0.1", 9868)).isFalse();
    assertThat(lists.hibernatesUntil("w1", "127.0.0.1", 9867)).isPresent();
  }

  @Test
  void listsThatShutOutAllLiveServersAreRefused() throws IOException {
    DatanodeRegistry registry = registry(new InMemoryStore(), new ManualClock());
    DatanodeID known = new DatanodeID("127.0.0.1", "w1", "uuid-1", 1, 2, 3, 4);
    registry.register(known);
    HostLists lists = new HostLists(Set.of("w1.example.com"), ExcludedServers.NONE, Map.of());
    assertThatThrownBy(() -> registry.apply(lists))
        .hasMessageContaining("name none of the 1 live servers")
        .hasMessageContaining("nothing was changed");
    registry.requireAdmitted(known);
  }

  @Test
  void aWrongFileIsRefusedWithItsNameAndARemedy() {
    assertThatThrownBy(() -> HostLists.readJson(directory.resolve("none")))
        .hasMessageContaining("none of hosts cannot be read: create it");
    assertThatThrownBy(() -> read("[ {\"hostName\": "))
        .hasMessageContaining("hosts.json of hosts is no list in JSON");
    assertThatThrownBy(() -> read("[ {\"hostName\": \"a b\"} ]"))
        .hasMessageContaining("the hostName 'a b' is none");
    assertThatThrownBy(
            () -> read("[ {\"hostName\": \"a\", \"adminState\": \"DECOMMISSION_INPROGRESS\"} ]"))
        .hasMessageContaining("adminState");
  }

  @Test
  void onlyServersOfTheListRegisterAndTheListOutlivesARestart() throws IOException {
    InMemoryStore store = new InMemoryStore();
    ManualClock clock = new ManualClock();
    DatanodeID in = new DatanodeID("127.0.0.1", "in.example", "uuid-in", 1, 2, 3, 4);
    DatanodeID out = new DatanodeID("127.0.0.2", "out.example", "uuid-out", 1, 2, 3, 4);
    DatanodeRegistry registry = registry(store, clock);
    registry.requireAdmitted(out);
    registry.register(in);
    long until = clock.millis() + 60_000;
    registry.apply(
        new HostLists(Set.of("in.example"), ExcludedServers.NONE, Map.of("in.example", until)));
    assertThatThrownBy(() -> registry.requireAdmitted(out))
        .isInstanceOf(DisallowedDatanodeException.class)
        .hasMessageContaining("refreshNodes");
    DatanodeRegistry next = registry(store, clock);
    next.requireAdmitted(in);
    assertThatThrownBy(() -> next.requireAdmitted(out))
        .isInstanceOf(DisallowedDatanodeException.class);
    assertThat(next.server("uuid-in").orElseThrow().hibernation().orElseThrow().untilMillis())
        .isEqualTo(until);
    next.apply(HostLists.NONE);
    next.requireAdmitted(out);
    assertThat(next.server("uuid-in").orElseThrow().isHibernating()).isFalse();
  }

  private static DatanodeRegistry registry(InMemoryStore store, ManualClock clock)
      throws IOException {
    return new DatanodeRegistry(
        store, IdGenerator.storages(store), clock, RedundancySettings.of(600_000, 30_000));
  }
}
