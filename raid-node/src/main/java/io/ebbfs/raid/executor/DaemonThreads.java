package io.ebbfs.raid.executor;

/** Threads that do not keep the process alive. */
public final class DaemonThreads {
  private DaemonThreads() {}

  /** A thread that is not started yet. */
  public static Thread of(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }
}
