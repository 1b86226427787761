package io.ebbfs.workloads;

/** A loop in a thread of its own, which ends when it is interrupted. Thread-safe. */
public final class Background implements AutoCloseable {
  private static final long CLOSE_MILLIS = 5_000;

  /** What the thread does until it is interrupted. */
  public interface Loop {
    void run() throws InterruptedException;
  }

  private final Thread thread;

  /** Starts at once. */
  public Background(String name, Loop loop) {
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

  /** Interrupts the loop and waits for its end, a few seconds at most. */
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
