package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.common.config.ConfigException;
import io.ebbfs.namenode.NamenodeConfig.Override;
import io.ebbfs.namenode.datanodes.ByteRate;
import io.ebbfs.namenode.datanodes.RebalanceSettings;
import io.ebbfs.namenode.files.trash.TrashSettings;
import io.ebbfs.namenode.tasks.lifecycle.BackgroundLimits;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings.Verification;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NamenodeConfigTest {
  private static final Path EXAMPLE = Path.of("..", "conf", "namenode.yaml");

  @TempDir Path directory;

  @Test
  void theExampleFileShowsTheDefaults() throws Exception {
    NamenodeConfig none =
        new NamenodeConfig(
            Path.of("x"),
            "x",
            1,
            "x",
            null,
            1,
            1024,
            512,
            1,
            1000,
            1,
            1,
            1,
            1,
            1,
            true,
            "x",
            "x",
            "x",
            8 << 20,
            Verification.OFF,
            2,
            "x",
            1,
            "x",
            1,
            1,
            0.5,
            1,
            1,
            2,
            "x",
            1,
            BackgroundLimits.NONE,
            ByteRate.UNLIMITED,
            1,
            "x",
            java.util.List.of(),
            1,
            1,
            java.util.List.of("someone"),
            2_000,
            new RebalanceSettings(true, 0.5, 1, 1),
            "x",
            "x",
            new TrashSettings(60_000, 60_000));

    assertThat(NamenodeConfig.parse(EXAMPLE, Files.readString(EXAMPLE), none))
        .isEqualTo(NamenodeConfig.defaults());
  }

  @Test
  void anAttributeLargerThanHdfsAllowsIsRefused() throws Exception {
    assertThatThrownBy(
            () -> NamenodeConfig.parse(EXAMPLE, "xattrSize: 33KiB", NamenodeConfig.defaults()))
        .hasMessageContaining("write 32KiB or less");
  }

  @Test
  void theExampleFileMayBeNamed() throws Exception {
    assertThat(NamenodeConfig.of(Optional.of(EXAMPLE), List.of(), Optional.empty()))
        .isEqualTo(NamenodeConfig.defaults());
  }

  @Test
  void theCommandLineGoesOverTheFile() throws Exception {
    Path file = Files.writeString(directory.resolve("n.yaml"), "port: 1\nblockSize: 1MiB\n");
    NamenodeConfig config =
        NamenodeConfig.of(
            Optional.of(file),
            List.of(
                new Override("--port", "port", "2"),
                new Override("--data", "data", "/some where/it's"),
                new Override("--kafka", "kafka", "127.0.0.1:9092"),
                new Override("--set leaseSoftLimit=3s", "leaseSoftLimit", "3s")),
            Optional.of(Path.of("r")));

    assertThat(config.port()).isEqualTo(2);
    assertThat(config.blockSize()).isEqualTo(1 << 20);
    assertThat(config.data()).isEqualTo(Path.of("/some where/it's"));
    assertThat(config.kafka()).isEqualTo("127.0.0.1:9092");
    assertThat(config.readyFile()).isEqualTo(Path.of("r"));
    assertThat(config.leaseSoftLimit()).isEqualTo(3_000);
  }

  @Test
  void allProblemsComeAtOnceWithLineAndNearestKey() throws Exception {
    Path file =
        Files.writeString(
            directory.resolve("n.yaml"), "blokSize: 1MiB\nport: 99999\nreplication: 0\n");

    assertThatThrownBy(() -> NamenodeConfig.of(Optional.of(file), List.of(), Optional.empty()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("n.yaml:1")
        .hasMessageContaining("did you mean 'blockSize'?")
        .hasMessageContaining("n.yaml:2")
        .hasMessageContaining("n.yaml:3");
  }

  @Test
  void verificationIsOnUnlessItIsSetToSomethingElse() throws Exception {
    assertThat(NamenodeConfig.defaults().verify()).isEqualTo(Verification.ON);
    NamenodeConfig config = over(set("verify", "checksums"), set("rewriteDeadShare", "0.5"));
    assertThat(config.verify()).isEqualTo(Verification.CHECKSUMS);
    assertThat(config.rewriteDeadShare()).isEqualTo(0.5);
    assertThatThrownBy(() -> over(set("verify", "maybe")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("choose on, checksums or off");
  }

  @Test
  void theServicePortNeedsMoreThreadsThanReportsTake() {
    assertThatThrownBy(
            () ->
                over(
                    set("servicePort", "8021"),
                    set("serviceHandlers", "6"),
                    set("reportsAtOnce", "6")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("serviceHandlers (6) is not above reportsAtOnce (6)");
  }

  @Test
  void theTrashKeepsFilesForMinutesAndHasACheckpointInThatTime() throws Exception {
    NamenodeConfig config = over(set("trashInterval", "6h"), set("trashCheckpointInterval", "90s"));
    assertThat(config.trash()).isEqualTo(new TrashSettings(21_600_000, 90_000));
    assertThat(NamenodeServer.defaults(config).getTrashInterval()).isEqualTo(360);
    assertThat(NamenodeServer.defaults(NamenodeConfig.defaults()).getTrashInterval()).isZero();
    assertThatThrownBy(() -> over(set("trashInterval", "90s")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("'trashInterval: 90000ms' is no whole number of minutes");
    assertThatThrownBy(() -> over(set("trashInterval", "1h"), set("trashCheckpointInterval", "2h")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("make it at most as long, or 0 for the same");
  }

  @Test
  void wrongOverridesAreNamed() {
    assertThatThrownBy(() -> over(set("leaseSoftLimt", "1s")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("did you mean 'leaseSoftLimit'?");
    assertThatThrownBy(
            () ->
                NamenodeConfig.of(
                    Optional.of(Path.of("/no/such/file")), List.of(), Optional.empty()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("cannot be read");
  }

  private static Override set(String key, String value) {
    return new Override("--set " + key + "=" + value, key, value);
  }

  private static NamenodeConfig over(Override... overrides) throws ConfigException {
    return NamenodeConfig.of(Optional.empty(), List.of(overrides), Optional.empty());
  }
}
