package io.ebbfs.namenode.tasks.plan;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.FileRows;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The blocks that a RELEASE takes out of its stripe. The attempt planner and the commit both use
 * it, so that they agree. Stateless.
 */
public final class LeavingBlocks {
  /** Parities protect a block no longer once it has left, so it needs a second replica. */
  public static final int FEWEST_REPLICAS = 2;

  /**
   * A block that leaves.
   *
   * @param file the row of its file
   */
  public record Leaving(StripeMemberProto member, Row<InodeRow> file) {
    /** How many replicas the block gets. */
    public int replication() {
      return file.value().getReplication();
    }

    /** On how many servers the block must have replicas before it leaves. */
    public int fewestReplicas() {
      return isTruncated(file.value()) ? Math.min(FEWEST_REPLICAS, replication()) : FEWEST_REPLICAS;
    }
  }

  private LeavingBlocks() {}

  /**
   * By position: those of the blocks that the transition names which can leave. A block of a
   * deleted file stays until it is a tombstone.
   */
  public static SortedMap<Integer, Leaving> find(
      Transaction transaction, TransitionRow row, StripeState stripe) throws IOException {
    Set<Integer> named = new HashSet<>(row.getStripes(0).getPositionsList());
    SortedMap<Integer, Leaving> leaving = new TreeMap<>();
    for (StripeMemberProto member : stripe.members().values()) {
      if (named.contains(member.getPosition()) && StripeState.isLiveData(stripe.code(), member)) {
        Optional<Row<InodeRow>> file = FileRows.find(transaction, member.getOwnerId());
        file.ifPresent(f -> leaving.put(member.getPosition(), new Leaving(member, f)));
      }
    }
    return leaving;
  }

  /** Whether no live data is left in the stripe without these positions. */
  public static boolean endStripe(Set<Integer> leaving, StripeState stripe) {
    ErasureCode code = stripe.code();
    return stripe.members().values().stream()
        .filter(member -> StripeState.isLiveData(code, member))
        .allMatch(member -> leaving.contains(member.getPosition()));
  }

  /** A file that is truncated cannot wait until somebody raises its replication. */
  private static boolean isTruncated(InodeRow file) {
    return file.getUnderConstruction().hasTruncatedLengthBytes();
  }

  /** Why the blocks of a file cannot leave their stripes; empty if they can. */
  public static Optional<String> objection(InodeRow file) {
    return file.getReplication() >= FEWEST_REPLICAS || isTruncated(file)
        ? Optional.empty()
        : Optional.of(
            "file %d has replication %d, and its blocks would have no protection outside of stripes: set its replication to %d or more with hdfs dfs -setrep, then order this again"
                .formatted(file.getId(), file.getReplication(), FEWEST_REPLICAS));
  }
}
