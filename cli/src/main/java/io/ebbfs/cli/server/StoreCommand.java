package io.ebbfs.cli.server;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.cli.options.ServerProcess;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.http.StatusServer;
import io.ebbfs.ignite.StoreMember;
import io.ebbfs.ignite.StoreNode;
import io.ebbfs.ignite.StoreNodeConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A node of the store that several namenodes share; SIGTERM stops it cleanly. */
@Command(
    name = "store",
    description = {
      "Runs a node of the metadata store that several namenodes share, until SIGTERM stops it.",
      "The key 'store' of cluster.yaml names the nodes; a new store serves once all of them run."
    },
    footer = {
      "",
      "Exit codes: 0 after SIGTERM, 2 for wrong options or configuration, 4 if a port, a directory"
          + " or the other nodes do not allow a start, 74 if the disk or the memory failed, 75 if the"
          + " other nodes went on without this one. Start it again after 4, 74 and 75."
    })
public final class StoreCommand implements Callable<Integer>, ServerProcess {
  private static final String FILE = "store.yaml";

  @Mixin private HelpOption help;

  @Option(
      names = "--conf",
      required = true,
      paramLabel = "DIR",
      description = "The configuration directory of the cluster.")
  private Path conf;

  @Option(
      names = "--node",
      paramLabel = "HOST:PORT",
      converter = HostAndPort.class,
      description = "Which of the nodes this is (default: the first one of this machine).")
  private InetSocketAddress node;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "The directory of the rows, over store.yaml.")
  private Path data;

  @Override
  public String messagePrefix() {
    return "store";
  }

  @Override
  public Integer call() throws ConfigException, IOException, InterruptedException {
    ClusterConfig cluster = ClusterConfig.read(conf);
    StoreMember member = member(cluster);
    StoreNodeConfig config = config();
    ServerLogging.use("store", cluster);
    StopSignal stop = StopSignal.install();
    try (StatusServer status = StatusServer.start(member.host(), config.httpPort());
        StoreNode running = StoreNode.start(member, config)) {
      status.show(running.state());
      Thread serving = new Thread(running::awaitServing, "serving");
      serving.setDaemon(true);
      serving.start();
      stop.await();
    }
    return 0;
  }

  private StoreMember member(ClusterConfig cluster) throws ConfigException, IOException {
    InetSocketAddress own =
        node != null
            ? node
            : MachineAddress.ownOf(cluster.store())
                .orElseThrow(
                    () ->
                        ClusterConfig.problem(
                            "no node under 'store' is on this machine",
                            "write HOST:PORT of this machine there"));
    return new StoreMember(own.getHostString(), own.getPort(), cluster.storeNodes());
  }

  private StoreNodeConfig config() throws ConfigException {
    Path file = conf.resolve(FILE);
    StoreNodeConfig config =
        Files.exists(file) ? StoreNodeConfig.read(file) : StoreNodeConfig.defaults();
    return data == null ? config : config.withData(data);
  }
}
