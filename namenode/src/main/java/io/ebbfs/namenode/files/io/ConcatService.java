package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.DirectoryRows;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PendingDeletions;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.QuotaMarks;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.files.snapshots.SnapshotGuard;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.replicas.EncodedBlocks;
import io.ebbfs.namenode.replicas.StripeService;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.NonBlocking;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.hdfs.protocol.SnapshotException;
import org.apache.hadoop.ipc.RetriableException;

/**
 * Appends the blocks of files to another file of the same directory, and removes the files. Only
 * rows change, in one transaction. Thread-safe.
 */
public final class ConcatService {
  /** How often blocks are taken from the transitions that are about to encode them. */
  private static final int MOST_ATTEMPTS = 20;

  /** Where HDFS has other names of files. */
  private static final List<String> RESERVED = List.of("/.reserved/raw", "/.reserved/.inodes");

  private final MetadataStore store;
  private final BlockService blocks;
  private final BlockMover mover;
  private final EncodedBlocks encoded;
  private final Clock clock;

  /**
   * @param encoded frees blocks from the transitions that are about to encode them
   */
  public ConcatService(
      MetadataStore store,
      BlockService blocks,
      StripeService stripes,
      EncodedBlocks encoded,
      Clock clock) {
    this.store = store;
    this.blocks = blocks;
    this.mover = new BlockMover(blocks, stripes);
    this.encoded = encoded;
    this.clock = clock;
  }

  /** Moves the blocks of the sources, in their order, to the end of the target. */
  public void concat(Caller caller, String target, List<String> sources) throws IOException {
    refuseBadNames(target, sources);
    NonBlocking.beforeWait(); // the files may have many blocks
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      Outcome outcome =
          OptimisticTransactions.transact(
              store, Inode.ROOT_ID, transaction -> concat(transaction, caller, target, sources));
      if (outcome.held().isEmpty()) {
        blocks.invalidate(outcome.excess());
        return;
      }
      for (Row<BlockRow> block : outcome.held()) {
        encoded.free(block.key().partition(), block.value());
      }
    }
    throw new RetriableException(
        "the sources of the concat to %s are encoded again and again; repeat the call in a moment"
            .formatted(target));
  }

  /**
   * What a transaction has done.
   *
   * @param held the blocks that transitions hold: nothing was changed if there are any
   * @param excess replicas that are to be deleted
   */
  private record Outcome(List<Row<BlockRow>> held, List<Invalidation> excess) {
    static final Outcome NOTHING = new Outcome(List.of(), List.of());
  }

  private static void refuseBadNames(String target, List<String> sources) throws IOException {
    if (target.isEmpty()) {
      throw new IllegalArgumentException("Target file name is empty");
    }
    if (sources.isEmpty()) {
      throw new IllegalArgumentException("No sources given");
    }
    refuseReserved(target);
    for (String source : sources) {
      refuseReserved(source);
    }
  }

  private static void refuseReserved(String path) throws IOException {
    if (RESERVED.stream().anyMatch(top -> path.equals(top) || path.startsWith(top + "/"))) {
      throw new IOException("Concat operation doesn't support .reserved relative path : " + path);
    }
  }

  /** Does all of it in one transaction, unless blocks are held. */
  private Outcome concat(
      Transaction transaction, Caller caller, String target, List<String> sources)
      throws IOException {
    if (ClientCall.earlierRun(transaction).isPresent()) {
      return Outcome.NOTHING;
    }
    ResolvedPath to = target(transaction, caller, target);
    List<Inode> seen = new ArrayList<>(List.of(to.lastFound()));
    Set<Long> ids = new HashSet<>();
    for (String source : sources) {
      Inode file = source(transaction, caller, source, to);
      ids.add(file.id());
      seen.add(file);
    }
    if (ids.size() < sources.size()) {
      throw new HadoopIllegalArgumentException(
          "concat: at least two of the source files are the same");
    }
    BlockMover.refuseTooMany(seen.subList(1, seen.size()));
    List<Inode> locked =
        InodeLocks.lockEntries(transaction, List.of(to.parent().orElseThrow()), seen, List.of());
    List<Inode> files = locked.subList(2, locked.size());
    refuseUnfit(target, locked.get(1), sources, files);
    for (int i = 0; i < files.size(); i++) {
      if (SnapshotGuard.isShown(transaction, files.get(i))) {
        throw new SnapshotException(
            "Concat: the source file %s is in snapshot".formatted(sources.get(i)));
      }
    }
    return move(transaction, locked.get(0), locked.get(1), files);
  }

  private static ResolvedPath target(Transaction transaction, Caller caller, String target)
      throws IOException {
    ResolvedPath path = PathResolver.resolve(transaction, target);
    PermissionChecker.checkTraverse(caller, path);
    PermissionChecker.checkAccess(caller, path, FsAction.WRITE);
    refuseOpen(target, path.requireFile());
    return path;
  }

  private static void refuseOpen(String target, Inode file) {
    if (file.isUnderConstruction()) {
      throw new HadoopIllegalArgumentException(
          "concat: target file " + target + " is under construction");
    }
  }

  private static Inode source(
      Transaction transaction, Caller caller, String source, ResolvedPath to) throws IOException {
    ResolvedPath path = PathResolver.resolve(transaction, source);
    PermissionChecker.checkTraverse(caller, path);
    PermissionChecker.checkAccess(caller, path, FsAction.READ);
    PermissionChecker.checkParentWrite(caller, path);
    Inode file = path.requireFile();
    if (file.parentId() != to.lastFound().parentId()) {
      throw new HadoopIllegalArgumentException(
          "Source file %s is not in the same directory with the target %s"
              .formatted(source, to.path()));
    }
    if (file.isSame(to.lastFound())) {
      throw new HadoopIllegalArgumentException(
          "concat: the src file %s is the same with the target file %s"
              .formatted(source, to.path()));
    }
    refuseUnfit(source, file, to.lastFound());
    return file;
  }

  /** Asks again under the locks. */
  private static void refuseUnfit(String target, Inode to, List<String> sources, List<Inode> files)
      throws IOException {
    refuseOpen(target, to);
    for (int i = 0; i < files.size(); i++) {
      refuseUnfit(sources.get(i), files.get(i), to);
    }
    BlockMover.refuseTooMany(files);
  }

  private static void refuseUnfit(String source, Inode file, Inode target) {
    if (file.isUnderConstruction() || file.row().getBlocks() == 0) {
      throw new HadoopIllegalArgumentException(
          "concat: source file " + source + " is invalid or empty or underConstruction");
    }
    if (file.row().getEcPolicyId() != target.row().getEcPolicyId()) {
      throw new HadoopIllegalArgumentException(
          "concat: source file %s has a different erasure coding policy than the target file"
              .formatted(source));
    }
    if (file.row().getBlockSizeBytes() > target.row().getBlockSizeBytes()) {
      throw new HadoopIllegalArgumentException(
          "concat: source file %s has preferred block size %d which is greater than the target file's preferred block size %d"
              .formatted(source, file.row().getBlockSizeBytes(), target.row().getBlockSizeBytes()));
    }
  }

  private Outcome move(Transaction transaction, Inode directory, Inode target, List<Inode> sources)
      throws IOException {
    List<Row<BlockRow>> rows = BlockMover.blocks(transaction, sources);
    List<Row<BlockRow>> held =
        rows.stream().filter(b -> b.value().hasTransitionId() && !b.value().hasStripeId()).toList();
    if (!held.isEmpty()) {
      return new Outcome(held, List.of());
    }
    List<Invalidation> excess = mover.move(transaction, rows, target);
    long now = clock.millis();
    transaction.put(Tables.INODE, target.key(), longer(target.row(), sources, rows, now));
    for (Inode source : sources) {
      PendingDeletions.remove(
          transaction, source.with(source.row().toBuilder().setBlocks(0).build()));
    }
    DirectoryRows.touch(transaction, directory, now);
    ClientCall.takeEffect(transaction, target.id(), now);
    return new Outcome(List.of(), excess);
  }

  /**
   * The row of the target with all blocks.
   *
   * @param moved the blocks of the sources
   */
  private static InodeRow longer(
      InodeRow target, List<Inode> sources, List<Row<BlockRow>> moved, long nowMillis) {
    long length = sources.stream().mapToLong(source -> source.row().getLengthBytes()).sum();
    int blocks = sources.stream().mapToInt(source -> source.row().getBlocks()).sum();
    InodeRow.Builder longer =
        target.toBuilder()
            .setLengthBytes(target.getLengthBytes() + length)
            .setBlocks(target.getBlocks() + blocks)
            .setModifiedMillis(nowMillis);
    if (target.hasCountedIn()) {
      long bytes = moved.stream().mapToLong(row -> QuotaMarks.bytes(row.value(), target)).sum();
      longer.setCountedBytes(target.getCountedBytes() + bytes * target.getReplication());
    }
    long released = target.getReleasedMillis();
    for (Inode source : sources) {
      released = Math.max(released, source.row().getReleasedMillis());
    }
    return released == 0 ? longer.build() : longer.setReleasedMillis(released).build();
  }
}
