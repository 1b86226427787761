package io.ebbfs.namenode.tasks.plan;

import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.QuotaMarks;
import io.ebbfs.namenode.files.snapshots.SnapshotGuard;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A closed file that its client has encoded, and that is to become a replicated file: its block
 * groups, and the blocks that the file gets instead of them. The proposal, the attempt planner and
 * the commit all read it, so that they agree. Immutable.
 *
 * @param groups the rows of the groups, in their order
 * @param stripes those of the groups, in the same order
 */
public record GroupFile(Inode inode, List<Row<BlockRow>> groups, List<StripeRow> stripes) {
  /**
   * Blocks of groups and blocks that replace them, in one commit: each takes about ten rows. With
   * blocks of 128 MiB a file in RS-6-3 may have about 33 GiB.
   */
  static final int MOST_BLOCKS = 1_000;

  /**
   * A block that the file gets.
   *
   * @param group the index of the group with its data
   * @param index among the blocks of this group
   * @param startBytes in the data of the group
   */
  public record Piece(int group, int index, long startBytes, long lengthBytes) {}

  /**
   * Reads a file that can be converted.
   *
   * @throws NotPlannableException if it cannot, with the reason and a remedy
   */
  public static GroupFile read(Transaction transaction, long fileId)
      throws IOException, NotPlannableException {
    Optional<Key> key = PathResolver.attachedKey(transaction, fileId);
    Optional<Inode> inode =
        key.isEmpty() ? Optional.empty() : PathResolver.inodeAt(transaction, key.get());
    if (inode.isEmpty() || inode.get().id() != fileId || !inode.get().isFile()) {
      throw NotPlannableException.ever("no file has the id %d (any more)".formatted(fileId));
    }
    requireConvertible(transaction, inode.get());
    List<Row<BlockRow>> groups = transaction.scan(Tables.BLOCK, fileId);
    List<StripeRow> stripes = new ArrayList<>();
    for (Row<BlockRow> group : groups) {
      stripes.add(stripe(transaction, inode.get(), group));
    }
    GroupFile file = new GroupFile(inode.get(), groups, stripes);
    file.requireFew();
    return file;
  }

  /**
   * Whether the groups are all those of the row of the file. In a store that several processes
   * share, some of the rows may be of before a commit and others of after it.
   */
  public boolean isWhole() {
    long bytes = groups.stream().mapToLong(group -> group.value().getLengthBytes()).sum();
    return groups.size() == inode.row().getBlocks() && bytes == inode.row().getLengthBytes();
  }

  /** Reads a file as {@link #read} does, and requires that its groups are all there. */
  public static GroupFile readWhole(Transaction transaction, long fileId)
      throws IOException, NotPlannableException {
    GroupFile file = read(transaction, fileId);
    if (!file.isWhole()) {
      throw NotPlannableException.now(
          "the %d block groups of file %d are not the %d blocks with %d bytes that its row tells: order the conversion again; if that does not help, the metadata is damaged"
              .formatted(
                  file.groups.size(),
                  fileId,
                  file.inode.row().getBlocks(),
                  file.inode.row().getLengthBytes()));
    }
    return file;
  }

  private static void requireConvertible(Transaction transaction, Inode file)
      throws IOException, NotPlannableException {
    InodeRow row = file.row();
    if (!row.hasEcPolicyId()) {
      throw NotPlannableException.ever(
          "file %d has no block groups, its client has not encoded it: name the stripes that its blocks are to leave"
              .formatted(file.id()));
    }
    if (file.isUnderConstruction()) {
      throw NotPlannableException.ever(
          "file %d is being written: order its conversion when it is closed".formatted(file.id()));
    }
    if (row.getBlocks() == 0) {
      throw NotPlannableException.ever(
          "file %d is empty: there is nothing to convert".formatted(file.id()));
    }
    if (SnapshotGuard.isShown(transaction, file)) {
      throw NotPlannableException.ever(
          "file %d is shown by a snapshot, which keeps its block groups: delete the snapshot, or copy the file to a directory without erasure coding policy"
              .formatted(file.id()));
    }
  }

  private static StripeRow stripe(Transaction transaction, Inode file, Row<BlockRow> group)
      throws IOException, NotPlannableException {
    BlockRow block = group.value();
    Optional<StripeRow> stripe =
        block.hasInternalOwnerId() && block.getState() == BlockStateProto.COMPLETE
            ? transaction.get(Tables.STRIPE, Tables.stripe(block.getInternalOwnerId()))
            : Optional.empty();
    return stripe.orElseThrow(
        () ->
            NotPlannableException.ever(
                "block group %d of file %d is not complete: order the conversion when it is"
                    .formatted(block.getBlockId(), file.id())));
  }

  private void requireFew() throws NotPlannableException {
    long blocks = (long) groups.size() * BlockGroupLayout.IDS_OF_GROUP + pieces().size();
    if (blocks > MOST_BLOCKS) {
      throw NotPlannableException.ever(
          "file %d has %d block groups, and with the blocks that replace them the conversion would change %d blocks, more than the %d of one transaction: copy the file to a directory without erasure coding policy"
              .formatted(id(), groups.size(), blocks, MOST_BLOCKS));
    }
  }

  public long id() {
    return inode.id();
  }

  public BlockGroupLayout layout(int group) {
    return BlockGroupLayout.of(groups.get(group).value().getEcPolicyId());
  }

  /**
   * The blocks that the file gets, in their order. They have the block size of the file, or the
   * greatest multiple of a cell below it. Each ends with its group at the latest.
   */
  public List<Piece> pieces() {
    List<Piece> pieces = new ArrayList<>();
    for (int g = 0; g < groups.size(); g++) {
      long cell = layout(g).policy().getCellSize();
      long size = inode.row().getBlockSizeBytes();
      long most = Math.max(cell, size - size % cell);
      long length = groups.get(g).value().getLengthBytes();
      int index = 0;
      for (long start = 0; start < length; start += most) {
        pieces.add(new Piece(g, index++, start, Math.min(most, length - start)));
      }
    }
    return pieces;
  }

  /** Whether the groups are those of a transition, as it was planned from them. */
  public boolean isAsIn(TransitionRow row) {
    return row.getStripesList().equals(transitionStripes())
        && stripes.stream().allMatch(stripe -> stripe.getTransitionId() == row.getId());
  }

  /** The stripes of the groups, as the row of a transition names them. */
  public List<TransitionStripeProto> transitionStripes() {
    return stripes.stream()
        .map(
            stripe ->
                TransitionStripeProto.newBuilder()
                    .setStripeId(stripe.getId())
                    .setGeneration(stripe.getGeneration())
                    .build())
        .toList();
  }

  /**
   * The row of the file afterwards. Its times, owner and rights are those of before.
   *
   * @param replication of each block
   */
  public InodeRow replicated(Transaction transaction, int replication, long nowMillis)
      throws IOException {
    return QuotaMarks.withBytes(
        transaction,
        inode.row().toBuilder()
            .clearEcPolicyId()
            .setReplication(replication)
            .setBlocks(pieces().size())
            .setReleasedMillis(nowMillis)
            .build());
  }
}
