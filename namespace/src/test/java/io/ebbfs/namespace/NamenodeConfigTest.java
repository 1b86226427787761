package io.ebbfs.namespace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namespace.transition.TransitionSettings.Verification;
import io.ebbfs.settings.ConfigException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
            8 << 20,
            Verification.OFF,
            2,
            "x");

    assertThat(NamenodeConfig.parse(EXAMPLE, Files.readString(EXAMPLE), none))
        .isEqualTo(NamenodeConfig.defaults());
  }

  @Test
  void theExampleFileMayBeNamed() throws Exception {
    assertThat(NamenodeConfig.of(List.of("--conf", EXAMPLE.toString())))
        .isEqualTo(NamenodeConfig.defaults());
  }

  @Test
  void theCommandLineGoesOverTheFile() throws Exception {
    Path file = Files.writeString(directory.resolve("n.yaml"), "port: 1\nblockSize: 1MiB\n");
    NamenodeConfig config =
        NamenodeConfig.of(
            List.of(
                "--conf", file.toString(),
                "--port", "2",
                "--data", "/some where/it's",
                "--kafka", "127.0.0.1:9092",
                "--ready-file", "r",
                "--set", "leaseSoftLimit=3s"));

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

    assertThatThrownBy(() -> NamenodeConfig.of(List.of("--conf", file.toString())))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("n.yaml:1")
        .hasMessageContaining("did you mean 'blockSize'?")
        .hasMessageContaining("n.yaml:2")
        .hasMessageContaining("n.yaml:3");
  }

  @Test
  void verificationIsOnUnlessItIsSetToSomethingElse() throws Exception {
    assertThat(NamenodeConfig.defaults().verify()).isEqualTo(Verification.ON);
    NamenodeConfig config =
        NamenodeConfig.of(List.of("--set", "verify=checksums", "--set", "rewriteDeadShare=0.5"));
    assertThat(config.verify()).isEqualTo(Verification.CHECKSUMS);
    assertThat(config.rewriteDeadShare()).isEqualTo(0.5);
    assertThatThrownBy(() -> NamenodeConfig.of(List.of("--set", "verify=maybe")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("choose on, checksums or off");
  }

  @Test
  void wrongArgumentsAreNamed() {
    assertThatThrownBy(() -> NamenodeConfig.of(List.of("--prot", "1")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("--prot")
        .hasMessageContaining("usage");
    assertThatThrownBy(() -> NamenodeConfig.of(List.of("--port")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("no value");
    assertThatThrownBy(() -> NamenodeConfig.of(List.of("--set", "leaseSoftLimt=1s")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("did you mean 'leaseSoftLimit'?");
    assertThatThrownBy(() -> NamenodeConfig.of(List.of("--conf", "/no/such/file")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("cannot be read");
  }
}
