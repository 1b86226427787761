package io.ebbfs.cli.cluster;

import io.ebbfs.common.config.ConfigException;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParentCommand;

/** The cluster of a command below {@code ebb admin}, and its servers. */
abstract class AdminTarget {
  /** Between two looks at something that is under way. */
  static final long ASK_MILLIS = 2_000;

  @Mixin private ClusterAddress cluster;
  @ParentCommand private AdminCommand admin;

  /** A call to the namenode that leads. Returns the exit code of the command. */
  @FunctionalInterface
  interface Work {
    int with(NamenodeClient namenode)
        throws ClusterException, ConfigException, IOException, InterruptedException;
  }

  int run(Work work) throws ClusterException, ConfigException, IOException, InterruptedException {
    ClusterAddress chosen = cluster.isGiven() ? cluster : admin.cluster();
    try (NamenodeClient namenode = chosen.namenodeClient()) {
      return work.with(namenode);
    }
  }

  static String nameOf(ServerStatusProto server) {
    return server.getServer().getHostName() + ":" + server.getServer().getXferPort();
  }

  /**
   * The server with a name (host, or host:port) or a uuid.
   *
   * @throws ClusterException if none or several have the name
   */
  static ServerStatusProto server(NamenodeClient namenode, String name)
      throws ClusterException, IOException {
    List<ServerStatusProto> all = namenode.cluster().getServersList();
    List<ServerStatusProto> found = all.stream().filter(server -> isCalled(server, name)).toList();
    if (found.size() != 1) {
      throw new ClusterException(
          "%d servers are called '%s': write HOST:PORT or the uuid of one of the %d that 'ebb admin status' lists"
              .formatted(found.size(), name, all.size()));
    }
    return found.get(0);
  }

  private static boolean isCalled(ServerStatusProto server, String name) {
    String host = server.getServer().getHostName();
    int port = server.getServer().getXferPort();
    return List.of(
            server.getServer().getDatanodeUuid(),
            host,
            host + ":" + port,
            server.getServer().getIpAddr(),
            server.getServer().getIpAddr() + ":" + port)
        .contains(name);
  }

  static void pause() throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(ASK_MILLIS);
  }

  /** A time that is left, for people. */
  static String duration(long seconds) {
    if (seconds < 120) {
      return seconds + " s";
    }
    return seconds < 7_200 ? seconds / 60 + " min" : seconds / 3_600 + " h";
  }
}
