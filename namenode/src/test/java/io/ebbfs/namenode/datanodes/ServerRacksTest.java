package io.ebbfs.namenode.datanodes;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.common.time.ManualClock;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.MetadataStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The racks of registered servers, told by a program. */
class ServerRacksTest {
  @TempDir Path directory;

  private final MetadataStore store = new InMemoryStore();

  private DatanodeRegistry registry() throws IOException {
    return new DatanodeRegistry(
        store,
        IdGenerator.storages(store),
        new ManualClock(),
        RedundancySettings.of(10_000, 20_000),
        RackTopology.of("", directory.resolve("racks.sh").toString()));
  }

  private void program(String words, long modifiedMillis) throws IOException {
    Files.setLastModifiedTime(
        RackScriptTest.program(directory, words), FileTime.fromMillis(modifiedMillis));
  }

  private static DatanodeID id(String uuid, String address) {
    return new DatanodeID(address, uuid, uuid, 1, 2, 3, 4);
  }

  private static String rackOf(DatanodeRegistry registry, String uuid) {
    return registry.server(uuid).orElseThrow().rack();
  }

  @Test
  void aServerIsInTheRackThatTheProgramPrints() throws Exception {
    program("for a; do echo /rack-$a; done", 1_000);
    DatanodeRegistry registry = registry();
    registry.register(id("one", "10.0.0.1"));
    registry.register(id("two", "10.0.0.2"));
    assertThat(rackOf(registry, "one")).isEqualTo("/rack-10.0.0.1");

    program("for a; do echo /moved-$a; done", 2_000);
    registry.refreshRacks();
    assertThat(rackOf(registry, "one")).isEqualTo("/moved-10.0.0.1");
    assertThat(rackOf(registry, "two")).isEqualTo("/moved-10.0.0.2");
  }

  @Test
  void whileTheProgramFailsServersKeepTheirRacks() throws Exception {
    program("echo /known", 1_000);
    registry().register(id("one", "10.0.0.1"));

    program("exit 1", 2_000);
    DatanodeRegistry restarted = registry();
    restarted.register(id("one", "10.0.0.1"));
    restarted.register(id("new", "10.0.0.2"));
    restarted.refreshRacks();
    assertThat(rackOf(restarted, "one")).isEqualTo("/known");
    assertThat(rackOf(restarted, "new")).isEqualTo("/default-rack");

    program("for a; do echo /repaired; done", 3_000);
    restarted.refreshRacks();
    assertThat(rackOf(restarted, "one")).isEqualTo("/repaired");
    assertThat(rackOf(restarted, "new")).isEqualTo("/repaired");
  }
}
