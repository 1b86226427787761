package io.ebbfs.cli.server;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.cli.options.ServerProcess;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A control plane process; SIGTERM stops it. */
@Command(
    name = "control-plane",
    description = "Runs the adaptive manager and the raid-node until SIGTERM stops them.",
    footer = {
      "",
      "Exit codes: 2 for wrong options or configuration, 3 if the cluster has fewer failure domains"
          + " than a policy asks for, 4 if a port, a directory or a store cannot be used."
    })
public final class ControlPlaneCommand implements Callable<Integer>, ServerProcess {
  @Mixin private HelpOption help;

  @Option(
      names = "--conf",
      required = true,
      paramLabel = "DIR",
      description = "The directory with manager.yaml, policies.yaml and raid-node.yaml.")
  private Path conf;

  @Option(
      names = "--namenode",
      required = true,
      paramLabel = "HOST:PORT",
      converter = HostAndPort.class,
      description = "Where the namenode answers clients.")
  private InetSocketAddress namenode;

  @Option(
      names = "--kafka",
      required = true,
      paramLabel = "HOST:PORT",
      converter = HostAndPort.class,
      description = "A Kafka broker.")
  private InetSocketAddress kafka;

  @Option(
      names = "--http-port",
      required = true,
      paramLabel = "N",
      converter = HostAndPort.Port.class,
      description = "The port of dashboard and REST API; 0 means any free one.")
  private int httpPort;

  @Option(
      names = "--data",
      required = true,
      paramLabel = "DIR",
      description = "Where the state of the manager and of the raid-node is kept.")
  private Path data;

  @Option(
      names = "--http-host",
      paramLabel = "HOST",
      description = "The address of dashboard and REST API (default: 127.0.0.1).")
  private String httpHost = "127.0.0.1";

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

  ControlPlaneOptions options() {
    String broker = kafka.getHostString() + ":" + kafka.getPort();
    return new ControlPlaneOptions(
        conf, namenode, broker, httpHost, httpPort, data, serviceKey, apiToken, readyFile);
  }

  @Override
  public Integer call() throws InterruptedException {
    ServerLogging.use("control-plane-log4j.properties");
    int code = new ControlPlane().run(options());
    if (code == 0) {
      new CountDownLatch(1).await();
    }
    return code;
  }
}
