package io.ebbfs.cli.fault;

import io.ebbfs.cli.options.ClusterDirectory;
import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.fault.FaultInjector;
import io.ebbfs.fault.Injected;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.LocalCluster;
import java.io.IOException;
import java.util.Random;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of every fault: the cluster, and the seed of random choices. */
final class FaultTarget {
  /** One fault. */
  interface Action {
    Injected inject(FaultInjector injector)
        throws IOException, ClusterException, InterruptedException;
  }

  @Mixin private HelpOption help;
  @Mixin private ClusterDirectory directory;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Seed of random choices; the same seed makes the same choice.")
  private long seed = new Random().nextInt();

  LocalCluster cluster() throws ClusterException {
    return directory.open();
  }

  long seed() {
    return seed;
  }

  FaultInjector injector(LocalCluster cluster) {
    return new FaultInjector(cluster, new Random(seed));
  }

  /** Injects one fault and says in one line which. */
  int inject(Action action) throws IOException, ClusterException, InterruptedException {
    System.out.printf("%s (seed %d)%n", action.inject(injector(cluster())), seed);
    return 0;
  }
}
