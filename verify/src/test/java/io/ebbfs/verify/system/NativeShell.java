package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs {@code ebb fs}: each command is a process. */
final class NativeShell implements ShellSequences.Shell {
  // That of the clients beside which the shell runs.
  private static final String BLOCK_SIZE = "dfs.blocksize=65536";

  private final Path program;
  private final Path conf;

  /**
   * @param conf the directory with {@code core-site.xml}
   */
  NativeShell(Build build, Path conf) throws ClusterException {
    this.program = build.nativeShell();
    this.conf = conf;
  }

  /** Runs a command: its exit code, and the text of its standard output and standard error. */
  @Override
  public List<String> run(String... command) throws InterruptedException {
    try {
      Process process = start(command);
      byte[] printed = process.getInputStream().readAllBytes();
      return List.of(
          Integer.toString(process.waitFor()), new String(printed, StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Process start(String... command) throws IOException {
    Process process = startWithInput(command);
    process.getOutputStream().close();
    return process;
  }

  /** Starts a command that reads its standard input. */
  Process startWithInput(String... command) throws IOException {
    List<String> words =
        new ArrayList<>(List.of(program.toString(), "--conf", conf.toString(), "-D", BLOCK_SIZE));
    words.addAll(List.of(command));
    return new ProcessBuilder(words).redirectErrorStream(true).start();
  }

  String ok(String... command) throws InterruptedException {
    List<String> answer = run(command);
    assertThat(answer.get(0)).as("%s: %s", List.of(command), answer.get(1)).isEqualTo("0");
    return answer.get(1);
  }
}
