package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.verify.cluster.VerifyCluster;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The configuration files of a cluster reach its processes. Contradicting codes are refused. */
@Timeout(600)
@Tag("process")
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
    try (VerifyCluster cluster =
        VerifyCluster.start(
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
