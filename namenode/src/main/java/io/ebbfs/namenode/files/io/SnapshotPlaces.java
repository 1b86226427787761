package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.replicas.BlockPlaces;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.store.NonBlocking;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Locates the blocks of a file in a snapshot. The blocks may belong to a file that has become
 * longer since, so the length that the row of the snapshot says ends the last one.
 */
final class SnapshotPlaces {
  private SnapshotPlaces() {}

  static FilePlaces of(
      Transaction transaction,
      BlockService blocks,
      Inode file,
      long offset,
      long length,
      String clientMachine)
      throws IOException {
    NonBlocking.beforeWait(); // the file may have many blocks
    long end = length > Long.MAX_VALUE - offset ? Long.MAX_VALUE : offset + length;
    long fileEnd = file.row().getLengthBytes();
    List<BlockPlaces> inRange = new ArrayList<>();
    BlockPlaces last = null;
    long position = 0;
    int blocksSeen = 0;
    for (Row<BlockRow> row : transaction.scan(Tables.BLOCK, file.id())) {
      if (row.key().firstLong() >= file.row().getBlocks() || position >= fileEnd) {
        break;
      }
      if (row.key().firstLong() != blocksSeen) {
        throw missing(file, blocksSeen);
      }
      blocksSeen++;
      BlockRow block = row.value();
      long bytes = Math.min(block.getLengthBytes(), fileEnd - position);
      last = null;
      if (position < end && position + bytes > offset || position + bytes >= fileEnd) {
        last = blocks.places(transaction, file.id(), shown(block, bytes), position, clientMachine);
      }
      if (position < end && position + bytes > offset) {
        inRange.add(last);
      }
      position += bytes;
    }
    // A writer may have given up the last block of a file that was open.
    if (position < fileEnd && blocksSeen < file.row().getBlocks() && !file.isUnderConstruction()) {
      throw missing(file, blocksSeen);
    }
    return new FilePlaces(
        position,
        false,
        inRange,
        last,
        true,
        BlockGroupLayout.shown(file.row().hasEcPolicyId(), file.row().getEcPolicyId()));
  }

  /** Without the block, all that follows would be at a wrong place. */
  private static IOException missing(Inode file, int index) {
    return new IOException(
        "block %d of file %d, which a snapshot shows, is missing: try again if the snapshot was deleted just now; else the metadata store is damaged"
            .formatted(index, file.id()));
  }

  private static BlockRow shown(BlockRow block, long bytes) {
    return bytes == block.getLengthBytes()
        ? block
        : block.toBuilder().setLengthBytes(bytes).build();
  }
}
