package io.ebbfs.manager;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.manager.config.ManagerConfig;
import io.ebbfs.manager.model.ModelNamenode;
import io.ebbfs.protocol.proto.CodingProtos.ScrubStatusProto;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A person uses the dashboard in Chromium, on a telephone and on a screen. The script {@code
 * run.sh} finds Chromium and Playwright.
 */
@Tag("process")
class DashboardBrowserTest {
  private static final int MOST_SECONDS = 300;
  private static final String POLICIES =
      """
      policies:
        - name: cold
          paths: [/cold]
          family: product
          storageBound: 1.5
          writeColdAfter: 1h
          readHot: {perMiB: 1}
          fillWait: 0
        - name: frozen
          paths: [/frozen]
          family: product
          writeColdAfter: 1s
          readHot: {perMiB: 1}
          fillWait: 0
      """;

  /** The lines of the audit log: each action that was confirmed, and no dry run. */
  private static final List<String> AUDITED =
      List.of(
          "pause",
          "resume",
          "bound",
          "clusterbound",
          "drain",
          "undrain",
          "hibernate",
          "wake",
          "rebalance",
          "stoprebalance",
          "scrub",
          "convert",
          "cancel",
          "retry",
          "convert",
          "pin",
          "pin");

  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(ints = {390, 1280})
  void everyActionWorksAtThisWidth(int width) throws Exception {
    Path scripts = Path.of("src/test/playwright").toAbsolutePath();
    Path shots = Files.createDirectories(Path.of("target/dashboard").toAbsolutePath());
    try (ManagerRig rig = new ManagerRig(directory, POLICIES)) {
      store(rig.namenode);
      rig.start(new ManagerConfig.Schedule(3_600_000, 1_000, 3_600_000, 500));
      rig.evaluate();
      rig.namenode.completeAll(new Random(1));
      rig.evaluate();
      run(
          List.of(
              scripts.resolve("run.sh").toString(),
              "dashboard_test.py",
              rig.address(),
              Files.readString(rig.token).strip(),
              Integer.toString(width),
              shots.toString()));
      assertThat(Files.readAllLines(directory.resolve("data/audit.log")))
          .filteredOn(line -> line.contains("allowed=true"))
          .extracting(line -> line.replaceAll(".*cmd=([a-z]+).*", "$1"))
          .filteredOn(command -> !command.equals("evaluate"))
          .isEqualTo(AUDITED);
    }
  }

  private static void store(ModelNamenode namenode) {
    long now = System.currentTimeMillis();
    for (int i = 0; i < 60; i++) {
      namenode.addFile("/cold/file-%02d".formatted(i), now, 1 << 20);
      namenode.addFile("/frozen/file-%02d".formatted(i), now - 60_000, 1 << 20);
    }
    namenode.addFile("/elsewhere/x", now, 5);
    namenode.drainRefusals.put(
        "uuid-5",
        "stripes in PC(6x5) survive the loss of any server on 12 servers or more, and 11 live servers stay: add servers");
    namenode.scrub =
        ScrubStatusProto.newBuilder()
            .setPass(3)
            .setPassStartedMillis(50)
            .setPassStripes(40)
            .setPassFindings(2)
            .setEndedMillis(60)
            .setEndedStripes(40)
            .setEndedFindings(2)
            .setPeriodMillis(1)
            .build();
  }

  private static void run(List<String> command) throws IOException, InterruptedException {
    Path output = Files.createTempFile("dashboard", ".log");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(MOST_SECONDS, TimeUnit.SECONDS))
          .as("%s ends; it wrote: %s", command.get(1), Files.readString(output))
          .isTrue();
      assertThat(process.exitValue()).as(Files.readString(output)).isZero();
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      Files.delete(output);
    }
  }
}
