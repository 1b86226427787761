package io.ebbfs.raid.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.common.config.ConfigException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

final class RaidConfigTest {
  private static final Path FILE = Path.of("raid-node.yaml");

  @Test
  void theExampleFileHoldsTheDefaultsAndEveryKey() throws Exception {
    String example = Files.readString(Path.of("../conf/raid-node.yaml"));
    assertThat(RaidConfig.parse(FILE, example)).isEqualTo(RaidConfig.DEFAULTS);
    assertThat(example.lines().filter(line -> line.matches("#?[a-zA-Z]+:.*")))
        .hasSize(RaidConfig.class.getRecordComponents().length);
  }

  @Test
  void allProblemsAreReportedAtOnceWithTheirLines() {
    assertThatThrownBy(
            () ->
                RaidConfig.parse(
                    FILE, "batsh: 3\nmapTasks: 1000\nlease: 1ms\nframework: spark\npoll: 1s\n"))
        .isInstanceOf(ConfigException.class)
        .hasMessage(
            """
            raid-node.yaml:1: unknown key 'batsh'; did you mean 'batch'?
            raid-node.yaml:2: 'mapTasks: 1000' is not a number in range; write a number from 1 to 64
            raid-node.yaml:3: 'lease: 1 ms' is out of range; choose from 1 s to 60 min
            raid-node.yaml:4: 'framework: spark' is unknown; choose local or yarn""");
  }

  @Test
  void yarnNeedsHadoopsConfiguration() {
    assertThatThrownBy(() -> RaidConfig.parse(FILE, "framework: yarn\nhadoopConf: /no/such\n"))
        .hasMessageContaining("raid-node.yaml:1:")
        .hasMessageContaining("/no/such, which is no directory");
  }

  @Test
  void executorsOnYarnLiveLongerThanTheirSuccessorsTakeToStart() throws Exception {
    assertThat(RaidConfig.parse(FILE, "executorLife: 10s\n").executorLifeMillis())
        .isEqualTo(10_000);
    assertThatThrownBy(
            () -> RaidConfig.parse(FILE, "executorLife: 90s\nframework: yarn\nhadoopConf: .\n"))
        .hasMessage(
            "raid-node.yaml:1: 'executorLife: 90 s' is out of range; choose from 2 min to 24 h");
  }
}
