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
    assertThat(topology.rackOf("host1", "10.0.0.1", 9866)).isEqualTo("/b");
    assertThat(topology.rackOf("host1", "10.0.0.1", 9867)).isEqualTo("/a");
    assertThat(topology.rackOf("host3", "10.0.0.3", 9866)).isEqualTo("/c");
    assertThat(topology.rackOf("host4", "10.0.0.4", 9866)).isEqualTo("/default-rack");
    assertThat(RackTopology.none().rackOf("host1", "10.0.0.1", 1)).isEqualTo("/default-rack");
  }

  @Test
  void aChangedFileIsReadAgainUnlessItIsWrong() throws Exception {
    RackTopology topology = RackTopology.of(file("a /1\n", 1_000));
    assertThat(topology.refresh()).isFalse();
    file("a /2\n", 2_000);
    assertThat(topology.refresh()).isTrue();
    assertThat(topology.rackOf("a", "x", 1)).isEqualTo("/2");
    file("a 3\n", 3_000);
    assertThat(topology.refresh()).isFalse();
    assertThat(topology.rackOf("a", "x", 1)).isEqualTo("/2");
  }

  @Test
  void aWrongLineIsNamed() throws Exception {
    Path wrong = file("a /1\nb\n", 1);
    assertThatThrownBy(() -> RackTopology.of(wrong))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("line 2: 'b'")
        .hasMessageContaining("[:port] /rack");
  }
}
