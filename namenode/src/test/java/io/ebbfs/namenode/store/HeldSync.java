package io.ebbfs.namenode.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Lets a test hold the syncs of a store back, and let them fail. */
public final class HeldSync implements SyncHook {
  private boolean held;
  private boolean fails;
  private int begun;
  private IOException failure;

  /** Opens a store whose syncs this object controls. */
  public RocksDbStore open(Path directory) throws IOException {
    return RocksDbStore.openWith(this, directory, 1_000, 8L << 20);
  }

  public synchronized void hold() {
    held = true;
  }

  public synchronized void release() {
    held = false;
    notifyAll();
  }

  public synchronized void failFromNowOn() {
    fails = true;
  }

  /** How many syncs have begun. */
  synchronized int begun() {
    return begun;
  }

  /** Waits until the store has been told of a failed sync. */
  synchronized IOException awaitFailure() throws InterruptedException, TimeoutException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (failure == null) {
      if (System.nanoTime() > deadline) {
        throw new TimeoutException("no failed sync was reported within 10 s");
      }
      wait(100);
    }
    return failure;
  }

  @Override
  public void around(WalSync.Sync sync) throws IOException {
    synchronized (this) {
      begun++;
      while (held) {
        waitQuietly();
      }
      if (fails) {
        throw new IOException("the disk is gone, on purpose");
      }
    }
    sync.run();
  }

  private void waitQuietly() throws IOException {
    try {
      wait();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  @Override
  public synchronized void failed(IOException reported) {
    failure = reported;
    notifyAll();
  }
}
