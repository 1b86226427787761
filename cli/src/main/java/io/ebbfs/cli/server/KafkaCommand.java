package io.ebbfs.cli.server;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.cli.options.ServerProcess;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.KafkaFiles;
import io.ebbfs.testbed.process.ServerLog;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Prepares a broker's files and prints its command line, a word on each line. The launcher script
 * replaces itself by this command.
 */
@Command(
    name = "kafka",
    description = {
      "Runs a single Kafka broker until SIGTERM stops it, for a cluster that has no brokers.",
      "It listens at the address of this machine that cluster.yaml names under 'kafka', and at the"
          + " next port for itself."
    })
public final class KafkaCommand implements Callable<Integer>, ServerProcess {
  @Mixin private HelpOption help;

  @Option(
      names = "--conf",
      required = true,
      paramLabel = "DIR",
      description = "The directory with cluster.yaml.")
  private Path conf;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "Where the broker keeps its log (default: kafka-data).")
  private Path data = Path.of("kafka-data");

  @Override
  public String messagePrefix() {
    return "kafka";
  }

  @Override
  public Integer call()
      throws ConfigException, ClusterException, IOException, InterruptedException {
    InetSocketAddress own =
        MachineAddress.ownOf(ClusterConfig.read(conf).brokers())
            .orElseThrow(
                () ->
                    ClusterConfig.problem(
                        "no broker under 'kafka' is on this machine",
                        "write HOST:PORT of this machine there"));
    Build build = Build.find();
    Path directory = data.toAbsolutePath();
    String host = own.getAddress().getHostAddress();
    Path properties = KafkaFiles.writeProperties(directory, host, own.getPort(), own.getPort() + 1);
    String classPath = build.classPath("testbed/broker");
    KafkaFiles.format(
        directory, properties, classPath, new ServerLog(directory.resolve("format.log")));
    KafkaFiles.command(classPath, properties).forEach(System.out::println);
    return 0;
  }
}
