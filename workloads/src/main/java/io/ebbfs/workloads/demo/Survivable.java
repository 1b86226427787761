package io.ebbfs.workloads.demo;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.process.LiveFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Chooses faults that no data may be lost by. It looks where the blocks are, and finds two servers
 * that every stripe can lose together. All faults at one time concern these two servers.
 */
final class Survivable {
  private final Map<Long, Integer> serverOfBlock = new HashMap<>();
  private final List<StripeStatusProto> stripes;
  private final int servers;

  Survivable(LocalCluster cluster, List<StripeStatusProto> stripes)
      throws IOException, ClusterException {
    this.stripes = stripes;
    this.servers = cluster.layout().servers();
    for (int server = 0; server < servers; server++) {
      for (int disk = 0; disk < cluster.layout().disks(); disk++) {
        read(cluster.diskDirectory(server, disk), server);
      }
    }
  }

  private void read(Path disk, int server) throws IOException {
    for (Path file : LiveFiles.below(disk)) {
      String name = file.getFileName().toString();
      if (name.matches("blk_\\d+")) {
        serverOfBlock.put(Long.parseLong(name.substring(4)), server);
      }
    }
  }

  /** Two servers that may be lost together. */
  int[] pair(Random random) {
    List<int[]> pairs = new ArrayList<>();
    for (int first = 0; first < servers; first++) {
      for (int second = 0; second < servers; second++) {
        if (first != second) {
          pairs.add(new int[] {first, second});
        }
      }
    }
    Collections.shuffle(pairs, random);
    return pairs.stream()
        .filter(pair -> stripes.stream().allMatch(stripe -> decodesWithout(stripe, pair)))
        .findFirst()
        .orElseThrow(
            () -> new DemoException("no two of the servers may be lost together: too few servers"));
  }

  private boolean decodesWithout(StripeStatusProto stripe, int[] pair) {
    ErasureCode code = Codes.byName(stripe.getStripe().getCode());
    List<Integer> lost =
        stripe.getStripe().getMembersList().stream()
            .filter(member -> isOn(member, pair))
            .map(StripeMemberProto::getPosition)
            .toList();
    return code.decodes(lost);
  }

  private boolean isOn(StripeMemberProto member, int[] pair) {
    Integer server = serverOfBlock.get(member.getBlockId());
    return server == null || server == pair[0] || server == pair[1];
  }

  /** Some data blocks on a server, at most one of each stripe. */
  List<Long> dataBlocksOn(int server, int count, Random random) {
    List<StripeStatusProto> shuffled = new ArrayList<>(stripes);
    Collections.shuffle(shuffled, random);
    return shuffled.stream()
        .flatMap(stripe -> dataBlock(stripe, server).stream())
        .limit(count)
        .toList();
  }

  private List<Long> dataBlock(StripeStatusProto stripe, int server) {
    ErasureCode code = Codes.byName(stripe.getStripe().getCode());
    return stripe.getStripe().getMembersList().stream()
        .filter(member -> member.getPosition() < code.dataCount() && !member.getTombstone())
        .filter(member -> Integer.valueOf(server).equals(serverOfBlock.get(member.getBlockId())))
        .map(StripeMemberProto::getBlockId)
        .limit(1)
        .toList();
  }
}
