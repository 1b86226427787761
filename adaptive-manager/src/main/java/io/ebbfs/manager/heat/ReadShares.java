package io.ebbfs.manager.heat;

import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.StripeView;
import java.util.Collection;

/**
 * Tells which data of one policy the recent reads fall on. An open of a file counts as one read of
 * each of its blocks. The counts decay as for the temperature. If the three shares add up to less
 * than 1, the rest of the reads fell on data in codes that the policy does not name.
 *
 * @param blockReads decayed reads of blocks; 0 if nothing was read recently
 * @param fastShare share of the reads on data in the fast code, 0 to 1; 0 with a single code
 * @param compactShare share on data in the compact code, or in the single code of the policy
 * @param replicatedShare share on unencoded blocks
 */
public record ReadShares(
    double blockReads, double fastShare, double compactShare, double replicatedShare) {

  public static ReadShares of(
      ClusterSnapshot snapshot,
      PolicyRule rule,
      Collection<FileView> files,
      Collection<StripeView> stripes) {
    double fast = 0;
    double compact = 0;
    double other = 0;
    for (StripeView stripe : stripes) {
      double reads = reads(snapshot, stripe);
      if (stripe.code().equals(rule.family().compact())) {
        compact += reads;
      } else if (stripe.code().equals(rule.family().fast())) {
        fast += reads;
      } else {
        other += reads;
      }
    }
    double replicated =
        files.stream().mapToDouble(f -> snapshot.heatOf(f.id()) * f.unencodedBlocks()).sum();
    double all = fast + compact + other + replicated;
    return all == 0
        ? new ReadShares(0, 0, 0, 0)
        : new ReadShares(all, fast / all, compact / all, replicated / all);
  }

  private static double reads(ClusterSnapshot snapshot, StripeView stripe) {
    return stripe.members().stream()
        .filter(member -> member.isOwnedByFile(stripe.id()))
        .mapToDouble(member -> snapshot.heatOf(member.ownerId()))
        .sum();
  }
}
