package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.ChangeRow;
import java.util.Arrays;
import java.util.List;

/**
 * What some transactions have changed: the ids of files, directories and stripes. An id comes once
 * in its list, and lists are in the order of ids. Immutable: callers do not change the arrays.
 */
public final class ChangedIds {
  public static final ChangedIds NONE = new Builder().build();

  private final long[] files;
  private final long[] directories;
  private final long[] stripes;
  private final long[] pinned;

  private ChangedIds(long[] files, long[] directories, long[] stripes, long[] pinned) {
    this.files = files;
    this.directories = directories;
    this.stripes = stripes;
    this.pinned = pinned;
  }

  /** The files that were made, changed, moved or deleted, or whose blocks or replicas changed. */
  public long[] files() {
    return files;
  }

  /** The directories that were made, moved or deleted. */
  public long[] directories() {
    return directories;
  }

  /**
   * The stripes that were made, changed or deleted, or whose parities or their replicas changed.
   */
  public long[] stripes() {
    return stripes;
  }

  /** The directories whose pins have changed. */
  public long[] pinned() {
    return pinned;
  }

  public int count() {
    return files.length + directories.length + stripes.length + pinned.length;
  }

  public boolean isEmpty() {
    return count() == 0;
  }

  /** Whether a row tells of any change. */
  static boolean areIn(ChangeRow row) {
    return row.getFileIdsCount() > 0
        || row.getDirectoryIdsCount() > 0
        || row.getStripeIdsCount() > 0
        || row.getPinnedIdsCount() > 0;
  }

  /** The ids of all rows. */
  static ChangedIds ofRows(List<Row<ChangeRow>> rows) {
    Builder all = new Builder();
    for (Row<ChangeRow> row : rows) {
      row.value().getFileIdsList().forEach(all.files::add);
      row.value().getDirectoryIdsList().forEach(all.directories::add);
      row.value().getStripeIdsList().forEach(all.stripes::add);
      row.value().getPinnedIdsList().forEach(all.pinned::add);
    }
    return all.build();
  }

  static ChangedIds union(List<ChangedIds> sets) {
    Builder all = new Builder();
    for (ChangedIds ids : sets) {
      all.files.addAll(ids.files);
      all.directories.addAll(ids.directories);
      all.stripes.addAll(ids.stripes);
      all.pinned.addAll(ids.pinned);
    }
    return all.build();
  }

  void addTo(ChangeRow.Builder row) {
    for (long id : files) {
      row.addFileIds(id);
    }
    for (long id : directories) {
      row.addDirectoryIds(id);
    }
    for (long id : stripes) {
      row.addStripeIds(id);
    }
    for (long id : pinned) {
      row.addPinnedIds(id);
    }
  }

  /** Collects ids, in any order and as often as they come. Not thread-safe. */
  static final class Builder {
    final Ids files = new Ids();
    final Ids directories = new Ids();
    final Ids stripes = new Ids();
    final Ids pinned = new Ids();

    ChangedIds build() {
      return new ChangedIds(
          files.distinct(), directories.distinct(), stripes.distinct(), pinned.distinct());
    }
  }

  /** A growing list of numbers without boxes. Not thread-safe. */
  static final class Ids {
    private static final long[] NOTHING = {};

    private long[] ids = NOTHING;
    private int size;

    void add(long id) {
      if (size > 0 && ids[size - 1] == id) {
        return; // the rows of one owner follow each other
      }
      reserve(1);
      ids[size++] = id;
    }

    void addAll(long[] more) {
      reserve(more.length);
      System.arraycopy(more, 0, ids, size, more.length);
      size += more.length;
    }

    private void reserve(int more) {
      if (size + more > ids.length) {
        ids = Arrays.copyOf(ids, Math.max(2 * ids.length, size + Math.max(more, 4)));
      }
    }

    /** Whether an id was added; slow if there are many. */
    boolean contains(long id) {
      for (int i = 0; i < size; i++) {
        if (ids[i] == id) {
          return true;
        }
      }
      return false;
    }

    /** Each id once, in their order. */
    long[] distinct() {
      if (size == 0) {
        return NOTHING;
      }
      Arrays.sort(ids, 0, size);
      int kept = 1;
      for (int i = 1; i < size; i++) {
        if (ids[i] != ids[kept - 1]) {
          ids[kept++] = ids[i];
        }
      }
      size = kept;
      return Arrays.copyOf(ids, kept);
    }
  }
}
