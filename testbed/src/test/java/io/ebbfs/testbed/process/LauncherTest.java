package io.ebbfs.testbed.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.testbed.ClusterException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("process")
final class LauncherTest {
  @TempDir Path directory;

  @Test
  void aProcessIsFoundByItsMarkAndEndedBySignal() throws Exception {
    Launcher launcher = new Launcher(directory);
    ProcessId process = launcher.start("sleeper", List.of("sleep", "300"), directory, log());
    try {
      assertThat(process.isAlive()).isTrue();
      assertThat(launcher.running()).contains(process);
      assertThat(new Launcher(directory.resolve("other")).running()).isEmpty();
    } finally {
      process.signal(true);
    }
    assertThat(process.awaitEnd(10_000)).isTrue();
    assertThat(launcher.running()).isEmpty();
  }

  @Test
  void aProcessIsFoundFromTheMomentThatItIsStarted() throws Exception {
    Launcher launcher = new Launcher(directory);
    for (int round = 0; round < 200; round++) {
      ProcessId process = launcher.start("sleeper", List.of("sleep", "300"), directory, log());
      try {
        assertThat(process.environment("EBBFS_CLUSTER")).as("round %d", round).isPresent();
      } finally {
        process.signal(true);
      }
      assertThat(process.awaitEnd(10_000)).isTrue();
    }
  }

  @Test
  void aRecycledPidIsNotTheProcess() {
    ProcessId self = ProcessId.of(ProcessHandle.current().pid()).orElseThrow();
    ProcessId earlier = new ProcessId(self.pid(), self.startTicks() - 1);
    assertThat(self.isAlive()).isTrue();
    assertThat(earlier.isAlive()).isFalse();
    // Without the start time, the signal would end this JVM.
    earlier.signal(true);
    assertThat(self.residentBytes()).isGreaterThan(1 << 20);
  }

  @Test
  void thePortsOfAProcessThatHasEndedAreFree() throws Exception {
    for (int round = 0; round < 5; round++) {
      int port = FreePorts.find(1).get(0);
      Path ready = directory.resolve("ready-" + round);
      ProcessId process =
          new Launcher(directory)
              .start(
                  "listener",
                  List.of(
                      Launcher.java(),
                      "-Xmx128m",
                      "-cp",
                      "target/test-classes",
                      Listener.class.getName(),
                      String.valueOf(port),
                      ready.toString()),
                  Path.of("").toAbsolutePath(),
                  log());
      while (!Files.exists(ready)) {
        assertThat(process.isAlive()).as(log().tail(5)).isTrue();
      }
      assertThat(FreePorts.isFree(port)).isFalse();
      process.signal(true);
      assertThat(process.awaitEnd(60_000)).isTrue();
      assertThat(FreePorts.isFree(port)).as("port %d in round %d", port, round).isTrue();
    }
  }

  @Test
  void aProgramThatIsMissingIsNamed() {
    Launcher launcher = new Launcher(directory);
    assertThatThrownBy(
            () -> {
              ProcessId process =
                  launcher.start("none", List.of("/no/such/program"), directory, log());
              process.awaitEnd(10_000);
              throw new ClusterException(log().tail(5));
            })
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("/no/such/program");
  }

  @Test
  void anOverlongLogIsRotatedAndItsTailIsBounded() throws Exception {
    Files.createDirectories(log().file().getParent());
    Files.write(log().file(), new byte[(16 << 20) + 1]);
    log().rotate();
    assertThat(log().file()).doesNotExist();
    Files.writeString(log().file(), "a\nb\nc\n");
    assertThat(log().tail(2)).isEqualTo("\n    b\n    c");
  }

  private ServerLog log() {
    return new ServerLog(directory.resolve("logs/test.log"));
  }
}
