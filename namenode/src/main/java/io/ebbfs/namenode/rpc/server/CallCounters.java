package io.ebbfs.namenode.rpc.server;

import io.ebbfs.namenode.store.WouldBlockException;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the calls of each method and the time that their handlers take, without waits for threads
 * and for the disk. Thread-safe.
 */
public final class CallCounters {
  private record Adders(LongAdder calls, LongAdder nanos) {}

  /**
   * The sums of a method.
   *
   * @param nanos of all calls together
   */
  public record Sums(long calls, long nanos) {}

  private final Map<String, Adders> methods = new ConcurrentHashMap<>();

  /** The handler of a method, whose calls are counted. */
  public MethodHandler around(String method, MethodHandler handler) {
    Adders adders =
        methods.computeIfAbsent(method, name -> new Adders(new LongAdder(), new LongAdder()));
    return (frame, offset, length) -> {
      long begun = System.nanoTime();
      try {
        return handler.answer(frame, offset, length);
      } catch (WouldBlockException e) {
        // The same call runs again on another thread, and counts there.
        adders.calls.decrement();
        throw e;
      } finally {
        adders.nanos.add(System.nanoTime() - begun);
        adders.calls.increment();
      }
    };
  }

  /** The sums by the name of the method, without methods that were never called. */
  public SortedMap<String, Sums> sums() {
    SortedMap<String, Sums> sums = new TreeMap<>();
    methods.forEach(
        (name, adders) -> {
          if (adders.calls.sum() > 0) {
            sums.put(name, new Sums(adders.calls.sum(), adders.nanos.sum()));
          }
        });
    return sums;
  }
}
