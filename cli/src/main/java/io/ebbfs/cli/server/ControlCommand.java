package io.ebbfs.cli.server;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.cli.options.ServerProcess;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.protocol.rpc.NamenodeAddresses;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A control plane process; SIGTERM stops it. */
@Command(
    name = "control",
    description = {
      "Runs the adaptive manager and the raid-node, or one of them, until SIGTERM stops it.",
      "The options go over the values of cluster.yaml."
    },
    footer = {
      "",
      "Exit codes: 0 after SIGTERM, 1 for a failure while it ran, 2 for wrong options or"
          + " configuration, 3 if the cluster has fewer failure domains than a policy asks for,"
          + " 4 if a port, a directory or a store cannot be used."
    })
public final class ControlCommand implements Callable<Integer>, ServerProcess {
  @Mixin private HelpOption help;
  @Spec private CommandSpec command;

  @Option(
      names = "--conf",
      required = true,
      paramLabel = "DIR",
      description =
          "The directory with cluster.yaml, manager.yaml, policies.yaml and raid-node.yaml.")
  private Path conf;

  @Option(
      names = "--only",
      paramLabel = "PART",
      description =
          "Runs one part: manager or raid-node. A cluster has one manager and may have several"
              + " raid-nodes.")
  private ControlPart only;

  @Option(
      names = "--namenode",
      split = ",",
      paramLabel = "HOST:PORT",
      converter = HostAndPort.class,
      description =
          "Where the namenode answers clients; all namenodes, separated by commas, if several"
              + " share a store.")
  private List<InetSocketAddress> namenodes;

  @Option(
      names = "--kafka",
      paramLabel = "HOST:PORT",
      converter = HostAndPort.class,
      description = "A Kafka broker.")
  private InetSocketAddress kafka;

  @Option(
      names = "--http-port",
      paramLabel = "N",
      converter = HostAndPort.Port.class,
      description = "The port of dashboard and REST API; 0 means any free one.")
  private Integer httpPort;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "Where the state of the manager and of the raid-node is kept.")
  private Path data;

  @Option(
      names = "--http-host",
      paramLabel = "HOST",
      description = "The address of dashboard and REST API.")
  private String httpHost;

  @Option(
      names = "--service-key",
      paramLabel = "FILE",
      description = "The key that the services of the cluster share (default: none).")
  private Path serviceKey;

  @Option(
      names = "--api-token",
      paramLabel = "FILE",
      description =
          "The token of API requests that change something (default: none; they are refused).")
  private Path apiToken;

  @Option(
      names = "--ready-file",
      paramLabel = "FILE",
      description = "Gets the address of the API once everything runs.")
  private Path readyFile;

  @Override
  public String messagePrefix() {
    return "ebbfs";
  }

  ControlPlaneOptions options(ClusterConfig cluster) throws IOException {
    List<InetSocketAddress> asked = namenodes == null ? cluster.namenodes() : namenodes;
    if (asked.isEmpty()) {
      throw missing("--namenode", "namenodes");
    }
    return new ControlPlaneOptions(
        conf,
        Optional.ofNullable(only),
        new NamenodeAddresses(asked),
        brokers(cluster),
        httpHost(cluster, asked.get(0)),
        httpPort == null ? cluster.control().httpPort() : httpPort,
        data == null ? Path.of(cluster.control().data()) : data,
        or(serviceKey, cluster.serviceKey()),
        or(apiToken, cluster.control().apiToken()),
        readyFile);
  }

  private String brokers(ClusterConfig cluster) {
    if (kafka != null) {
      return kafka.getHostString() + ":" + kafka.getPort();
    }
    if (cluster.kafka().isEmpty() && only != ControlPart.RAID_NODE) {
      throw missing("--kafka", "kafka");
    }
    return cluster.kafka();
  }

  private String httpHost(ClusterConfig cluster, InetSocketAddress namenode) throws IOException {
    if (httpHost != null) {
      return httpHost;
    }
    if (cluster.namenodes().isEmpty()) {
      return "127.0.0.1";
    }
    return cluster.host().isEmpty() ? MachineAddress.toward(namenode) : cluster.host();
  }

  private static Path or(Path option, String configured) {
    return option != null || configured.isEmpty() ? option : Path.of(configured);
  }

  private ParameterException missing(String option, String key) {
    return new ParameterException(
        command.commandLine(),
        "%s is missing, and %s has no '%s'; write one of both"
            .formatted(option, ClusterConfig.FILE, key));
  }

  @Override
  public Integer call() throws ConfigException, IOException, InterruptedException {
    ClusterConfig cluster = ClusterConfig.read(conf);
    ControlPlaneOptions options = options(cluster);
    ServerLogging.use(ControlPart.nameOf(options.only()), cluster);
    StopSignal stop = StopSignal.install();
    ControlPlane controlPlane = new ControlPlane();
    int code = controlPlane.run(options);
    if (code == 0) {
      stop.await();
      controlPlane.close();
    }
    return code;
  }
}
