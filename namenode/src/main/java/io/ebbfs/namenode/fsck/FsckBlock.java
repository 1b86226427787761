package io.ebbfs.namenode.fsck;

import io.ebbfs.namenode.datanodes.ClusterView.DrainState;
import io.ebbfs.namenode.files.inodes.FsPath;
import io.ebbfs.namenode.replicas.BlockHealth;
import io.ebbfs.namenode.replicas.BlockHealth.Found;
import io.ebbfs.namenode.replicas.BlockHealth.State;
import java.io.IOException;
import java.io.Writer;
import java.util.Optional;

/** Tells of one block: whose it is, and where its replicas are. The words are those of HDFS. */
record FsckBlock(FsckReader reader) {
  /** Writes the state of a block. The name of the block has the form {@code blk_ID}. */
  void tell(String word, Writer out) throws IOException {
    long id = Long.parseLong(word.replaceFirst("^blk_(-?[0-9]+).*", "$1"));
    Optional<FsckReader.BlockAndPath> found = reader.block(id);
    if (found.isEmpty()) {
      out.write("Block " + word + " does not exist\n");
      return;
    }
    BlockHealth health = found.get().health();
    out.write("Block Id: " + word + "\n");
    out.write(
        "Block belongs to: "
            + found.get().path().map(FsPath::toString).orElse("stripe " + stripe(health))
            + "\n");
    out.write("No. of Expected Replica: " + health.wanted() + "\n");
    out.write("No. of live Replica: " + health.live(DrainState.NONE) + "\n");
    out.write("No. of excess Replica: " + health.count(State.EXCESS) + "\n");
    out.write("No. of stale Replica: 0\n");
    out.write("No. of decommissioned Replica: " + health.live(DrainState.DRAINED) + "\n");
    out.write("No. of decommissioning Replica: " + health.live(DrainState.DRAINING) + "\n");
    out.write("No. of corrupted Replica: " + health.count(State.CORRUPT) + "\n");
    for (Found replica : health.replicas()) {
      out.write(
          "Block replica on datanode/rack: %s%s %s\n"
              .formatted(replica.server().hostName(), replica.server().rack(), verdict(replica)));
    }
    if (health.isEncoded()) {
      out.write("Block is in stripe " + stripe(health) + "\n");
    }
    if (health.replicas().isEmpty()) {
      out.write(health.decodes() ? "Block is decoded, and is HEALTHY\n" : "Block is CORRUPT\n");
    }
  }

  private static long stripe(BlockHealth health) {
    return health.block().getStripeId();
  }

  private static String verdict(Found replica) {
    return switch (replica.server().drain()) {
      case DRAINED -> "is DECOMMISSIONED";
      case DRAINING -> "is DECOMMISSIONING";
      case NONE ->
          switch (replica.state()) {
            case LIVE -> "is HEALTHY";
            case CORRUPT -> "is CORRUPT\t ReasonCode: CORRUPTION_REPORTED";
            case EXCESS -> "is EXCESS";
          };
    };
  }
}
