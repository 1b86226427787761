package io.ebbfs.namenode.datanodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RackTopologyTest {
  @TempDir Path directory;

  private Path file(String text, long modifiedMillis) throws IOException {
    Path file = Files.writeString(directory.resolve("topology"), text);
    Files.setLastModifiedTime(file, FileTime.fromMillis(modifiedMillis));
    return file;
  }

  @Test
  void aLineWithThePortGoesFirst() throws Exception {
    RackTopology topology =
        RackTopology.of(
            file("# servers\n10.0.0.1 /a\n10.0.0.1:9866 /b # the second\n\nhost3 /c\n", 1));
    assertThat(topology.rackOf("host1", "10.0.0.1", 9866)).contains("/b");
    assertThat(topology.rackOf("host1", "10.0.0.1", 9867)).contains("/a");
    assertThat(topology.rackOf("host3", "10.0.0.3", 9866)).contains("/c");
    assertThat(topology.rackOf("host4", "10.0.0.4", 9866)).contains("/default-rack");
    assertThat(RackTopology.none().rackOf("host1", "10.0.0.1", 1)).contains("/default-rack");
  }

  @Test
  void aChangedFileIsReadAgainUnlessItIsWrong() throws Exception {
    RackTopology topology = RackTopology.of(file("a /1\n", 1_000));
    file("a /2\n", 2_000);
    topology.refresh();
    assertThat(topology.rackOf("a", "x", 1)).contains("/2");
    file("a 3\n", 3_000);
    topology.refresh();
    assertThat(topology.rackOf("a", "x", 1)).contains("/2");
  }

  @Test
  void aWrongLineIsNamed() throws Exception {
    Path wrong = file("a /1\nb\n", 1);
    assertThatThrownBy(() -> RackTopology.of(wrong))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("line 2: 'b'")
        .hasMessageContaining("[:port] /rack");
  }

  @Test
  void theTableGoesBeforeTheProgram() throws Exception {
    Path program = RackScriptTest.program(directory, "for a; do echo /script; done");
    RackTopology topology = RackTopology.of(file("a /1\n", 1).toString(), program.toString());

    assertThat(topology.rackOf("a", "10.0.0.1", 1)).contains("/1");
    assertThat(topology.rackOf("b", "10.0.0.2", 1)).contains("/script");
  }
}
