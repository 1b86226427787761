package io.ebbfs.namenode.events;

import io.ebbfs.namenode.files.inodes.FsPath;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Counts the opens of files since the last {@link #drain}, one count per file, in bounded memory.
 * Thread-safe.
 */
final class OpenCounts {
  /**
   * The opens of one file.
   *
   * @param timeMillis the time of the last open
   * @param client the machine of the first of these clients
   */
  record Opens(long inode, FsPath path, long timeMillis, String client, long count) {}

  private static final class Entry {
    private final FsPath path;
    private final String client;
    private long timeMillis;
    private long count;

    Entry(FsPath path, String client) {
      this.path = path;
      this.client = client;
    }
  }

  private final ConcurrentHashMap<Long, Entry> entries = new ConcurrentHashMap<>();
  private final int maxFiles;

  /**
   * @param maxFiles how many files are counted between two drains; further files are refused
   */
  OpenCounts(int maxFiles) {
    this.maxFiles = maxFiles;
  }

  /** Counts an open, or returns false if there is no room for another file. */
  boolean add(long inode, FsPath path, long timeMillis, String client) {
    // size() is not exact while others add; the bound may be passed by one file for each thread.
    if (entries.size() >= maxFiles && !entries.containsKey(inode)) {
      return false;
    }
    entries.compute(
        inode,
        (id, known) -> {
          Entry entry = known == null ? new Entry(path, client) : known;
          entry.timeMillis = Math.max(entry.timeMillis, timeMillis);
          entry.count++;
          return entry;
        });
    return true;
  }

  /** Hands over all counts and begins anew. An open that comes meanwhile is in this or the next. */
  void drain(Consumer<Opens> to) {
    for (Long inode : entries.keySet()) {
      Optional.ofNullable(entries.remove(inode))
          .ifPresent(e -> to.accept(new Opens(inode, e.path, e.timeMillis, e.client, e.count)));
    }
  }
}
