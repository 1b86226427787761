package io.ebbfs.namespace.coding;

import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.namespace.inode.Inode;
import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.Row;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.io.IOException;
import java.util.List;

/**
 * Sums over all files and replicas, from a scan that goes on bit by bit: as old as one pass. {@link
 * #tick} is called by one thread; reading is thread-safe.
 */
final class Totals {
  private static final int PAGE = 2_000;

  /**
   * Sums of one pass.
   *
   * @param storedBytes all replicas, of which these parts are in stripes:
   * @param liveBytes of files
   * @param deadBytes of tombstones
   * @param parityBytes of parities
   * @param reservedBytes what running transitions write; not part of the stored bytes
   */
  record Sums(
      long files,
      long logicalBytes,
      long storedBytes,
      long liveBytes,
      long deadBytes,
      long parityBytes,
      long reservedBytes) {
    static final Sums NONE = new Sums(0, 0, 0, 0, 0, 0, 0);
  }

  private enum Stage {
    FILES,
    REPLICAS,
    STRIPES,
    TRANSITIONS
  }

  private final MetadataStore store;
  private final int rowsPerTick;
  private volatile Sums published = Sums.NONE;
  private long files;
  private long logicalBytes;
  private long storedBytes;
  private long liveBytes;
  private long deadBytes;
  private long parityBytes;
  private long reservedBytes;
  private Stage stage = Stage.FILES;
  private Key scannedTo;

  Totals(MetadataStore store, int rowsPerTick) {
    this.store = store;
    this.rowsPerTick = rowsPerTick;
  }

  Sums sums() {
    return published;
  }

  /** Goes on with the pass, at most to its end. */
  void tick() throws IOException {
    for (int rows = 0; rows < rowsPerTick; rows += PAGE) {
      boolean last =
          switch (stage) {
            case FILES -> addFiles();
            case REPLICAS -> addReplicas();
            case STRIPES -> addStripes();
            case TRANSITIONS -> addTransitions();
          };
      if (last && stage == Stage.TRANSITIONS) {
        publish();
        return;
      }
      if (last) {
        stage = Stage.values()[stage.ordinal() + 1];
      }
    }
  }

  private void publish() {
    published =
        new Sums(
            files, logicalBytes, storedBytes, liveBytes, deadBytes, parityBytes, reservedBytes);
    files = 0;
    logicalBytes = 0;
    storedBytes = 0;
    liveBytes = 0;
    deadBytes = 0;
    parityBytes = 0;
    reservedBytes = 0;
    stage = Stage.FILES;
  }

  private boolean addStripes() throws IOException {
    List<Row<StripeRow>> page = store.scanAll(Tables.STRIPE, scannedTo, PAGE);
    for (Row<StripeRow> row : page) {
      ErasureCode code = Codes.byName(row.value().getCode());
      for (StripeMemberProto member : row.value().getMembersList()) {
        if (code.position(member.getPosition()).isParity()) {
          parityBytes += member.getLengthBytes();
        } else if (member.getTombstone()) {
          deadBytes += member.getLengthBytes();
        } else {
          liveBytes += member.getLengthBytes();
        }
      }
    }
    return next(page);
  }

  private boolean addTransitions() throws IOException {
    List<Row<TransitionRow>> page = store.scanAll(Tables.TRANSITION, scannedTo, PAGE);
    for (Row<TransitionRow> row : page) {
      if (row.value().getState() == TransitionStateProto.RUNNING) {
        for (TransitionOutputProto output : row.value().getOutputsList()) {
          reservedBytes += output.getLengthBytes();
        }
      }
    }
    return next(page);
  }

  private boolean addFiles() throws IOException {
    List<Row<InodeRow>> page = store.scanAll(Tables.INODE, scannedTo, PAGE);
    for (Row<InodeRow> row : page) {
      boolean deleted = row.key().partition() == Inode.TRASH_ID;
      if (!deleted && row.value().getKind() == InodeKindProto.FILE) {
        files++;
        logicalBytes += row.value().getLengthBytes();
      }
    }
    return next(page);
  }

  private boolean addReplicas() throws IOException {
    List<Row<ReplicaRow>> page = store.scanAll(Tables.REPLICA, scannedTo, PAGE);
    for (Row<ReplicaRow> row : page) {
      if (row.value().getState() == ReplicaStateProto.FINALIZED) {
        storedBytes += row.value().getLengthBytes();
      }
    }
    return next(page);
  }

  private boolean next(List<? extends Row<?>> page) {
    boolean last = page.size() < PAGE;
    scannedTo = last ? null : page.get(page.size() - 1).key();
    return last;
  }
}
