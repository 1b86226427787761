package io.ebbfs.testbed.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.network.ShapedNetwork;
import io.ebbfs.testbed.process.Ports;
import io.ebbfs.testbed.process.ProcessId;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ClusterLayoutTest {
  @TempDir Path directory;

  @Test
  void aLayoutIsReadAsItWasWritten() throws Exception {
    ClusterLayout layout =
        new ClusterLayout(
            1,
            3,
            2,
            1 << 20,
            200,
            Ports.fixed(9000, 0, 3),
            new ShapedNetwork(3, "100mbit"),
            2,
            Map.of("namenode", new ProcessId(17, 4711)));
    layout.write(directory);
    assertThat(ClusterLayout.read(directory)).isEqualTo(layout);
  }

  @Test
  void whatIsNoClusterIsNamed() throws Exception {
    assertThatThrownBy(() -> ClusterLayout.read(directory))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("no cluster in " + directory);
    Files.writeString(directory.resolve("cluster.json"), "{\"format\": 1, \"serv");
    assertThatThrownBy(() -> ClusterLayout.read(directory))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("is damaged");
    Files.writeString(directory.resolve("cluster.json"), "{\"format\": 2}");
    assertThatThrownBy(() -> ClusterLayout.read(directory))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("has format 2");
  }
}
