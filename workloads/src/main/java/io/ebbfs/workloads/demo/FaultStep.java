package io.ebbfs.workloads.demo;

import io.ebbfs.fault.FaultInjector;
import io.ebbfs.fault.Injected;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.demo.ProgressWait.Progress;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;

/**
 * Breaks blocks, a disk and two servers. The control plane is down meanwhile, so that all reads
 * find the faults unrepaired. Then it waits for the repairs.
 */
final class FaultStep {
  private static final Duration LIMIT = Duration.ofSeconds(120);

  private final DemoCluster cluster;
  private final ProgressWait wait;
  private final DegradedReadTimer timer;
  private final DemoOptions options;
  private final Random random;
  private final DemoConsole console;
  private final FaultInjector injector;
  private final List<String> faults = new ArrayList<>();
  private int firstKilled;
  private int secondKilled;

  FaultStep(
      DemoCluster cluster,
      ProgressWait wait,
      DegradedReadTimer timer,
      DemoOptions options,
      Random random,
      DemoConsole console) {
    this.cluster = cluster;
    this.wait = wait;
    this.timer = timer;
    this.options = options;
    this.random = random;
    this.console = console;
    this.injector = new FaultInjector(cluster.local(), random);
  }

  /** What was broken, in words. */
  List<String> faults() {
    return faults;
  }

  /** The servers that were killed, in words. */
  String killedServers() {
    return "servers %d and %d".formatted(firstKilled, secondKilled);
  }

  void killControl() throws ClusterException, InterruptedException {
    cluster.local().killControl();
  }

  /**
   * Breaks things on two servers that every stripe can lose together, as its placement promises.
   */
  void breakFirst() throws IOException, ClusterException, InterruptedException {
    Survivable survivable = new Survivable(cluster.local(), cluster.probe().stripes());
    int[] pair = survivable.pair(random);
    // Data blocks, so that reading every file finds both.
    List<Long> blocks = survivable.dataBlocksOn(pair[0], 2, random);
    tell(injector.deleteBlock(blocks.get(0)));
    tell(injector.corruptBlock(blocks.get(1)));
    tell(injector.failDisk(pair[0], random.nextInt(options.disks())));
    firstKilled = pair[1];
    tell(injector.killServer(firstKilled));
  }

  void breakSecond() throws IOException, ClusterException, InterruptedException {
    secondKilled = (firstKilled + 1 + options.servers() / 2) % options.servers();
    tell(injector.killServer(secondKilled));
  }

  private void tell(Injected injected) {
    faults.add(injected.what());
    console.line("   broken: %s", injected.what());
  }

  /** Times reads of the blocks that are lost now. */
  void timeDegradedReads() throws IOException, InterruptedException {
    wait.await(
        "loss noticed",
        LIMIT,
        () -> new Progress(cluster.deadServersAreKnown(), "the namenode knows the dead servers"));
    Map<String, Integer> lost = timer.measure(cluster.client(), cluster.probe().stripes());
    console.line(
        "   reads of lost data blocks were timed; lost: %s",
        lost.entrySet().stream()
            .map(e -> "%d of %s".formatted(e.getValue(), e.getKey()))
            .collect(Collectors.joining(", ")));
  }

  void repair() throws IOException, ClusterException, InterruptedException {
    cluster.local().startControl();
    wait.await("repairing", LIMIT, this::repaired);
    console.line(
        "   repaired: %d blocks in all; every stripe is whole", cluster.counted("repairedBlocks."));
  }

  private Progress repaired() throws IOException {
    GetClusterResponseProto state = cluster.probe().cluster();
    long atRisk = state.getStripesByLossList().stream().mapToLong(Long::longValue).sum();
    long repairs =
        cluster.activeTransitions().stream()
            .filter(t -> t.getKind() == TransitionKindProto.REPAIR)
            .count();
    boolean isWhole = atRisk == 0 && repairs == 0 && state.getMissingBlocks() == 0;
    return new Progress(
        isWhole && cluster.deadServersAreKnown(),
        "%d stripes with a lost block, %d repaired blocks"
            .formatted(atRisk, cluster.counted("repairedBlocks.")));
  }
}
