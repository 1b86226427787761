package io.ebbfs.verify.cluster;

import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.util.List;

/** Runs programs of the operating system. */
final class Command {
  private Command() {}

  /** Runs a program to its end. An exit code other than 0 is an error with the program's output. */
  static String run(String... words) throws ClusterException, InterruptedException {
    return run(0, words);
  }

  /** The same, where exit codes up to a number are good. */
  static String run(int mostCode, String... words) throws ClusterException, InterruptedException {
    try {
      Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
      process.getOutputStream().close();
      String said = new String(process.getInputStream().readAllBytes()).strip();
      int code = process.waitFor();
      if (code > mostCode) {
        throw new ClusterException(
            "%s ended with %d: %s".formatted(String.join(" ", List.of(words)), code, said));
      }
      return said;
    } catch (IOException e) {
      throw new ClusterException("%s could not be run: %s".formatted(words[0], e), e);
    }
  }
}
