package io.ebbfs.cli;

import static io.ebbfs.cli.Ran.ebb;
import static io.ebbfs.cli.Ran.refused;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command lines of up, status, down and dfs. */
class ClusterCommandsTest {
  @TempDir Path directory;

  @Test
  void theCommandEndsWithTwoAndOneMessage() {
    assertThat(refused("down", "--dir", directory.toString())).startsWith("error: no cluster in");
    assertThat(refused("up", "--dir", directory.toString(), "--servers", "0"))
        .isEqualTo("error: servers 0 is out of range: choose from 1 to 64\n");
    assertThat(refused("up", "--colour", "red")).startsWith("error: unknown option --colour");
    assertThat(refused("up", "--block-size", "1x")).contains("write 1048576, 1024k or 1m");
    assertThat(refused("fly")).contains("usage:");
  }

  @Test
  void wrongOptionsAreNamedWithTheNearestOne() {
    assertThat(refused("up", "--servrs", "3")).contains("did you mean --servers?");
    assertThat(refused("up", "--servrs=3")).contains("did you mean --servers?");
    assertThat(refused("status", "--dri", "x")).contains("did you mean --dir?");
    assertThat(refused("up", "--servers")).startsWith("error: --servers has no value\n");
    assertThat(refused("up", "--servers", "many"))
        .contains("'--servers': 'many' is not a whole number");
    assertThat(refused("up", "now")).contains("'now' is one word too many");
    assertThat(refused("up", "--codes", "/none", "--dir", directory.toString()))
        .contains("--codes /none cannot be read");
  }

  @Test
  void wordsForTheStockShellAreNotOptionsOfOurs() {
    String dir = directory.toString();
    assertThat(refused("dfs", "--dir", dir, "-ls", "-R", "--dir", "/")).contains("no cluster in");
    assertThat(refused("dfs", "--dir", dir, "-help")).contains("no cluster in " + dir);
  }

  @Test
  void adminHasCommandsOfOurs() {
    assertThat(ebb("admin", "--help").out())
        .contains("status", "evict", "unevict", "hibernate", "wake", "rebalance");
    String dir = directory.toString();
    assertThat(refused("admin", "--dir", dir, "-report")).contains("no cluster in " + dir);
    assertThat(refused("admin", "--dir", dir, "evict", "h:1", "--dry-run"))
        .contains("no cluster in " + dir);
    assertThat(refused("admin", "evict", "--dir", dir, "h:1")).contains("no cluster in " + dir);
    assertThat(refused("admin", "status", "--dir", dir, "--json")).contains("no cluster in");
    assertThat(refused("admin", "evict")).contains("SERVER");
    assertThat(refused("admin", "hibernate", "h:1")).contains("--for");
    assertThat(refused("admin", "hibernate", "h:1", "--for", "long"))
        .contains("'--for long'", "2h");
    assertThat(refused("admin", "rebalance", "--threshold", "200%"))
        .contains("'--threshold 200%' is no share");
    assertThat(refused("admin", "rebalance", "--bandwidth", "fast"))
        .contains("'--bandwidth fast'", "20MB");
    assertThat(refused("admin", "rebalance", "--plan", "--stop")).contains("choose one");
  }

  @Test
  void helpIsNoRefusal() {
    Ran ran = ebb("up", "--help");
    assertThat(ran.code()).isZero();
    assertThat(ran.out()).contains("--servers", "--racks");
  }
}
