package io.ebbfs.namenode.store;

/**
 * How the memory of the embedded store is divided. The parts add up to the setting.
 *
 * @param rowBytes parsed rows, on the heap: half
 * @param blockBytes blocks, indexes and filters of files: a quarter
 * @param writeBytes rows that are not in files yet: a quarter, at most 256 MiB
 */
public record StoreMemory(long rowBytes, long blockBytes, long writeBytes) {
  private static final long MAX_WRITE_BYTES = 256L << 20;

  public static StoreMemory of(long cacheBytes) {
    long writes = Math.min(cacheBytes / 4, MAX_WRITE_BYTES);
    long rows = cacheBytes / 2;
    return new StoreMemory(rows, cacheBytes - rows - writes, writes);
  }
}
