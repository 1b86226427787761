package io.ebbfs.verify.kills;

import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.verify.audit.FatalServerPairs;
import io.ebbfs.verify.cluster.VerifyCluster;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * Servers that are down while stripes are encoded and join afterwards. Stripes that were well
 * placed on few servers are then badly placed on many.
 */
final class LateJoiningServers {
  private static final int STAY = 4;

  private final VerifyCluster cluster;
  private final Set<String> away = new ConcurrentSkipListSet<>();
  private final List<Integer> servers = new ArrayList<>();

  LateJoiningServers(VerifyCluster cluster, Random random) {
    this.cluster = cluster;
    for (int server = 0; server < cluster.local().layout().servers(); server++) {
      servers.add(server);
    }
    Collections.shuffle(servers, random);
    servers.subList(0, STAY).clear();
  }

  /** Kills all servers but four and waits until the namenode knows. */
  void leave() throws ClusterException, InterruptedException {
    for (int server : servers) {
      away.add(name(server));
      cluster.local().killServer(server);
    }
    VerifyCluster.await(
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

  /** Starts the servers that are still away. */
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

  /** The servers that are meant to be down now. */
  Set<String> away() {
    return Set.copyOf(away);
  }

  private static String name(int server) {
    return "server-%02d".formatted(server);
  }

  /** The step that is left: servers must join, or stripes must move. Null once both are done. */
  String unfinished() throws IOException {
    if (!away.isEmpty()) {
      return away + " have not joined";
    }
    List<String> fatal = FatalServerPairs.of(cluster);
    return fatal.isEmpty() ? null : "pairs of servers that stripes do not survive: " + fatal;
  }
}
