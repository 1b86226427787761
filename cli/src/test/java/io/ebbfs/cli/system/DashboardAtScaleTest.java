package io.ebbfs.cli.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.verify.scale.ScaleDashboard;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A person looks at the dashboard of a namespace that is larger than a page, in Chromium. The same
 * script looks at that of 10 million files (docs/scale.md).
 */
@Tag("process")
@Tag("long")
class DashboardAtScaleTest {
  private static final int FILES = 20_000;
  private static final int MOST_SECONDS = 300;

  /** Other tests take the processors meanwhile: the command of docs/scale.md asks for 300. */
  private static final int MOST_MILLIS = 10_000;

  @TempDir Path directory;

  @Test
  void noPageHoldsAllFiles() throws Exception {
    Path served = directory.resolve("served");
    Path output = directory.resolve("browser.log");
    try (ScaleDashboard dashboard = new ScaleDashboard(FILES, served, System.out)) {
      dashboard.open();
      Process browser =
          new ProcessBuilder(
                  "../adaptive-manager/src/test/playwright/run.sh",
                  "dashboard_at_scale.py",
                  dashboard.address(),
                  Files.readString(dashboard.tokenFile()).strip(),
                  Integer.toString(FILES),
                  Files.createDirectories(Path.of("target/dashboard-at-scale")).toString(),
                  Integer.toString(MOST_MILLIS))
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      try {
        boolean ended = browser.waitFor(MOST_SECONDS, TimeUnit.SECONDS);
        assertThat(ended).as("ends; it wrote: %s", Files.readString(output)).isTrue();
        assertThat(browser.exitValue()).as(Files.readString(output)).isZero();
      } finally {
        browser.descendants().forEach(ProcessHandle::destroyForcibly);
        browser.destroyForcibly();
      }
    }
    assertThat(served).doesNotExist();
  }
}
