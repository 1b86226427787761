package io.ebbfs.manager;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.manager.config.ManagerConfig;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A person uses the dashboard in Chromium, on a telephone and on a screen. Chromium is Debian's;
 * Playwright comes from PyPI into an environment of its own below target.
 */
@Tag("process")
class DashboardBrowserTest {
  private static final String PLAYWRIGHT = "playwright==1.65.2";
  private static final Path ENVIRONMENT = Path.of("target/playwright").toAbsolutePath();
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
      """;

  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(ints = {390, 1280})
  void everyActionWorksAtThisWidth(int width) throws Exception {
    Path python = python();
    Path shots = Files.createDirectories(ENVIRONMENT.resolveSibling("dashboard"));
    try (ManagerRig rig = new ManagerRig(directory, POLICIES)) {
      long now = System.currentTimeMillis();
      for (int i = 0; i < 60; i++) {
        rig.namenode.addFile("/cold/file-%02d".formatted(i), now, 1 << 20);
      }
      rig.namenode.addFile("/elsewhere/x", now, 5);
      rig.start(new ManagerConfig.Schedule(3_600_000, 1_000, 3_600_000, 500));
      run(
          List.of(
              python.toString(),
              Path.of("src/test/playwright/dashboard_test.py").toAbsolutePath().toString(),
              rig.address(),
              Files.readString(rig.token).strip(),
              Integer.toString(width),
              shots.toString()));
    }
  }

  /** The Python with Playwright. Processes that build the same tree wait for one another. */
  private static Path python() throws Exception {
    Files.createDirectories(ENVIRONMENT);
    Path python = ENVIRONMENT.resolve("bin/python");
    Path installed = ENVIRONMENT.resolve(PLAYWRIGHT);
    try (FileChannel file =
            FileChannel.open(
                ENVIRONMENT.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = file.lock()) {
      if (!Files.exists(installed)) {
        run(List.of("python3", "-m", "venv", ENVIRONMENT.toString()));
        run(List.of(python.toString(), "-m", "pip", "install", "--quiet", PLAYWRIGHT));
        Files.writeString(installed, "");
      }
    }
    return python;
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
