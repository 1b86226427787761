package io.ebbfs.cli;

import static io.ebbfs.cli.Ran.ebb;
import static io.ebbfs.cli.Ran.refused;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command lines of the lab. */
class LabCommandsTest {
  @TempDir Path directory;

  @Test
  void wrongWordsAreNamed() {
    assertThat(refused("lab")).startsWith("error: a command is missing: choose from up, status");
    assertThat(refused("lab", "stauts")).contains("'stauts'; did you mean status?");
    assertThat(refused("lab", "up", "--rat", "1mbit")).contains("did you mean --rate?");
    assertThat(refused("lab", "up", "--rate")).contains("--rate has no value");
    assertThat(refused("lab", "up", "--block-size", "big")).contains("'big' is no number of bytes");
    assertThat(refused("lab", "exec")).contains("COMMAND is missing");
  }

  @Test
  void aDirectoryWithoutALabIsRefused() {
    String dir = directory.toString();
    assertThat(refused("lab", "status", "--dir", dir)).contains("no cluster in " + dir);
    assertThat(refused("lab", "exec", "--dir", dir, "ls", "-l", "--dir", "/"))
        .contains("no cluster in " + dir);
    assertThat(refused("lab", "dfs", "--dir", dir, "-ls", "/")).contains("no cluster in " + dir);
  }

  @Test
  void helpTellsTheOptions() {
    assertThat(ebb("lab", "up", "--help").out()).contains("--rate", "100mbit");
    assertThat(ebb("lab", "exec", "--help").code()).isZero();
  }
}
