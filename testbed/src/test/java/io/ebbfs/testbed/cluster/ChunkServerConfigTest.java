package io.ebbfs.testbed.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

final class ChunkServerConfigTest {
  private static final Path FILE = Path.of("chunk-server.yaml");

  @Test
  void theExampleFileHoldsTheDefaultsAndEveryKey() throws Exception {
    String example = Files.readString(Path.of("../conf/chunk-server.yaml"));
    assertThat(ChunkServerConfig.parse(FILE, example)).isEqualTo(ChunkServerConfig.DEFAULTS);
    assertThat(example.lines().filter(line -> line.matches(" *[a-zA-Z]+: .*")))
        .hasSize(ChunkServerConfig.class.getRecordComponents().length);
  }

  @Test
  void becomesOptions() throws Exception {
    assertThat(ChunkServerConfig.parse(FILE, "scrub: {period: 2s, bytesPerSecond: 1MiB}").options())
        .containsExactly(
            "--balance-bytes-per-second",
            "104857600",
            "--balance-moves",
            "100",
            "--scrub-period-seconds",
            "2",
            "--scrub-bytes-per-second",
            "1048576",
            "--kernel",
            "auto");
    assertThat(
            ChunkServerConfig.parse(FILE, "{disks: [/a, /b], transferPort: 1, ipcPort: 2}")
                .placeOptions())
        .containsExactly(
            "--data", "/a,/b", "--transfer-port", "1", "--ipc-port", "2", "--http-port", "9864");
    assertThat(
            ChunkServerConfig.parse(
                    FILE,
                    "{domainSocketPath: /run/x_PORT, balance: {bytesPerSecond: 1GiB, moves: 7}}")
                .placeOptions())
        .endsWith("--domain-socket", "/run/x_PORT");
    assertThat(ChunkServerConfig.parse(FILE, "balance: {bytesPerSecond: 1GiB, moves: 7}").options())
        .startsWith("--balance-bytes-per-second", "1073741824", "--balance-moves", "7");
    assertThat(ChunkServerConfig.parse(FILE, "kernel: jerasure").options())
        .endsWith("--kernel", "jerasure");
    assertThat(ChunkServerConfig.parse(FILE, "scrub: {period: 0}").scrubPeriodMillis()).isZero();
  }

  @Test
  void allProblemsAreReportedAtOnce() {
    assertThatThrownBy(
            () ->
                ChunkServerConfig.parse(
                    FILE,
                    "scrub:\n  period: 1500ms\n  bytesPerSecond: 1B\n  rate: 3\nkernel: fast\n"
                        + "domainSocketPath: dn\nbalance:\n  bytesPerSecond: 1B\n"))
        .hasMessageContaining("chunk-server.yaml:6: 'domainSocketPath: dn' is not an absolute path")
        .hasMessageContaining("chunk-server.yaml:8: 'balance.bytesPerSecond: 1' is too little")
        .hasMessageContaining("chunk-server.yaml:2: 'scrub.period' is no number of whole seconds")
        .hasMessageContaining("chunk-server.yaml:3: 'scrub.bytesPerSecond: 1' is too little")
        .hasMessageContaining("chunk-server.yaml:4: unknown key 'scrub.rate'")
        .hasMessageContaining("chunk-server.yaml:5: 'kernel: fast' is unknown")
        .hasMessageContaining("write one of auto, isal, jerasure, gfni-avx2, gfni-avx512");
  }
}
