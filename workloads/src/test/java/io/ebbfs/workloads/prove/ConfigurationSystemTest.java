package io.ebbfs.workloads.prove;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.cluster.ClusterException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the files of a cluster say reaches its processes, and what contradicts it is refused. */
@Timeout(300)
class ConfigurationSystemTest {
  private static final int SERVERS = 4;
  private static final int DISKS = 3;
  private static final String CODES =
      """
      codes:
        - name: mine
          code: RS(4,2)
          tolerance: 2
      """;

  @TempDir Path directory;

  @Test
  void kernelsAreChosenAndCodesThatDifferAreNoticed() throws Exception {
    try (ProvingCluster cluster =
        ProvingCluster.start(
            directory.resolve("cluster"),
            SERVERS,
            DISKS,
            Map.of("codes.yaml", CODES, "chunk-server.yaml", "kernel: jerasure\n"))) {
      for (int server = 0; server < SERVERS; server++) {
        assertThat(cluster.directory().resolve("logs/server-%02d.log".formatted(server)))
            .content()
            .contains("computed by jerasure");
      }

      Path codes = cluster.directory().resolve("conf/codes.yaml");
      cluster.local().killControl();
      Files.writeString(codes, CODES.replace("RS(4,2)", "RS(5,2)"));
      assertThatThrownBy(() -> cluster.local().startControl())
          .isInstanceOf(ClusterException.class)
          .hasMessageContaining("code mine is fingerprint")
          .hasMessageContaining("give both the same codes.yaml");

      Files.writeString(codes, CODES);
      cluster.local().startControl();
      assertThat(cluster.local().running()).containsKey("control");
    }
  }
}
