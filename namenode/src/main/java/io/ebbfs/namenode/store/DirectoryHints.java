package io.ebbfs.namenode.store;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.function.LongSupplier;

/**
 * What a process remembers of the tree, so that it can guess the keys of all rows of a path and
 * read them in one round trip. The rows themselves tell whether a guess was right: a hint may be
 * old, and costs a round trip then. Bounded. Thread-safe.
 */
public final class DirectoryHints {
  /** Some 150 bytes each. */
  private static final long ENTRIES = 200_000;

  private final Cache<Key, Long> ids = Caffeine.newBuilder().maximumSize(ENTRIES).build();
  private final DirectoryTimes times;
  private final Cache<Long, Long> parents = Caffeine.newBuilder().maximumSize(ENTRIES).build();

  public DirectoryHints() {
    this(System::nanoTime);
  }

  /**
   * For simulations and tests.
   *
   * @param nanoClock a clock that never goes back, in nanoseconds
   */
  public DirectoryHints(LongSupplier nanoClock) {
    this.times = new DirectoryTimes(nanoClock);
  }

  /** The id of the directory that was last seen at a key of the table inode; null if none was. */
  public Long idAt(Key key) {
    return ids.getIfPresent(key);
  }

  /** The id of the directory in which an inode was last seen; null if it was not seen. */
  public Long parentOf(long id) {
    return parents.getIfPresent(id);
  }

  /** The times of directories that this process writes later. */
  public DirectoryTimes times() {
    return times;
  }

  /** Notes where a directory is. */
  public void noteDirectory(Key key, long id) {
    Long before = ids.getIfPresent(key);
    if (before == null || before != id) {
      ids.put(key, id);
    }
    noteParent(id, key.partition());
  }

  /** Notes in which directory an inode is. */
  public void noteParent(long id, long parentId) {
    Long before = parents.getIfPresent(id);
    if (before == null || before != parentId) {
      parents.put(id, parentId);
    }
  }
}
