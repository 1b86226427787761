package io.ebbfs.raid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

final class RaidConfigTest {
  @Test
  void theExampleFileHoldsTheDefaultsAndEveryKey() throws Exception {
    String example = Files.readString(Path.of("../conf/raid-node.yaml"));
    assertThat(RaidConfig.parse("raid-node.yaml", example)).isEqualTo(RaidConfig.DEFAULTS);
    String all = example.replaceAll("(?m)^#([a-zA-Z]+:)", "$1");
    RaidConfig config = RaidConfig.parse("raid-node.yaml", all);
    assertThat(config.hadoopConf()).contains(Path.of("/etc/hadoop/conf"));
    assertThat(config)
        .usingRecursiveComparison()
        .ignoringFields("hadoopConf")
        .isEqualTo(RaidConfig.DEFAULTS);
    assertThat(all.lines().filter(line -> line.matches("[a-zA-Z]+:.*")))
        .hasSize(RaidConfig.class.getRecordComponents().length);
  }

  @Test
  void allProblemsAreReportedAtOnceWithTheirLines() {
    assertThatThrownBy(
            () ->
                RaidConfig.parse(
                    "raid-node.yaml",
                    "batsh: 3\nmapTasks: 1000\nlease: soon\nframework: spark\npoll: 1s\n"))
        .isInstanceOf(RaidConfigException.class)
        .hasMessage(
            """
            raid-node.yaml:1: unknown key 'batsh'; did you mean 'batch'?
            raid-node.yaml:2: 'mapTasks: 1000' is out of range; choose from 1 to 64
            raid-node.yaml:3: 'lease: soon' is malformed; write a number and one of ms, s, m, h, such as 30s
            raid-node.yaml:4: 'framework: spark' is unknown; choose one of local, yarn""");
  }

  @Test
  void yarnNeedsHadoopsConfiguration() {
    assertThatThrownBy(() -> RaidConfig.parse("f", "framework: yarn\nhadoopConf: /no/such\n"))
        .hasMessageContaining("f:1:")
        .hasMessageContaining("/no/such, which is no directory");
  }

  @Test
  void whatIsNotYamlIsNamedWithItsLine() {
    assertThatThrownBy(() -> RaidConfig.parse("f", "batch: 1\n\tlease: 2s\n"))
        .hasMessageStartingWith("f:2: not YAML");
  }

  @Test
  void unitsAreUnderstood() throws Exception {
    RaidConfig config = RaidConfig.parse("f", "bytesPerSecond: 10MiB\nlease: 2m\npoll: 100ms\n");
    assertThat(config.bytesPerSecond()).isEqualTo(10 << 20);
    assertThat(config.leaseMillis()).isEqualTo(120_000);
    assertThat(config.pollMillis()).isEqualTo(100);
  }
}
