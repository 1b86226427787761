package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.UsageProto;
import java.util.List;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * Counts of files and sums of bytes: of a row, of all rows, or the difference that a transaction
 * makes. What a deleted directory held counts until the reaper removes its rows.
 *
 * @param blocks of files; no parities
 * @param logicalBytes the lengths of all files
 * @param storedBytes all finalized replicas, in stripes or not
 * @param liveBytes the part of the stored bytes that is live data in stripes
 * @param deadBytes the part of the stored bytes that is tombstones in stripes
 * @param parityBytes the part of the stored bytes that is parities
 */
public record Usage(
    long files,
    long directories,
    long blocks,
    long logicalBytes,
    long storedBytes,
    long liveBytes,
    long deadBytes,
    long parityBytes) {
  public static final Usage NONE = new Usage(0, 0, 0, 0, 0, 0, 0, 0);

  /** The tables whose rows count. */
  static final List<Table<?>> TABLES = List.of(Tables.INODE, Tables.STRIPE, Tables.REPLICA);

  /** What one row adds to the sums; nothing if there is no row. */
  static Usage of(Table<?> table, Key key, MessageLite row) {
    if (row == null) {
      return NONE;
    }
    if (table == Tables.INODE) {
      return key.partition() == Tables.PENDING_DELETIONS ? NONE : of((InodeRow) row);
    }
    return table == Tables.STRIPE ? of((StripeRow) row) : of((ReplicaRow) row);
  }

  private static Usage of(InodeRow row) {
    return row.getKind() == InodeKindProto.FILE
        ? new Usage(1, 0, row.getBlocks(), row.getLengthBytes(), 0, 0, 0, 0)
        : new Usage(0, 1, 0, 0, 0, 0, 0, 0);
  }

  private static Usage of(ReplicaRow row) {
    return row.getState() == ReplicaStateProto.FINALIZED
        ? new Usage(0, 0, 0, 0, row.getLengthBytes(), 0, 0, 0)
        : NONE;
  }

  private static Usage of(StripeRow row) {
    long live = 0;
    long dead = 0;
    long parity = 0;
    for (StripeMemberProto member : row.getMembersList()) {
      boolean isGroupData = row.hasGroupFileId() && member.getPosition() < row.getGroupDataUnits();
      if (member.getTombstone()) {
        dead += member.getLengthBytes();
      } else if (member.getOwnerId() == row.getId() && !isGroupData) {
        parity += member.getLengthBytes();
      } else {
        live += member.getLengthBytes();
      }
    }
    return new Usage(0, 0, 0, 0, 0, live, dead, parity);
  }

  Usage plus(Usage other) {
    return new Usage(
        files + other.files,
        directories + other.directories,
        blocks + other.blocks,
        logicalBytes + other.logicalBytes,
        storedBytes + other.storedBytes,
        liveBytes + other.liveBytes,
        deadBytes + other.deadBytes,
        parityBytes + other.parityBytes);
  }

  Usage minus(Usage other) {
    return new Usage(
        files - other.files,
        directories - other.directories,
        blocks - other.blocks,
        logicalBytes - other.logicalBytes,
        storedBytes - other.storedBytes,
        liveBytes - other.liveBytes,
        deadBytes - other.deadBytes,
        parityBytes - other.parityBytes);
  }

  static Usage of(UsageProto message) {
    return new Usage(
        message.getFiles(),
        message.getDirectories(),
        message.getBlocks(),
        message.getLogicalBytes(),
        message.getStoredBytes(),
        message.getLiveBytes(),
        message.getDeadBytes(),
        message.getParityBytes());
  }

  /** Without the sums that are 0. */
  UsageProto message() {
    UsageProto.Builder message = UsageProto.newBuilder();
    if (files != 0) {
      message.setFiles(files);
    }
    if (directories != 0) {
      message.setDirectories(directories);
    }
    if (blocks != 0) {
      message.setBlocks(blocks);
    }
    if (logicalBytes != 0) {
      message.setLogicalBytes(logicalBytes);
    }
    if (storedBytes != 0) {
      message.setStoredBytes(storedBytes);
    }
    if (liveBytes != 0) {
      message.setLiveBytes(liveBytes);
    }
    if (deadBytes != 0) {
      message.setDeadBytes(deadBytes);
    }
    if (parityBytes != 0) {
      message.setParityBytes(parityBytes);
    }
    return message.build();
  }
}
