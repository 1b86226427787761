package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stock clients of old and new versions of Hadoop, each in processes of its own. */
@Tag("process")
class StockVersionsSystemTest {
  private static final String PRESENT = "3.5";

  private static TestCluster test;

  @BeforeAll
  static void start() throws Exception {
    test = TestCluster.start(3, 1);
  }

  @AfterAll
  static void stop() throws Exception {
    if (test != null) {
      test.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"2.10", "3.3", PRESENT})
  void theShellOfAVersionWorks(String version) throws Exception {
    String home = "/version-" + version;
    Path file = randomFile(version, TestCluster.BLOCK_BYTES + 12_345);
    Path more = randomFile(version + "-more", 1_000);
    ok(version, "-mkdir", "-p", home + "/a/b");
    ok(version, "-put", file.toString(), home + "/a/b/file");
    ok(version, "-appendToFile", more.toString(), home + "/a/b/file");
    assertThat(ok(version, "-ls", "-R", home)).contains(home + "/a/b/file");
    long bytes = Files.size(file) + Files.size(more);
    assertThat(ok(version, "-stat", "%b %F", home + "/a/b/file"))
        .isEqualTo(bytes + " regular file\n");
    ok(version, "-chmod", "640", home + "/a/b/file");
    ok(version, "-mv", home + "/a", home + "/c");
    Path copy = test.directory().resolve("copy-" + version);
    ok(version, "-get", home + "/c/b/file", copy.toString());
    assertThat(Files.readAllBytes(copy))
        .startsWith(Files.readAllBytes(file))
        .endsWith(Files.readAllBytes(more))
        .hasSize((int) bytes);
    ok(version, "-rm", "-r", "-skipTrash", home);
    assertThat(run(version, "-ls", home)).contains("No such file or directory");
  }

  private static Path randomFile(String name, int bytes) throws Exception {
    byte[] content = new byte[bytes];
    new Random(bytes).nextBytes(content);
    return Files.write(test.directory().resolve("file-" + name), content);
  }

  private static String ok(String version, String... arguments) throws Exception {
    Process process = start(version, arguments);
    String output = new String(process.getInputStream().readAllBytes());
    String errors = new String(process.getErrorStream().readAllBytes());
    assertThat(process.waitFor())
        .as("%s %s: %s %s", version, List.of(arguments), output, errors)
        .isZero();
    return output;
  }

  /** What a command that fails says. */
  private static String run(String version, String... arguments) throws Exception {
    Process process = start(version, arguments);
    String errors = new String(process.getErrorStream().readAllBytes());
    assertThat(process.waitFor()).isNotZero();
    return errors;
  }

  private static Process start(String version, String... arguments) throws Exception {
    List<String> command =
        version.equals(PRESENT)
            ? test.cluster().stockClient().shell(arguments)
            : test.cluster().stockClient().shellOf(version, arguments);
    Process process = new ProcessBuilder(command).start();
    process.getOutputStream().close();
    return process;
  }
}
