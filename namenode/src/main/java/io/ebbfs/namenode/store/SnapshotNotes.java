package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.SnapshotSpanProto;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What one transaction knows of snapshots from the rows that it has read anyway: which snapshots
 * may see the entries of the directories on its paths. A directory of which nothing is noted is
 * seen by none. Used by one thread.
 */
public final class SnapshotNotes {
  // Made with the first note: most transactions read no directory with snapshots.
  private Map<Long, List<SnapshotSpanProto>> spans = Map.of();

  /** Notes that snapshots may see the entries of a directory. */
  public void note(long directoryId, List<SnapshotSpanProto> seenBy) {
    if (seenBy.isEmpty()) {
      return;
    }
    if (spans.isEmpty()) {
      spans = new HashMap<>();
    }
    spans.merge(directoryId, seenBy, SnapshotTables::merged);
  }

  /** The snapshots that may see the entries of a directory. */
  public List<SnapshotSpanProto> of(long directoryId) {
    return spans.getOrDefault(directoryId, List.of());
  }

  public boolean isEmpty() {
    return spans.isEmpty();
  }
}
