package io.ebbfs.namenode.store;

import java.io.IOException;

/**
 * How the memory of the embedded store is divided. The parts add up to the setting.
 *
 * @param rowBytes parsed rows, on the heap: half
 * @param blockBytes blocks, indexes and filters of files: a quarter
 * @param writeBytes rows that are not in files yet: a quarter, at most 256 MiB
 */
public record StoreMemory(long rowBytes, long blockBytes, long writeBytes) {
  private static final long MAX_WRITE_BYTES = 256L << 20;

  /**
   * Heap that the namenode needs beside the rows: calls under way, retried calls, work in memory.
   */
  private static final long OTHER_HEAP_BYTES = 192L << 20;

  /**
   * Refuses a heap that the rows would fill.
   *
   * @param maxHeapBytes the limit of the heap
   * @throws IOException naming the smallest heap that does
   */
  public static void checkHeap(long cacheBytes, long maxHeapBytes) throws IOException {
    long needed = of(cacheBytes).rowBytes() + OTHER_HEAP_BYTES;
    if (maxHeapBytes < needed) {
      throw new IOException(
          ("storeCache of %d MiB needs a heap of at least %d MiB, and this process has %d MiB:"
                  + " start it with EBB_NAMENODE_HEAP=%dm, or make storeCache smaller")
              .formatted(cacheBytes >> 20, needed >> 20, maxHeapBytes >> 20, needed >> 20));
    }
  }

  public static StoreMemory of(long cacheBytes) {
    long writes = Math.min(cacheBytes / 4, MAX_WRITE_BYTES);
    long rows = cacheBytes / 2;
    return new StoreMemory(rows, cacheBytes - rows - writes, writes);
  }
}
