package io.ebbfs.verify.audit;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.verify.cluster.DiskInventory;
import io.ebbfs.verify.cluster.VerifyCluster;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Finds pairs of servers whose loss some stripe does not survive, by the places of block files. */
public final class FatalServerPairs {
  private FatalServerPairs() {}

  /** The pairs with the stripes that they would destroy, in words. */
  public static List<String> of(VerifyCluster cluster) throws IOException {
    DiskInventory disks;
    try {
      disks = DiskInventory.read(cluster.local());
    } catch (ClusterException e) {
      throw new IOException(e);
    }
    Map<Long, Integer> serverOf = new HashMap<>();
    disks
        .byStorage()
        .forEach(
            (storage, blocks) ->
                blocks.keySet().forEach(b -> serverOf.put(b, disks.serverOf().get(storage))));
    List<String> fatal = new ArrayList<>();
    int servers = cluster.local().layout().servers();
    for (StripeStatusProto stripe : cluster.probe().stripes()) {
      ErasureCode code = cluster.codes().byName(stripe.getStripe().getCode());
      for (int first = 0; first < servers; first++) {
        for (int second = first + 1; second < servers; second++) {
          TreeSet<Integer> lost = new TreeSet<>();
          for (StripeMemberProto member : stripe.getStripe().getMembersList()) {
            int server = serverOf.getOrDefault(member.getBlockId(), first);
            if (server == first || server == second) {
              lost.add(member.getPosition());
            }
          }
          if (!code.decodes(lost)) {
            fatal.add(
                "servers %d and %d of stripe %d"
                    .formatted(first, second, stripe.getStripe().getId()));
          }
        }
      }
    }
    return fatal;
  }
}
