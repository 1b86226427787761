package io.ebbfs.namenode.replicas;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Completes the waits for a replica of a block when a block report brings one. Thread-safe. */
final class ReplicaArrivalSignal {
  // A list is read and changed only by who has removed it, or within compute().
  private final Map<Long, List<CompletableFuture<Void>>> waiting = new ConcurrentHashMap<>();

  /** Completes when the next replica of the block arrives, or the time is over. */
  CompletableFuture<Void> next(long blockId, long timeoutMillis) {
    CompletableFuture<Void> arrival = new CompletableFuture<>();
    waiting.compute(
        blockId,
        (id, others) -> {
          List<CompletableFuture<Void>> all = others == null ? new ArrayList<>(1) : others;
          all.add(arrival);
          return all;
        });
    arrival.whenComplete((nothing, failure) -> forget(blockId, arrival));
    arrival.completeOnTimeout(null, timeoutMillis, TimeUnit.MILLISECONDS);
    return arrival;
  }

  private void forget(long blockId, CompletableFuture<Void> arrival) {
    waiting.computeIfPresent(
        blockId,
        (id, all) -> {
          all.remove(arrival);
          return all.isEmpty() ? null : all;
        });
  }

  /** A replica of the block has arrived. */
  void wake(long blockId) {
    List<CompletableFuture<Void>> all = waiting.remove(blockId);
    if (all != null) {
      all.forEach(arrival -> arrival.complete(null));
    }
  }

  /** The number of blocks that somebody waits for. */
  int blocks() {
    return waiting.size();
  }
}
