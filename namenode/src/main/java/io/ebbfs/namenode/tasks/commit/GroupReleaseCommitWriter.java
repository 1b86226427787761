package io.ebbfs.namenode.tasks.commit;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.replicas.GroupRows;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.RowSet;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.namenode.tasks.lifecycle.TransitionLifecycle;
import io.ebbfs.namenode.tasks.plan.GroupFile;
import io.ebbfs.namenode.tasks.plan.GroupFile.Piece;
import io.ebbfs.namenode.tasks.plan.LeavingBlocks;
import io.ebbfs.namenode.tasks.plan.NotPlannableException;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Publishes a RELEASE of a whole file that its client has encoded: the blocks that the attempt has
 * written become the blocks of the file, and its block groups are deleted. The file keeps its id,
 * times, owner, rights and attributes, and loses its erasure coding policy.
 */
final class GroupReleaseCommitWriter implements CommitWriter {
  private final BlockService blocks;
  private final ClusterView cluster;
  private final Clock clock;

  GroupReleaseCommitWriter(BlockService blocks, ClusterView cluster, Clock clock) {
    this.blocks = blocks;
    this.cluster = cluster;
    this.clock = clock;
  }

  @Override
  public Locks locks(Transaction transaction, TransitionRow row) {
    return new Locks(Set.of(row.getGroupFileId()), TransitionLifecycle.stripes(row));
  }

  @Override
  public Written write(Transaction transaction, TransitionRow row, long firstStripeId)
      throws IOException {
    GroupFile file = file(transaction, row);
    lockRows(transaction, file.groups());
    List<Piece> pieces = file.pieces();
    requireReplicas(row, pieces);
    List<Invalidation> gone = new ArrayList<>();
    for (Row<BlockRow> group : file.groups()) {
      gone.addAll(GroupRows.release(transaction, blocks, group.value()));
      transaction.delete(Tables.BLOCK, group.key());
    }
    for (int index = 0; index < pieces.size(); index++) {
      put(transaction, row, index, outputs(row, pieces.get(index)));
      gone.addAll(blocks.setReplication(transaction, file.id(), index, row.getGroupReplication()));
    }
    transaction.put(
        Tables.INODE,
        file.inode().key(),
        file.replicated(transaction, row.getGroupReplication(), clock.millis()));
    return new Written(gone, Set.of(), file.inode().row().getLengthBytes(), row.getFromCode());
  }

  private static GroupFile file(Transaction transaction, TransitionRow row) throws IOException {
    GroupFile file;
    try {
      file = GroupFile.read(transaction, row.getGroupFileId());
    } catch (NotPlannableException e) {
      throw new CommitRefusedException(e.getMessage());
    }
    if (!file.isWhole()) {
      throw new StaleReadException(
          "the row of file %d and its block groups differ".formatted(file.id()));
    }
    if (!file.isAsIn(row)) {
      throw new CommitRefusedException(
          "the block groups of file %d changed while its blocks were written".formatted(file.id()));
    }
    return file;
  }

  /**
   * In a store that several processes share, the row of a file may be seen after a commit, and that
   * of a group before it.
   */
  private static void lockRows(Transaction transaction, List<Row<BlockRow>> groups)
      throws IOException {
    RowSet now =
        transaction.lockAndRead(
            groups.stream().map(group -> RowLock.exclusive(Tables.BLOCK, group.key())).toList());
    for (Row<BlockRow> group : groups) {
      if (!now.get(Tables.BLOCK, group.key()).equals(Optional.of(group.value()))) {
        throw new StaleReadException("block group " + group.value().getBlockId() + " has changed");
      }
    }
  }

  private static List<TransitionOutputProto> outputs(TransitionRow row, Piece piece) {
    return row.getOutputsList().stream()
        .filter(o -> o.getStripeIndex() == piece.group() && o.getPosition() == piece.index())
        .toList();
  }

  /** Refuses a block that has too few replicas without the parities of its group. */
  private void requireReplicas(TransitionRow row, List<Piece> pieces)
      throws CommitRefusedException {
    PublicationGuard guard = new PublicationGuard(cluster);
    for (Piece piece : pieces) {
      List<TransitionOutputProto> written = outputs(row, piece);
      if (written.isEmpty() || written.get(0).getLengthBytes() != piece.lengthBytes()) {
        throw new CommitRefusedException(
            "no block was written for the %d bytes from byte %d of group %d of file %d on"
                .formatted(
                    piece.lengthBytes(), piece.startBytes(), piece.group(), row.getGroupFileId()));
      }
      guard.requireOutputs(written);
      guard.requireServers(
          written.get(0).getBlockId(),
          new TreeSet<>(written.stream().map(TransitionOutputProto::getStorageUuid).toList()),
          LeavingBlocks.FEWEST_REPLICAS);
    }
  }

  private void put(
      Transaction transaction, TransitionRow row, int index, List<TransitionOutputProto> replicas)
      throws IOException {
    TransitionOutputProto first = replicas.get(0);
    BlockRows.putBlock(
        transaction,
        row.getGroupFileId(),
        index,
        BlockRow.newBuilder()
            .setBlockId(first.getBlockId())
            .setGenerationStamp(first.getGenerationStamp())
            .setLengthBytes(first.getLengthBytes())
            .setState(BlockStateProto.COMPLETE)
            .setReplication(row.getGroupReplication())
            .build());
    for (TransitionOutputProto replica : replicas) {
      BlockRows.addReplica(
          transaction,
          cluster,
          row.getGroupFileId(),
          replica.getBlockId(),
          replica.getGenerationStamp(),
          replica.getLengthBytes(),
          replica.getStorageUuid());
    }
  }
}
