package io.ebbfs.workloads.prove;

import io.ebbfs.cluster.ClusterException;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * Servers that are away while stripes are made, and join afterwards: what was well placed on few
 * servers is badly placed on many.
 */
final class Joining {
  private static final int STAY = 4;

  private final ProvingCluster cluster;
  private final Set<String> away = new ConcurrentSkipListSet<>();
  private final List<Integer> servers = new ArrayList<>();

  Joining(ProvingCluster cluster, Random random) {
    this.cluster = cluster;
    for (int server = 0; server < cluster.local().layout().servers(); server++) {
      servers.add(server);
    }
    Collections.shuffle(servers, random);
    servers.subList(0, STAY).clear();
  }

  /** Kills all servers but a few and waits until the namenode knows. */
  void leave() throws ClusterException, InterruptedException {
    for (int server : servers) {
      away.add(name(server));
      cluster.local().killServer(server);
    }
    ProvingCluster.await(
        STAY + " live servers",
        30_000,
        () -> {
          long live =
              cluster.probe().cluster().getServersList().stream()
                  .filter(ServerStatusProto::getLive)
                  .count();
          return live == STAY ? null : live + " are live";
        });
  }

  /** Starts those that are still away. */
  void join() throws ClusterException, InterruptedException {
    for (int server : servers) {
      if (away.contains(name(server))) {
        if (!cluster.local().running().containsKey(name(server))) {
          cluster.local().startServer(server);
        }
        away.remove(name(server));
      }
    }
  }

  /** The processes that are not meant to run now. */
  Set<String> away() {
    return Set.copyOf(away);
  }

  private static String name(int server) {
    return "server-%02d".formatted(server);
  }

  /**
   * Why it is not over: servers are away, or a stripe would not survive the loss of two of them.
   */
  String unfinished() throws IOException {
    if (!away.isEmpty()) {
      return away + " have not joined";
    }
    List<String> fatal = fatalPairs(cluster);
    return fatal.isEmpty() ? null : "may not be lost together: " + fatal;
  }

  /** Pairs of servers that some stripe does not survive, by where the block files are. */
  static List<String> fatalPairs(ProvingCluster cluster) throws IOException {
    Disks disks;
    try {
      disks = Disks.read(cluster.local());
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
      ErasureCode code = Codes.byName(stripe.getStripe().getCode());
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
