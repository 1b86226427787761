package io.ebbfs.namenode.fsck;

import io.ebbfs.namenode.datanodes.ClusterView.DrainState;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.fsck.FsckQuestion.Detail;
import io.ebbfs.namenode.replicas.BlockHealth;
import io.ebbfs.namenode.replicas.BlockHealth.Found;
import io.ebbfs.namenode.replicas.BlockHealth.State;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.util.stream.Collectors;

/** How fsck writes a block and its replicas. The words are those of HDFS. */
record FsckText(String blockPoolId) {
  String name(BlockRow block) {
    return "%s:blk_%d_%d".formatted(blockPoolId, block.getBlockId(), block.getGenerationStamp());
  }

  /** A block and what is known of it, in one line. */
  String line(long index, BlockHealth health, Detail detail) {
    StringBuilder text = new StringBuilder();
    text.append("%d. %s len=%d".formatted(index, name(health.block()), length(health)));
    if (health.isMissing()) {
      return text.append(" MISSING!\n").toString();
    }
    text.append(" Live_repl=").append(health.live(DrainState.NONE));
    if (health.decodes()) {
      text.append(" decoded from stripe ").append(health.block().getStripeId());
    }
    if (detail != Detail.NONE) {
      text.append(
          health.replicas().stream()
              .filter(found -> found.state() == State.LIVE || detail == Detail.STATES)
              .map(found -> (health.isGroup() ? member(found) : "") + replica(found, detail))
              .collect(Collectors.joining(", ", "  [", "]")));
    }
    return text.append('\n').toString();
  }

  private static long length(BlockHealth health) {
    return health.block().getLengthBytes();
  }

  /** The block of a group of which a replica is. */
  private static String member(Found found) {
    return "blk_" + found.blockId() + ":";
  }

  private static String replica(Found found, Detail detail) {
    Server server = found.server();
    String address = server.ipAddress() + ":" + server.transferPort();
    if (detail == Detail.RACKS) {
      return server.rack() + "/" + address;
    }
    String place = "DatanodeInfoWithStorage[%s,%s,DISK]".formatted(address, found.storageUuid());
    return switch (detail) {
      case STATES -> place + "(" + state(found) + ")";
      case DOMAINS -> place + "(ud=undefined)";
      default -> place;
    };
  }

  private static String state(Found found) {
    return switch (found.server().drain()) {
      case DRAINED -> "DECOMMISSIONED";
      case DRAINING -> "DECOMMISSIONING";
      case NONE -> found.state().name();
    };
  }

  /** Why a block has too few replicas. */
  String tooFew(BlockHealth health) {
    return " Under replicated %s. Target Replicas is %d but found %d live replica(s), %d decommissioned replica(s), %d decommissioning replica(s).\n"
        .formatted(
            name(health.block()),
            health.wanted(),
            health.live(DrainState.NONE),
            health.live(DrainState.DRAINED),
            health.live(DrainState.DRAINING));
  }
}
