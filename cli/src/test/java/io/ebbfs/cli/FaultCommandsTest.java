package io.ebbfs.cli;

import static io.ebbfs.cli.Ran.ebb;
import static io.ebbfs.cli.Ran.refused;
import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.common.failpoint.FailPoint;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command lines of faults; no process of a cluster runs here. */
class FaultCommandsTest {
  @TempDir Path temp;

  @Test
  void aDirectoryWithoutAClusterIsRefused() {
    String dir = temp + "/none";
    assertThat(refused("fault", "slow-link", "0", "1mbit", "--dir", dir)).contains("no cluster in");
    assertThat(refused("fault", "kill-all", "--dir", dir)).contains("no cluster in");
    assertThat(refused("fault", "delete-block", "99", "--dir", dir)).contains("no cluster in");
    assertThat(refused("fault", "timetable", "f", "--dir", dir)).contains("no cluster in");
    assertThat(refused("fault", "fail-disk", "1", "--dir", dir)).contains("the disk is missing");
    assertThat(refused("fault", "arm", "nowhere", "--dir", dir))
        .contains("no fail point 'nowhere': 'ebb fault points' lists them");
    assertThat(
            refused(
                "fault",
                "arm",
                FailPoint.values()[0].pointName(),
                "--action",
                "sing",
                "--dir",
                dir))
        .contains("choose kill, error or 'stall SECONDS'");
  }

  @Test
  void wrongWordsAreNamed() {
    assertThat(refused("fault", "fly")).contains("unknown command 'fly'");
    assertThat(refused("fault")).contains("a command is missing");
    assertThat(refused("fault", "kill-server", "first"))
        .contains("N: 'first' is not a whole number");
    assertThat(refused("fault", "kill-server", "--sed", "1")).contains("did you mean --seed?");
    assertThat(refused("fault", "kill-server", "--seed")).contains("--seed has no value");
    assertThat(refused("fault", "flap")).contains("N is missing");
    assertThat(refused("fault", "flap", "1", "2", "soon"))
        .contains("'soon' is no duration: write 500ms, 10s or 1m");
    assertThat(refused("fault", "arm", "x", "--server", "a")).contains("'a' is not a whole number");
  }

  @Test
  void pointsAreListed() {
    Ran ran = ebb("fault", "points");
    assertThat(ran.code()).isZero();
    assertThat(ran.out().lines()).hasSizeGreaterThan(20);
  }
}
