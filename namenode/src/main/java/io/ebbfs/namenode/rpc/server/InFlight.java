package io.ebbfs.namenode.rpc.server;

import java.util.concurrent.atomic.AtomicLong;

/** Bytes of requests and answers that a server holds. Thread-safe. */
final class InFlight {
  private final long limitBytes;
  private final AtomicLong bytes = new AtomicLong();

  InFlight(long limitBytes) {
    this.limitBytes = limitBytes;
  }

  void add(long change) {
    bytes.addAndGet(change);
  }

  long bytes() {
    return bytes.get();
  }

  boolean isFull() {
    return bytes.get() > limitBytes;
  }
}
