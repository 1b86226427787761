package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.tasks.lifecycle.TransitionIndex;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.verify.simulator.CrashingStore.Write;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Knows the truth about the simulated cluster and says whether a promise is broken. It compares the
 * rows of the namenode with the replicas on the disks:
 *
 * <ul>
 *   <li>every acknowledged block can be read or decoded ({@link DecodeCheck});
 *   <li>every block has one owner, every owner knows its blocks, every mark has a transition, and
 *       every replica of a stripe member holds what the code says ({@link RowConsistencyCheck});
 *   <li>no commit of a transition makes data depend on one more server, and what it publishes
 *       exists ({@link PublicationCheck});
 *   <li>every byte has a use ({@link SpaceCheck});
 *   <li>at rest nothing is lost, superfluous or waiting ({@link RestCheck}).
 * </ul>
 *
 * <p>A check looks only at what has changed since the last one. Used by one thread.
 */
final class Oracle implements CrashingStore.Listener {
  private final MetadataMirror rows = new MetadataMirror();
  private final AcknowledgedFiles acknowledged = new AcknowledgedFiles();
  private final SimCluster cluster;
  private final SimReplicaMap replicas;
  private final EventCounts events;
  private final DisturbedAttempts attempts = new DisturbedAttempts(rows);
  private final PublicationCheck publication;
  private final RowConsistencyCheck consistency;
  private final DecodeCheck decoding;
  private final RestCheck rest;
  private final ExcessCheck excess;
  private final SpaceCheck space = new SpaceCheck(rows, acknowledged);
  private final Set<Long> unchecked = new TreeSet<>();

  Oracle(SimCluster cluster, EventCounts events) {
    this.events = events;
    this.cluster = cluster;
    replicas = cluster.replicas();
    publication = new PublicationCheck(rows, replicas, acknowledged, attempts);
    consistency = new RowConsistencyCheck(rows, replicas);
    decoding = new DecodeCheck(rows, replicas, acknowledged);
    excess = new ExcessCheck(rows, replicas, acknowledged);
    rest = new RestCheck(cluster, rows, decoding, acknowledged);
  }

  MetadataMirror rows() {
    return rows;
  }

  DisturbedAttempts attempts() {
    return attempts;
  }

  DecodeCheck decoding() {
    return decoding;
  }

  ExcessCheck excess() {
    return excess;
  }

  RestCheck rest() {
    return rest;
  }

  SpaceCheck space() {
    return space;
  }

  /** All servers of a pipeline have acknowledged the first bytes of a block of an open file. */
  void promise(long fileId, long blockId, long lengthBytes) {
    acknowledged.promise(fileId, blockId, lengthBytes);
    unchecked.add(blockId);
  }

  /**
   * Called before a file is truncated: afterwards it may have its old length, the new one, or one
   * in between.
   */
  void truncates(long fileId, long lengthBytes) {
    Map<Long, Long> most = new TreeMap<>();
    long offset = 0;
    for (BlockRow block : rows.blocksOf(fileId)) {
      if (offset < lengthBytes) {
        most.put(block.getBlockId(), Math.min(block.getLengthBytes(), lengthBytes - offset));
      }
      offset += block.getLengthBytes();
    }
    acknowledged.open(fileId);
    acknowledged.cut(fileId, most);
  }

  /** The call that truncates a file has ended: the file is closed, or is closed later. */
  void truncated(long fileId) {
    if (acknowledged.isOpen(fileId)
        && rows.files.contains(fileId)
        && !rows.openFiles.containsKey(fileId)) {
      close(fileId);
    }
  }

  /** A client was told that its file is closed, with these lengths of the blocks it wrote. */
  void closed(long fileId, Map<Long, Long> written) {
    Map<Long, Long> lengths = acknowledged.lengthsOf(fileId);
    written.forEach(
        (id, length) -> {
          if (acknowledged.files().contains(fileId) && !length.equals(lengths.get(id))) {
            throw new Violation(
                "file %d was closed with %d bytes of block %d, it has %s"
                    .formatted(fileId, length, id, lengths));
          }
        });
  }

  /** The files of which the namenode has to know, closed or not. */
  AcknowledgedFiles acknowledged() {
    return acknowledged;
  }

  /** Called before a file is deleted: afterwards it may exist or not. */
  void forget(long fileId) {
    acknowledged.remove(fileId);
  }

  Set<Long> acknowledgedFiles() {
    return acknowledged.files();
  }

  @Override
  public void committed(List<Write> writes) {
    List<TransitionRow> published = new ArrayList<>();
    for (Write write : writes) {
      if (write.table() == Tables.TRANSITION && write.value() instanceof TransitionRow row) {
        count(row);
        if (row.getState() == TransitionStateProto.DONE && rows.isActive(row.getId())) {
          events.add("published %s to %s".formatted(row.getKind(), row.getToCode()));
          published.add(row);
        }
      }
    }
    Map<Long, Set<String>> before = new TreeMap<>();
    published.forEach(row -> before.putAll(publication.neededServers(row)));
    writes.forEach(this::marks);
    rows.apply(writes);
    writes.forEach(this::promises);
    published.forEach(row -> publication.notLessProtected(row, before));
    published.forEach(publication::outputsExist);
  }

  @Override
  public void restored(List<Write> writes) {
    rows.apply(writes);
  }

  /** Nothing more is promised of files that the rows do not know: a restore has lost them. */
  void forgetUnknownFiles() {
    Set<Long> promised = new TreeSet<>(acknowledged.files());
    promised.addAll(acknowledged.openFiles());
    promised.removeAll(rows.files);
    promised.forEach(acknowledged::remove);
  }

  /** No replica that the namenode counts, and that is good, is marked as corrupt. */
  private void marks(Write write) {
    if (write.value() instanceof ReplicaRow row && row.getState() == ReplicaStateProto.CORRUPT) {
      ReplicaRow old = rows.replicas.get(write.key());
      long id = write.key().firstLong();
      String storage = Tables.replicaStorage(write.key());
      if (old != null
          && old.getState() == ReplicaStateProto.FINALIZED
          && consistency.isGood(id, storage, old)) {
        throw new Violation(
            "replica %d@%s is good, and the namenode marks it: %s".formatted(id, storage, row));
      }
    }
  }

  /** Files are opened and closed; a close keeps what was promised. */
  private void promises(Write write) {
    // A deleted file lies in another directory until its blocks are deleted.
    if (write.value() instanceof InodeRow row
        && row.getKind() == InodeKindProto.FILE
        && write.key().partition() == Inode.ROOT_ID) {
      if (row.hasUnderConstruction()) {
        acknowledged.open(row.getId());
      } else if (acknowledged.isOpen(row.getId())) {
        close(row.getId());
      }
    }
    if (write.value() instanceof BlockRow row) {
      long owner = write.key().partition();
      Long known = acknowledged.fileOf(row.getBlockId());
      if (known != null && known != owner && rows.files.contains(owner)) {
        acknowledged.move(row.getBlockId(), owner);
      }
    }
    if (write.value() instanceof BlockRow row
        && (row.getState() == BlockStateProto.COMMITTED
            || row.getState() == BlockStateProto.COMPLETE)) {
      cluster.noteLength(row.getBlockId(), row.getLengthBytes());
    }
  }

  private void close(long fileId) {
    Map<Long, Long> lengths = rows.lengthsOf(fileId);
    acknowledged
        .promisedBy(fileId)
        .forEach(
            (id, promised) -> {
              if (promised > lengths.getOrDefault(id, 0L)) {
                throw new Violation(
                    "file %d is closed with %s bytes of block %d, its client was promised %d"
                        .formatted(fileId, lengths.get(id), id, promised));
              }
            });
    acknowledged.close(fileId, lengths);
    unchecked.addAll(lengths.keySet());
  }

  private void count(TransitionRow row) {
    TransitionRow old = rows.transitions.get(row.getId());
    if (old == null || old.getState() != row.getState() || old.getAttempt() != row.getAttempt()) {
      boolean ended = !TransitionIndex.isActive(row.getState());
      events.add((ended ? "ended " : "reached ") + row.getKind() + " " + row.getState());
      if (row.getState() == TransitionStateProto.NO_SPACE
          || row.getState() == TransitionStateProto.NO_DOMAINS) {
        space.endIsExplained(row);
      }
      if (ended && row.getState() == TransitionStateProto.DONE && row.getAttempt() > 1) {
        events.add("after a failed attempt " + row.getKind());
      }
    }
  }

  /** Checks everything, changed or not. */
  void checkAll() {
    rows.touchAll();
    unchecked.addAll(acknowledged.blocks());
    check();
  }

  /** Checks what has changed since the last check. */
  void check() {
    Set<Long> blocks = replicas.takeChanged();
    blocks.addAll(rows.changedBlocks);
    blocks.addAll(unchecked);
    Set<Long> stripes = new TreeSet<>(rows.changedStripes);
    for (long id : blocks) {
      consistency.blockAgrees(id);
      BlockRow row = rows.block(id);
      if (row != null && row.hasStripeId()) {
        stripes.add(row.getStripeId());
      }
    }
    for (long id : stripes) {
      StripeRow stripe = rows.stripes.get(id);
      if (stripe != null) {
        consistency.stripeAgrees(stripe);
        stripe.getMembersList().forEach(member -> blocks.add(member.getBlockId()));
      }
    }
    rows.changedFiles.forEach(consistency::deletedFileAgrees);
    if (rows.changedTransitions.stream().anyMatch(id -> !rows.isActive(id))) {
      consistency.marksAgree();
    }
    decoding.decode(blocks, DecodeCheck.ReplicaFilter.ALL);
    rows.forgetChanges();
    unchecked.clear();
  }
}
