package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.network.ShapedNetwork;
import io.ebbfs.testbed.process.Launcher;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Kills the processes of a directory, and removes their network, if this JVM ends while this is
 * open, for example by Ctrl-C.
 */
final class EndWithJvm implements AutoCloseable {
  private static final long END_MILLIS = 30_000;

  private final Thread hook;

  /**
   * @param directory that the processes are marked with: see {@link Launcher}
   * @param network null for loopback
   */
  EndWithJvm(Path directory, ShapedNetwork network) {
    hook = new Thread(() -> end(directory, network));
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private static void end(Path directory, ShapedNetwork network) {
    try {
      new Launcher(directory).killAll(END_MILLIS);
      if (network != null) {
        network.down();
      }
    } catch (IOException | ClusterException e) {
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
