package io.ebbfs.cli.cluster;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.cli.options.Json;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceOrderProto;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Shows the servers of a cluster, and what is ordered for them. */
@Command(
    name = "status",
    description = "Shows the servers with their states and fullness, and the rebalance.")
final class AdminStatusCommand extends AdminTarget implements Callable<Integer> {
  @Mixin private HelpOption help;
  @Mixin private Json json;

  /** The servers, and how far the rebalance is. */
  private record Report(List<ServerState> servers, RebalanceState rebalance) {}

  @Override
  public Integer call()
      throws ClusterException, ConfigException, IOException, InterruptedException {
    return run(this::show);
  }

  private int show(NamenodeClient namenode) throws IOException {
    Report report =
        new Report(
            namenode.cluster().getServersList().stream().map(ServerState::of).toList(),
            RebalanceState.ask(namenode, RebalanceOrderProto.REBALANCE_STATUS, null, null));
    if (json.isAsked()) {
      Json.print(report);
      return 0;
    }
    report.servers().forEach(server -> System.out.println(server.text()));
    System.out.print(report.rebalance().text());
    return 0;
  }
}
