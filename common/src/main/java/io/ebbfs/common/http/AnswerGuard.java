package io.ebbfs.common.http;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Ends writes to clients that read nothing: the thread that writes is interrupted, which closes the
 * connection. An answer may take long as long as its client reads it. Thread-safe.
 */
final class AnswerGuard implements AutoCloseable {
  private final Set<Guarded> writing = ConcurrentHashMap.newKeySet();
  private final long patienceNanos;
  private final ScheduledExecutorService timer;

  AnswerGuard(long patienceMillis) {
    this.patienceNanos = TimeUnit.MILLISECONDS.toNanos(patienceMillis);
    this.timer =
        new ScheduledThreadPoolExecutor(
            1,
            work -> {
              Thread thread = new Thread(work, "answer-guard");
              thread.setDaemon(true);
              return thread;
            });
    long every = Math.max(1, patienceMillis / 4);
    timer.scheduleWithFixedDelay(
        () -> writing.forEach(Guarded::endIfStalled), every, every, TimeUnit.MILLISECONDS);
  }

  /** The same stream, whose writes end. Used by one thread. */
  OutputStream guard(OutputStream out) {
    return new Guarded(out);
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }

  private interface Step {
    void run() throws IOException;
  }

  private final class Guarded extends FilterOutputStream {
    private final Thread writer = Thread.currentThread();
    private long began;
    private boolean busy;

    Guarded(OutputStream out) {
      super(out);
    }

    private void guarded(Step step) throws IOException {
      synchronized (this) {
        began = System.nanoTime();
        busy = true;
      }
      writing.add(this);
      try {
        step.run();
      } finally {
        writing.remove(this);
        synchronized (this) {
          busy = false;
        }
      }
    }

    private synchronized void endIfStalled() {
      if (busy && System.nanoTime() - began > patienceNanos) {
        writer.interrupt();
      }
    }

    @Override
    public void write(int b) throws IOException {
      guarded(() -> out.write(b));
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      guarded(() -> out.write(bytes, offset, length));
    }

    @Override
    public void flush() throws IOException {
      guarded(out::flush);
    }

    @Override
    public void close() throws IOException {
      guarded(out::close);
    }
  }
}
