package io.ebbfs.namenode.files.snapshots;

import io.ebbfs.namenode.files.inodes.FsPath;
import io.ebbfs.namenode.files.inodes.SnapshotEntries;
import io.ebbfs.namenode.files.inodes.SnapshotEntries.Entry;
import io.ebbfs.namenode.files.snapshots.SnapshotDifferences.Change;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.hdfs.protocol.SnapshotException;

/**
 * Walks the two states of a directory side by side: the directories that both have, and then what
 * was renamed between them. As in HDFS, the walk visits all directories. Used once.
 */
final class SnapshotWalk {
  private static final int PAGE = 1_000;

  /** The walk keeps all differences in memory. */
  private static final int MOST_DIFFERENCES = 500_000;

  private final MetadataStore store;
  private final SnapshotDiff.Sides sides;
  private final Deque<Pair> left = new ArrayDeque<>();
  private final List<Change> modified = new ArrayList<>();
  private final List<Change> created = new ArrayList<>();
  // What left its place, and what came to a place, by inode id.
  private final Map<Long, Left> gone = new LinkedHashMap<>();
  private final Map<Long, Came> came = new HashMap<>();
  private final Set<Long> compared = new HashSet<>();
  private int entriesBelowCreated;

  /** An inode in both states. */
  private record Pair(
      Entry earlier, Entry later, List<byte[]> earlierPath, List<byte[]> laterPath) {}

  private record Left(long directoryId, Entry entry, List<byte[]> path) {}

  private record Came(Entry entry, List<byte[]> path) {}

  SnapshotWalk(MetadataStore store, SnapshotDiff.Sides sides) {
    this.store = store;
    this.sides = sides;
  }

  SnapshotDifferences run() throws IOException {
    List<byte[]> here = List.of();
    left.push(new Pair(sides.earlier().directory(), sides.later().directory(), here, here));
    walk();
    boolean more = true;
    while (more) {
      more = false;
      for (Map.Entry<Long, Left> moved : List.copyOf(gone.entrySet())) {
        Came target = came.get(moved.getKey());
        if (target != null && compared.add(moved.getKey())) {
          Left from = moved.getValue();
          left.push(new Pair(from.entry(), target.entry(), from.path(), target.path()));
          more = true;
        }
      }
      walk();
    }
    return result();
  }

  private SnapshotDifferences result() {
    List<Change> createdNow = new ArrayList<>();
    for (Change change : created) {
      boolean isMoved = gone.containsKey(change.inodeId());
      createdNow.add(
          new Change(
              change.directoryId(), change.inodeId(), change.path(), isMoved, change.target()));
    }
    List<Change> deleted = new ArrayList<>();
    gone.forEach(
        (id, from) -> {
          Came target = came.get(id);
          deleted.add(
              new Change(
                  from.directoryId(),
                  id,
                  from.path(),
                  target != null,
                  target == null ? null : target.path()));
        });
    return new SnapshotDifferences(
        sides.root().toString(), sides.isFromEarlier(), modified, createdNow, deleted);
  }

  private void walk() throws IOException {
    while (!left.isEmpty()) {
      Pair pair = left.pop();
      boolean isDirectory = pair.earlier().inode().isDirectory();
      boolean changed = SnapshotDiff.isModified(store, pair.earlier(), pair.later());
      if (isDirectory) {
        int before = created.size() + gone.size();
        compareEntries(pair);
        changed |= created.size() + gone.size() > before;
      }
      if (changed) {
        long id = pair.earlier().inode().id();
        modified.add(new Change(id, id, pair.earlierPath(), isDirectory, null));
      }
    }
  }

  private void compareEntries(Pair pair) throws IOException {
    SnapshotDiff.checkReadable(sides.caller(), pair.earlier().inode(), path(pair.earlierPath()));
    SnapshotDiff.checkReadable(sides.caller(), pair.later().inode(), path(pair.laterPath()));
    long id = pair.earlier().inode().id();
    Entries earlier = new Entries(sides.earlier().snapshotId(), id);
    Entries later = new Entries(sides.later().snapshotId(), id);
    while (earlier.peek() != null || later.peek() != null) {
      int order = order(earlier.peek(), later.peek());
      Entry one = order <= 0 ? earlier.poll() : null;
      Entry other = order >= 0 ? later.poll() : null;
      if (one != null && other != null && one.inode().isSame(other.inode())) {
        byte[] name = one.inode().name();
        left.push(
            new Pair(one, other, child(pair.earlierPath(), name), child(pair.laterPath(), name)));
        continue;
      }
      if (one != null) {
        gone.put(
            one.inode().id(), new Left(id, one, child(pair.earlierPath(), one.inode().name())));
      }
      if (other != null) {
        noteCreated(id, pair, other);
      }
      requireFew();
    }
  }

  private void noteCreated(long directoryId, Pair pair, Entry entry) throws IOException {
    byte[] name = entry.inode().name();
    created.add(
        new Change(directoryId, entry.inode().id(), child(pair.earlierPath(), name), false, null));
    noteCame(new Came(entry, child(pair.laterPath(), name)));
  }

  /** Notes what lies below something new, too: it may come from another place. */
  private void noteCame(Came top) throws IOException {
    Deque<Came> below = new ArrayDeque<>();
    below.push(top);
    while (!below.isEmpty()) {
      Came next = below.pop();
      came.put(next.entry().inode().id(), next);
      if (next.entry().inode().isDirectory()) {
        Entries entries = new Entries(sides.later().snapshotId(), next.entry().inode().id());
        for (Entry entry = entries.poll(); entry != null; entry = entries.poll()) {
          below.push(new Came(entry, child(next.path(), entry.inode().name())));
          entriesBelowCreated++;
          requireFew();
        }
      }
    }
  }

  private void requireFew() throws SnapshotException {
    if (created.size() + gone.size() + modified.size() + entriesBelowCreated > MOST_DIFFERENCES) {
      throw new SnapshotException(
          "The states of %s have more than %d differences: compare the directories in it one by one"
              .formatted(sides.path(), MOST_DIFFERENCES));
    }
  }

  private static int order(Entry one, Entry other) {
    if (one == null || other == null) {
      return one == null ? 1 : -1;
    }
    return Arrays.compareUnsigned(one.inode().name(), other.inode().name());
  }

  private static List<byte[]> child(List<byte[]> path, byte[] name) {
    List<byte[]> child = new ArrayList<>(path);
    child.add(name);
    return child;
  }

  private FsPath path(List<byte[]> below) {
    FsPath path = sides.path();
    for (byte[] name : below) {
      path = path.child(new String(name, StandardCharsets.UTF_8));
    }
    return path;
  }

  /** The entries of a directory in one state, page by page. */
  private final class Entries {
    private final long snapshotId;
    private final long directoryId;
    private final Deque<Entry> page = new ArrayDeque<>();
    private byte[] after = {};
    private boolean ends;

    Entries(long snapshotId, long directoryId) {
      this.snapshotId = snapshotId;
      this.directoryId = directoryId;
    }

    Entry peek() throws IOException {
      if (page.isEmpty() && !ends) {
        page.addAll(
            store.transact(
                directoryId,
                Durability.RELAXED,
                transaction ->
                    SnapshotEntries.page(transaction, snapshotId, directoryId, after, PAGE)));
        ends = page.size() < PAGE;
        after = page.isEmpty() ? after : page.getLast().inode().name();
      }
      return page.peek();
    }

    Entry poll() throws IOException {
      peek();
      return page.poll();
    }
  }
}
