package io.ebbfs.cli.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Releases are made, installed, upgraded, removed and purged. Needs Debian's dpkg, and root for the
 * packages.
 *
 * <p>Two releases of this tree differ in their numbers alone. The system property {@code
 * ebb.previous} names the tar file of an earlier release, from which the rolling upgrade then
 * begins.
 */
@Tag("process")
class PackagesSystemTest {
  private static final Path HOME = Path.of("..").toAbsolutePath().normalize();
  private static final String OLDER = "0.0.1";
  private static final String NEWER = "0.0.2";
  private static final String PREVIOUS = System.getProperty("ebb.previous");
  private static final int FILES_OF_A_RELEASE = 9;

  @TempDir static Path directory;

  @BeforeAll
  static void makeReleases() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/dpkg-shlibdeps")));
    make(OLDER);
    make(NEWER);
  }

  private static void make(String version) throws Exception {
    Path out = directory.resolve(version);
    String ebb = HOME.resolve("ebb").toString();
    String printed =
        run(
            "package-" + version,
            List.of(ebb, "package", "--version", version, "--out", out.toString()));
    assertThat(printed.lines())
        .hasSize(FILES_OF_A_RELEASE)
        .contains(tar(version).toString())
        .allMatch(path -> Files.exists(Path.of(path)));
  }

  private static Path tar(String version) {
    return directory.resolve(version).resolve("ebbfs-" + version + ".tar.gz");
  }

  private static String run(String name, List<String> command) throws Exception {
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

  /** The directory with the launcher of an unpacked release. */
  private static Path unpack(Path tar, String name) throws Exception {
    Path into = Files.createDirectories(directory.resolve(name));
    run(name, List.of("tar", "-xzf", tar.toString(), "-C", into.toString()));
    try (Stream<Path> entries = Files.list(into)) {
      return entries.findFirst().orElseThrow();
    }
  }

  private static boolean isRoot() throws IOException {
    return Files.getOwner(Path.of("/proc/self")).getName().equals("root");
  }

  @Test
  void packagesInstallUpgradeAndGoAway() throws Exception {
    assumeTrue(isRoot());
    String script = HOME.resolve("packaging/test/install_test.sh").toString();

    assertThat(
            run(
                "install",
                List.of(
                    script,
                    directory.resolve(OLDER).toString(),
                    directory.resolve(NEWER).toString())))
        .endsWith("passed\n");
  }

  @Test
  @Tag("long")
  void aRollingUpgradeLosesNothingAndFailsNoCall() throws Exception {
    Path before = unpack(PREVIOUS == null ? tar(OLDER) : Path.of(PREVIOUS), "before");
    Path after = unpack(tar(NEWER), "after");
    assertThat(Files.readString(before.resolve("VERSION")))
        .isNotEqualTo(Files.readString(after.resolve("VERSION")));

    try (ReleasedCluster cluster = ReleasedCluster.start(before, directory.resolve("cluster"));
        SteadyClient client = SteadyClient.start(cluster.clientSettings())) {
      client.awaitCalls(20);
      for (String role : cluster.roles()) {
        cluster.upgrade(role, after);
        client.awaitCalls(10);
      }
      assertThat(cluster.runningIn(after)).isEqualTo(cluster.roles());
      SteadyClient.Account account = client.stop();
      System.out.printf("rolling upgrade: %s%n", account);

      assertThat(account.failures()).isEmpty();
      assertThat(account.longestCallMillis()).isLessThan(30_000);
      assertThat(client.filesThatDiffer()).isEqualTo(Map.of());
    }
  }
}
