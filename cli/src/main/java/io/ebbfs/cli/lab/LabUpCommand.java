package io.ebbfs.cli.lab;

import io.ebbfs.cli.options.ByteCount;
import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.ClusterSpec;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.lab.Laboratory;
import io.ebbfs.testbed.network.ShapedNetwork;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Makes the networks of a lab and starts its cluster. */
@Command(name = "up", description = "Makes the networks of a new lab and starts its cluster.")
final class LabUpCommand implements Callable<Integer> {
  @Mixin private HelpOption help;
  @Mixin private LabDirectory directory;

  @Option(
      names = "--servers",
      paramLabel = "N",
      description = "Number of chunk servers (default: 11).")
  private int servers = 11;

  @Option(
      names = "--disks",
      paramLabel = "N",
      description = "Disks of each chunk server (default: 6).")
  private int disks = 6;

  @Option(
      names = "--rate",
      paramLabel = "RATE",
      description = "Rate of each link in each direction, as 100mbit (default: 100mbit).")
  private String rate = "100mbit";

  @Option(
      names = "--block-size",
      paramLabel = "BYTES",
      converter = ByteCount.class,
      description = "Length of a block, as 1048576, 1024k or 1m (default: 4m).")
  private long blockSize = 4L << 20;

  @Override
  public Integer call() throws ClusterException {
    try {
      up();
      return 0;
    } catch (InterruptedException e) {
      throw new ClusterException("interrupted; 'ebb lab down' removes what was started", e);
    }
  }

  private void up() throws ClusterException, InterruptedException {
    if (LocalCluster.exists(directory.path())) {
      throw new ClusterException(
          "%s holds a lab already: end it with 'ebb lab down' first".formatted(directory.path()));
    }
    ClusterSpec spec =
        ClusterSpec.of(directory.path()).withServers(servers, disks).withBlockSize(blockSize);
    long start = System.nanoTime();
    LocalCluster cluster = Laboratory.start(Build.find(), spec, rate);
    ShapedNetwork lab = cluster.layout().lab();
    System.out.printf(
        "lab of %d servers with %d disks each is up after %.1f s in %s%n"
            + "  links        %s each way, of each server and of the clients%n"
            + "  file system  %s%n  dashboard    %s%n  clients      ebb lab exec COMMAND%n",
        spec.servers(),
        spec.disks(),
        (System.nanoTime() - start) / 1e9,
        directory.path(),
        lab.rate(),
        cluster.stockClient().uri(),
        cluster.httpAddress());
  }
}
