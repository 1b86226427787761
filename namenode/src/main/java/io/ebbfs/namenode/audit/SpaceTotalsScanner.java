package io.ebbfs.namenode.audit;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
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
 * Sums the bytes of all files, replicas and stripes. Each tick scans a part of the rows; the totals
 * are published at the end of each pass over all rows, so they are up to one pass old. {@link
 * #tick} is called by one thread; {@link #totals} by any.
 */
public final class SpaceTotalsScanner {
  private static final int PAGE = 2_000;

  /**
   * The sums of one pass.
   *
   * @param files how many files there are
   * @param logicalBytes the lengths of all files
   * @param storedBytes all finalized replicas, in stripes or not
   * @param liveBytes the part of the stored bytes that is live data in stripes
   * @param deadBytes the part of the stored bytes that is tombstones in stripes
   * @param parityBytes the part of the stored bytes that is parities
   * @param reservedBytes the outputs of running transitions; not part of the stored bytes
   */
  public record Totals(
      long files,
      long logicalBytes,
      long storedBytes,
      long liveBytes,
      long deadBytes,
      long parityBytes,
      long reservedBytes) {
    static final Totals NONE = new Totals(0, 0, 0, 0, 0, 0, 0);
  }

  private enum Stage {
    FILES,
    REPLICAS,
    STRIPES,
    TRANSITIONS
  }

  private final CodeRegistry codes;
  private final MetadataStore store;
  private final int rowsPerTick;
  private volatile Totals published = Totals.NONE;
  private long files;
  private long logicalBytes;
  private long storedBytes;
  private long liveBytes;
  private long deadBytes;
  private long parityBytes;
  private long reservedBytes;
  private Stage stage = Stage.FILES;
  private Key scannedTo;

  public SpaceTotalsScanner(CodeRegistry codes, MetadataStore store, int rowsPerTick) {
    this.codes = codes;
    this.store = store;
    this.rowsPerTick = rowsPerTick;
  }

  /** The sums of the last complete pass; zeros before the first. */
  public Totals totals() {
    return published;
  }

  /** Scans the next part of the rows, at most to the end of the pass. */
  public void tick() throws IOException {
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
        new Totals(
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
      ErasureCode code = codes.byName(row.value().getCode());
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
      boolean deleted = row.key().partition() == Inode.PENDING_DELETION_ID;
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
