package io.ebbfs.cli.server;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.cli.options.ServerProcess;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.ConfigProblem;
import io.ebbfs.protocol.rpc.NamenodeAddresses;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.ChunkServerConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Checks the configuration of a chunk server and prints its command line, a word on each line. The
 * launcher script replaces itself by this command, so that a supervisor sees the chunk server.
 */
@Command(
    name = "chunkserver",
    description = "Runs a chunk server until SIGTERM stops it.",
    footer = {
      "",
      "Exit codes: 0 after SIGTERM, 1 for a failure while it ran, 2 for wrong options or"
          + " configuration, 4 if a port or a directory cannot be used."
    })
public final class ChunkServerCommand implements Callable<Integer>, ServerProcess {
  @Mixin private HelpOption help;

  @Option(
      names = "--conf",
      required = true,
      paramLabel = "DIR",
      description = "The directory with cluster.yaml and chunk-server.yaml.")
  private Path conf;

  @Override
  public String messagePrefix() {
    return "chunkserver";
  }

  @Override
  public Integer call() throws ConfigException, ClusterException, IOException {
    List<String> command = command(Build.find());
    command.forEach(System.out::println);
    return 0;
  }

  List<String> command(Build build) throws ConfigException, ClusterException, IOException {
    ClusterConfig cluster = ClusterConfig.read(conf);
    ChunkServerConfig server = ChunkServerConfig.read(conf);
    InetSocketAddress namenode =
        cluster
            .namenode()
            .orElseThrow(
                () -> missing(ClusterConfig.FILE, "namenodes", "write HOST:PORT of the namenode"));
    if (server.disks().isEmpty()) {
      throw missing("chunk-server.yaml", "disks", "write a directory on each disk");
    }
    List<String> command = new ArrayList<>();
    command.add(build.chunkServer().toString());
    command.addAll(
        List.of("--namenode", new NamenodeAddresses(cluster.namenodes()).toString(), "--host"));
    command.add(cluster.host().isEmpty() ? MachineAddress.toward(namenode) : cluster.host());
    if (!cluster.serviceKey().isEmpty()) {
      command.addAll(List.of("--service-key", cluster.serviceKey()));
    }
    command.addAll(server.placeOptions());
    command.addAll(server.options());
    command.addAll(log(cluster));
    return command;
  }

  private static List<String> log(ClusterConfig cluster) throws IOException {
    List<String> options = new ArrayList<>();
    if (cluster.jsonLog()) {
      options.addAll(List.of("--log-format", "json"));
    }
    if (!cluster.logDirectory().isEmpty()) {
      options.addAll(List.of("--log-file", ServerLogging.file("chunkserver", cluster).toString()));
    }
    return options;
  }

  private static ConfigException missing(String file, String key, String remedy) {
    return new ConfigException(
        List.of(new ConfigProblem(file, 0, "'" + key + "' is missing", remedy)));
  }
}
