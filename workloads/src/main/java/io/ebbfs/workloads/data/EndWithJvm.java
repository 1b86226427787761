package io.ebbfs.workloads.data;

import io.ebbfs.testbed.process.Launcher;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Kills the processes of a directory if this JVM ends while this is open, for example by Ctrl-C.
 */
final class EndWithJvm implements AutoCloseable {
  private static final long END_MILLIS = 30_000;

  private final Thread hook;

  /**
   * @param directory that the processes are marked with: see {@link Launcher}
   */
  EndWithJvm(Path directory) {
    hook = new Thread(() -> kill(directory));
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private static void kill(Path directory) {
    try {
      new Launcher(directory).killAll(END_MILLIS);
    } catch (IOException e) {
      System.err.println("ebb bench data: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      return; // the JVM is ending: the hook runs
    }
  }
}
