package io.ebbfs.testbed.process;

/** Runs a loop in a thread of its own until the thread is interrupted. Thread-safe. */
public final class BackgroundLoop implements AutoCloseable {
  private static final long CLOSE_MILLIS = 5_000;

  /** The work of the thread until it is interrupted. */
  public interface Loop {
    void run() throws InterruptedException;
  }

  private final Thread thread;

  /** Starts at once. */
  public BackgroundLoop(String name, Loop loop) {
    thread = new Thread(() -> untilInterrupted(loop), name);
    thread.setDaemon(true);
    thread.start();
  }

  private static void untilInterrupted(Loop loop) {
    try {
      loop.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Interrupts the loop and waits a few seconds for its end. */
  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
