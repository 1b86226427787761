package io.ebbfs.namenode.store;

/** Counts the rows that a thread has read by {@link MetadataStore#scanAll}. */
public final class ScannedRows {
  private static final ThreadLocal<long[]> ROWS = ThreadLocal.withInitial(() -> new long[1]);

  private ScannedRows() {}

  static void add(int rows) {
    ROWS.get()[0] += rows;
  }

  /** The rows that this thread has read since it began. */
  public static long ofThisThread() {
    return ROWS.get()[0];
  }
}
