package io.ebbfs.cli.options;

import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.util.List;

/** Other programs on the terminal of this command. */
public final class Terminal {
  private Terminal() {}

  /** Runs a program to its end; the result is the program's exit code. */
  public static int run(List<String> command) throws ClusterException, InterruptedException {
    try {
      return new ProcessBuilder(command).inheritIO().start().waitFor();
    } catch (IOException e) {
      throw new ClusterException(
          "'%s' could not be started: %s".formatted(command.get(0), e.getMessage()), e);
    }
  }
}
