package io.ebbfs.cli.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Packages are made, installed, upgraded, removed and purged. Needs root and Debian's dpkg. */
@Tag("process")
class PackagesSystemTest {
  private static final Path HOME = Path.of("..").toAbsolutePath().normalize();

  @TempDir Path directory;

  private String run(String name, List<String> command) throws Exception {
    Path out = directory.resolve(name + ".out");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(directory.resolve(name + ".err").toFile());
    builder.environment().put("EBB_NO_BUILD", "1");
    Process process = builder.start();
    assertThat(process.waitFor(10, TimeUnit.MINUTES)).as(name + " ends").isTrue();
    String errors = Files.readString(directory.resolve(name + ".err"));
    assertThat(process.exitValue()).as(errors).isZero();
    return Files.readString(out);
  }

  private Path packages(String version) throws Exception {
    Path out = directory.resolve(version);
    String ebb = HOME.resolve("ebb").toString();
    String printed =
        run(
            "package-" + version,
            List.of(ebb, "package", "--version", version, "--out", out.toString()));
    assertThat(printed.lines())
        .hasSize(6)
        .contains(out.resolve("ebbfs-" + version + ".tar.gz").toString())
        .allMatch(path -> Files.exists(Path.of(path)));
    return out;
  }

  private static boolean isRoot() throws IOException {
    return Files.getOwner(Path.of("/proc/self")).getName().equals("root");
  }

  @Test
  void packagesInstallUpgradeAndGoAway() throws Exception {
    assumeTrue(isRoot() && Files.isExecutable(Path.of("/usr/bin/dpkg-shlibdeps")));
    Path older = packages("0.0.1");
    Path newer = packages("0.0.2");
    String script = HOME.resolve("packaging/test/install_test.sh").toString();

    assertThat(run("install", List.of(script, older.toString(), newer.toString())))
        .endsWith("passed\n");
  }
}
