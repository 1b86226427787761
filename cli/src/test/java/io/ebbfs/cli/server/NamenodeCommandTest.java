package io.ebbfs.cli.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.NamenodeConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What the command line of a namenode makes of its configuration. */
class NamenodeCommandTest {
  private static final Path EXAMPLE = Path.of("..", "conf", "namenode.yaml");

  @TempDir Path directory;

  private static NamenodeConfig config(String... words) throws Exception {
    NamenodeCommand command = new NamenodeCommand();
    new CommandLine(command).setOverwrittenOptionsAllowed(true).parseArgs(words);
    return command.config();
  }

  @Test
  void theExampleFileMayBeNamed() throws Exception {
    assertThat(config("--conf", EXAMPLE.toString())).isEqualTo(NamenodeConfig.defaults());
    assertThat(config()).isEqualTo(NamenodeConfig.defaults());
  }

  @Test
  void theCommandLineGoesOverTheFile() throws Exception {
    Path file = Files.writeString(directory.resolve("n.yaml"), "port: 1\nblockSize: 1MiB\n");
    NamenodeConfig config =
        config(
            "--conf", file.toString(),
            "--port", "2",
            "--data", "/some where/it's",
            "--kafka", "127.0.0.1:9092",
            "--ready-file", "r",
            "--set", "leaseSoftLimit=3s");

    assertThat(config.port()).isEqualTo(2);
    assertThat(config.blockSize()).isEqualTo(1 << 20);
    assertThat(config.data()).isEqualTo(Path.of("/some where/it's"));
    assertThat(config.kafka()).isEqualTo("127.0.0.1:9092");
    assertThat(config.readyFile()).isEqualTo(Path.of("r"));
    assertThat(config.leaseSoftLimit()).isEqualTo(3_000);
  }

  @Test
  void aLaterOptionWins() throws Exception {
    NamenodeConfig config =
        config("--set", "port=1", "--set", "verify=off", "--port", "2", "--set", "replication=5");
    assertThat(config.port()).isEqualTo(2);
    assertThat(config.replication()).isEqualTo(5);
    assertThat(config("--port", "2", "--set", "port=1").port()).isEqualTo(1);
  }
}
