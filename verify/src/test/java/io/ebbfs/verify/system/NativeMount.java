package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Runs the programs of {@code mount_test.py} on a mount of {@code ebb mount}. */
final class NativeMount {
  private static final int NO_FUSE = 77;
  private static final int FILES = 100;
  private static final int DIRECTORIES = 20;
  private static final int MOST_BYTES = 40_000;
  private static final long MOST_SECONDS = 120;
  private static final long END_SECONDS = 10;

  private final List<String> command;
  private final Path tree;

  /**
   * @param conf the directory with {@code core-site.xml}
   * @param work an empty directory
   */
  NativeMount(Build build, Path conf, Path work) throws ClusterException {
    this.command =
        List.of(
            build.home().resolve("chunk-cluster/test/mount_test.py").toString(),
            build.nativeMount().toString(),
            conf.toString(),
            work.toString());
    this.tree = work.resolve("tree");
  }

  /** Makes the files that the test copies: their paths below the tree. */
  List<String> writeTree(long seed) throws IOException {
    Random random = new Random(seed);
    List<String> paths = new ArrayList<>();
    for (int i = 0; i < FILES; i++) {
      String path = "d%d/e%d/file %d".formatted(i % DIRECTORIES, i % 3, i);
      byte[] bytes = new byte[i % 10 == 0 ? 0 : random.nextInt(MOST_BYTES)];
      random.nextBytes(bytes);
      Files.createDirectories(tree.resolve(path).getParent());
      Files.write(tree.resolve(path), bytes);
      paths.add(path);
    }
    return paths;
  }

  Path tree() {
    return tree;
  }

  /** Skips the test where the machine cannot mount. */
  void run() throws IOException, InterruptedException {
    Path output = Files.createTempFile("mount-test-", ".txt");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    process.getOutputStream().close();
    boolean ended = process.waitFor(MOST_SECONDS, TimeUnit.SECONDS);
    if (!ended) {
      endMount();
      // Without the process, the test fails and takes the mount away.
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
    }
    String printed = Files.readString(output, StandardCharsets.UTF_8);
    Files.delete(output);
    assertThat(ended).as("no end after %d s: %s", MOST_SECONDS, printed).isTrue();
    int code = process.exitValue();
    assumeTrue(code != NO_FUSE, () -> "no FUSE: " + printed);
    assertThat(code).as(printed).isZero();
    assertThat(printed).endsWith("passed\n");
  }

  /** The process of the mount is a child of nobody. A program that waits for it gets an error. */
  private void endMount() {
    ProcessHandle.allProcesses().filter(this::isMount).forEach(ProcessHandle::destroyForcibly);
  }

  private boolean isMount(ProcessHandle process) {
    try {
      String words = Files.readString(Path.of("/proc", Long.toString(process.pid()), "cmdline"));
      return words.startsWith(command.get(1)) && words.contains(tree.getParent().toString());
    } catch (IOException unreadable) {
      return false;
    }
  }
}
