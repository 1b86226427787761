package io.ebbfs.verify.day;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceFlowProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.verify.measure.PlannedCost;
import io.ebbfs.verify.measure.TransitionCost;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The bytes that a step makes necessary, computed. After a loss, a lost replica of a block in no
 * stripe is copied once, and the lost members of a stripe are rebuilt together by the plan of the
 * code, which tells what is read and written. Pure.
 */
final class NecessaryBytes {
  /** A replica, or a member of a stripe, on a disk that is lost. */
  record LostReplica(long blockId, long lengthBytes) {}

  private NecessaryBytes() {}

  /**
   * The fewest bytes that have to move until no disk is farther from the mean than the threshold.
   *
   * @param outside the disks that are, with the bytes from each to the mean
   */
  static long ofLevelling(
      double meanShare, double threshold, Collection<RebalanceFlowProto> outside) {
    double given = 0;
    double got = 0;
    for (RebalanceFlowProto flow : outside) {
      double distance = Math.abs(flow.getUsedShare() - meanShare);
      double least = Math.abs(flow.getBytes()) * Math.max(0, 1 - threshold / distance);
      given += flow.getBytes() < 0 ? least : 0;
      got += flow.getBytes() < 0 ? 0 : least;
    }
    return Math.round(Math.max(given, got));
  }

  /**
   * The bytes that are copied, and those that repairs read and write.
   *
   * @param stripes all stripes before the loss
   */
  static long ofLoss(
      CodeRegistry codes, Collection<StripeRow> stripes, Collection<LostReplica> lost) {
    Set<Long> ids = lost.stream().map(LostReplica::blockId).collect(Collectors.toSet());
    Set<Long> members = new HashSet<>();
    long bytes = 0;
    for (StripeRow stripe : stripes) {
      Set<Integer> positions = new TreeSet<>();
      for (StripeMemberProto member : stripe.getMembersList()) {
        if (ids.contains(member.getBlockId())) {
          positions.add(member.getPosition());
          members.add(member.getBlockId());
        }
      }
      if (!positions.isEmpty()) {
        TransitionCost cost =
            PlannedCost.ofRepair(codes.byName(stripe.getCode()), stripe, positions);
        bytes += cost.bytesRead() + cost.bytesWritten();
      }
    }
    return bytes
        + lost.stream()
            .filter(replica -> !members.contains(replica.blockId()))
            .mapToLong(LostReplica::lengthBytes)
            .sum();
  }
}
