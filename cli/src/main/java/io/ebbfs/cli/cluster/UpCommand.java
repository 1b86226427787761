package io.ebbfs.cli.cluster;

import io.ebbfs.cli.options.ByteCount;
import io.ebbfs.cli.options.ClusterDirectory;
import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.ClusterLayout;
import io.ebbfs.testbed.cluster.ClusterSpec;
import io.ebbfs.testbed.cluster.LocalCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Starts a cluster on this machine: a new one, or the one of the directory over its old state. */
@Command(
    name = "up",
    description = {
      "Starts a cluster on this machine.",
      "A directory that holds a cluster keeps its files and its layout."
    },
    footer = {
      "",
      "The other ports follow the port P of the namenode: Kafka has P+1 and P+2, HTTP P+3,"
          + " WebHDFS P+4, HTTP of namenode i P+30+i, chunk server i P+100+2i and P+101+2i. A port 0 means any free ports."
    })
public final class UpCommand implements Callable<Integer> {
  @Mixin private HelpOption help;
  @Mixin private ClusterDirectory directory;

  @Option(
      names = "--servers",
      paramLabel = "N",
      description = "Number of chunk servers (default: 12).")
  private Integer servers;

  @Option(
      names = "--disks",
      paramLabel = "N",
      description = "Disks of each chunk server (default: 6).")
  private Integer disks;

  @Option(
      names = "--racks",
      paramLabel = "N",
      description = "Racks that the servers are spread over, of a new cluster (default: 1).")
  private Integer racks;

  @Option(
      names = "--namenodes",
      paramLabel = "N",
      description =
          "Namenodes of a new cluster (default: 1). Several share a store of three nodes; one of them"
              + " serves, and another takes over when it fails.")
  private Integer namenodes;

  @Option(
      names = "--block-size",
      paramLabel = "BYTES",
      converter = ByteCount.class,
      description = "Length of a block, as 1048576, 1024k or 1m (default: 64m).")
  private Long blockSize;

  @Option(
      names = "--port",
      paramLabel = "P",
      description = "The namenode's port (default of a new cluster: 8020).")
  private Integer port;

  @Option(
      names = "--http-port",
      paramLabel = "P",
      description = "The port of dashboard and REST API.")
  private Integer httpPort;

  @Option(
      names = "--heartbeat-millis",
      paramLabel = "M",
      description = "Time between two heartbeats of a chunk server (default: 1000).")
  private Long heartbeatMillis;

  @Option(
      names = "--codes",
      paramLabel = "FILE",
      description = "A file that defines codes for a new cluster, such as conf/codes.yaml.")
  private Path codes;

  @Option(
      names = "--webhdfs",
      description = "Has HttpFS serve WebHDFS (webhdfs://), from now on at every start.")
  private boolean webHdfs;

  @Option(
      names = "--fail-points",
      description = "Lets 'ebb fault arm' stop the processes at named points.")
  private boolean failPoints;

  @Override
  public Integer call() throws ClusterException {
    try {
      up();
      return 0;
    } catch (InterruptedException e) {
      throw new ClusterException("interrupted; everything started was stopped again", e);
    }
  }

  private void up() throws ClusterException, InterruptedException {
    long start = System.nanoTime();
    LocalCluster cluster = LocalCluster.exists(directory.path()) ? reopen() : create();
    if (failPoints) {
      cluster.withFailPoints();
    }
    if (webHdfs) {
      cluster.withWebHdfs();
    }
    cluster.start();
    System.out.printf(
        "cluster of %d servers with %d disks each is up after %.1f s in %s%n"
            + "  file system  %s%n  dashboard    %s%n",
        cluster.layout().servers(),
        cluster.layout().disks(),
        (System.nanoTime() - start) / 1e9,
        directory.path(),
        cluster.stockClient().uri(),
        cluster.httpAddress());
    cluster.layout().webHdfsUri().ifPresent(uri -> System.out.println("  WebHDFS      " + uri));
  }

  private LocalCluster create() throws ClusterException {
    ClusterSpec base = ClusterSpec.of(directory.path());
    return LocalCluster.create(
        Build.find(),
        base.withServers(or(servers, base.servers()), or(disks, base.disks()))
            .withRacks(or(racks, base.racks()))
            .withNamenodes(or(namenodes, base.namenodes()))
            .withBlockSize(or(blockSize, base.blockSizeBytes()))
            .withPorts(or(port, base.port()), httpPort)
            .withHeartbeat(or(heartbeatMillis, base.heartbeatMillis()))
            .withConfFiles(codeFiles()));
  }

  private static <T> T or(T given, T otherwise) {
    return given == null ? otherwise : given;
  }

  /** The user's codes in place of the example, which defines none. */
  private Map<String, String> codeFiles() throws ClusterException {
    if (codes == null) {
      return Map.of();
    }
    try {
      return Map.of("codes.yaml", Files.readString(codes));
    } catch (IOException e) {
      throw new ClusterException(
          "--codes %s cannot be read (%s): name a file like conf/codes.yaml".formatted(codes, e),
          e);
    }
  }

  private LocalCluster reopen() throws ClusterException {
    if (racks != null) {
      throw new ClusterException(
          "--racks is for a new cluster: edit %s of this one, which is read at once"
              .formatted(directory.path().resolve("topology")));
    }
    if (codes != null) {
      throw new ClusterException(
          "--codes is for a new cluster: edit %s of this one and start it again"
              .formatted(directory.path().resolve("conf").resolve("codes.yaml")));
    }
    LocalCluster cluster = directory.open();
    ClusterLayout layout = cluster.layout();
    checkSame("servers", servers, layout.servers());
    checkSame("disks", disks, layout.disks());
    checkSame("namenodes", namenodes, layout.namenodes());
    checkSame("block-size", blockSize, layout.blockSizeBytes());
    checkSame("heartbeat-millis", heartbeatMillis, layout.heartbeatMillis());
    if (cluster.running().isEmpty()) {
      cluster.movePorts(port, httpPort);
    }
    return cluster;
  }

  private void checkSame(String option, Number wanted, Number has) throws ClusterException {
    if (wanted != null && wanted.longValue() != has.longValue()) {
      throw new ClusterException(
          "--%s %d: the cluster in %s was made with %d; leave the option out, or make another"
                  .formatted(option, wanted, directory.path(), has)
              + " cluster with --dir");
    }
  }
}
