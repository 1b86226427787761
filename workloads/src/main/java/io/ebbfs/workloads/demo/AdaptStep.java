package io.ebbfs.workloads.demo;

import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.words.TransitionKinds;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.client.ClusterProbe;
import io.ebbfs.testbed.client.StockProcess;
import io.ebbfs.workloads.demo.DataSet.Family;
import io.ebbfs.workloads.demo.ProgressWait.Progress;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * Lets the manager encode the files, reads some cold ones again, and waits for conversions in both
 * directions.
 */
final class AdaptStep {
  private static final int COLD_STRIPES_READ_AGAIN = 2;
  private static final int READS_OF_EACH_COLD_FILE = 8;
  private static final Duration READ_AGAIN_AFTER = Duration.ofSeconds(20);
  private static final double SMALL_STRIPE = 0.05;
  // The last few blocks may stay replicated, if a stripe of them would store more.
  private static final double LEAST_ENCODED = 0.95;
  private static final Duration SETTLED = Duration.ofSeconds(5);
  private static final Duration LIMIT = Duration.ofSeconds(150);

  private final DemoCluster cluster;
  private final ProgressWait wait;
  private final HotData hotData;
  private final Random random;
  private final DemoConsole console;
  private final List<CompletableFuture<StockProcess.Answer>> reads = new ArrayList<>();
  private long encodedBefore = -1;
  private long nextReads = System.nanoTime();

  AdaptStep(
      DemoCluster cluster, ProgressWait wait, HotData hotData, Random random, DemoConsole console) {
    this.cluster = cluster;
    this.wait = wait;
    this.hotData = hotData;
    this.random = random;
    this.console = console;
  }

  void encode() throws IOException, InterruptedException {
    DemoConfiguration.letAdapt(cluster.local().directory());
    console.line("   policies.yaml now calls a file write-cold after some seconds (edited live)");
    wait.awaitQuiet("encoding", LIMIT, SETTLED, this::encoded);
    printTransitions();
  }

  void convert() throws IOException, ClusterException, InterruptedException {
    Map<TransitionKindProto, Long> before = cluster.doneByKind();
    Set<String> wanted = coldFiles();
    console.line(
        "   the %d files of some cold stripes are read again, %d times each",
        wanted.size(), READS_OF_EACH_COLD_FILE);
    wait.await("conversions", LIMIT, () -> converted(before, wanted));
    awaitReads();
    wait.await("hot data", LIMIT, hotData::inFastCode);
    printTransitions();
    FamilyUsage.of(cluster.probe())
        .forEach(
            (family, usage) ->
                console.line(
                    "   %s: %.3fx on disk, bound %.1fx",
                    family.key(), usage.overhead(), DemoConfiguration.bound(family)));
  }

  private Progress encoded() throws IOException {
    long all = 0;
    long done = 0;
    for (Family family : Family.values()) {
      for (FileStatusProto file : cluster.probe().files(family.tree)) {
        all += file.getBlocks();
        done += file.getStripedBlocks();
      }
    }
    boolean quiet = cluster.activeTransitions().isEmpty() && done == encodedBefore;
    encodedBefore = done;
    String detail = "%d of %d blocks in stripes, overhead %s".formatted(done, all, overheads());
    if (quiet && done < all) {
      detail +=
          "; %d blocks stay replicated, because a stripe of so few would store more"
              .formatted(all - done);
    }
    return new Progress(quiet && done >= all * LEAST_ENCODED && cluster.isWithinBounds(), detail);
  }

  private Progress converted(Map<TransitionKindProto, Long> before, Set<String> wanted)
      throws IOException {
    Map<TransitionKindProto, Long> now = cluster.doneByKind();
    long toCompact = now.getOrDefault(TransitionKindProto.UPCODE, 0L);
    long toFast = now.getOrDefault(TransitionKindProto.DOWNCODE, 0L);
    boolean becameFast = toFast > before.getOrDefault(TransitionKindProto.DOWNCODE, 0L);
    // One burst of reads may cool down before the manager has converted another stripe. Files that
    // are not read any more cool down, and are converted to compact.
    if (!becameFast && System.nanoTime() - nextReads >= 0) {
      awaitReads();
      nextReads = System.nanoTime() + READ_AGAIN_AFTER.toNanos();
      for (int i = 0; i < READS_OF_EACH_COLD_FILE; i++) {
        wanted.forEach(path -> reads.add(cluster.client().read(path)));
      }
    }
    return new Progress(
        becameFast && toCompact > 0 && cluster.isWithinBounds(),
        toCompact + " to compact, " + toFast + " to fast");
  }

  private String overheads() throws IOException {
    return FamilyUsage.of(cluster.probe()).entrySet().stream()
        .map(e -> DemoConsole.format("%s %.2fx", e.getKey().key(), e.getValue().overhead()))
        .collect(Collectors.joining(", "));
  }

  /**
   * All files of some compact stripes, because the temperature of a stripe is the mean of its
   * members. The stripes are small, so that the bound has room for them in the fast code.
   */
  private Set<String> coldFiles() throws IOException {
    List<StripeStatusProto> stripes = new ArrayList<>(cluster.probe().stripes());
    Collections.shuffle(stripes, random);
    Set<String> chosen = new TreeSet<>();
    for (Family family : Family.values()) {
      chosen.addAll(coldFiles(family, stripes));
    }
    return chosen;
  }

  private void awaitReads() throws IOException {
    for (CompletableFuture<StockProcess.Answer> read : reads) {
      SkewedReadStep.bytesOf(read);
    }
    reads.clear();
  }

  private List<String> coldFiles(Family family, List<StripeStatusProto> stripes)
      throws IOException {
    List<FileStatusProto> files = cluster.probe().files(family.tree);
    Map<Long, String> pathById =
        files.stream()
            .collect(Collectors.toMap(FileStatusProto::getFileId, FileStatusProto::getPath));
    long bytes = files.stream().mapToLong(FileStatusProto::getLengthBytes).sum();
    return stripes.stream()
        .filter(stripe -> stripe.getStripe().getPolicy().equals(family.key()))
        .filter(stripe -> stripe.getStripe().getCode().equals(family.codes().compact()))
        .filter(stripe -> stripe.getLiveBytes() < bytes * SMALL_STRIPE)
        .limit(COLD_STRIPES_READ_AGAIN)
        .flatMap(stripe -> stripe.getStripe().getMembersList().stream())
        .map(member -> pathById.get(member.getOwnerId()))
        .filter(Objects::nonNull)
        .distinct()
        .toList();
  }

  private void printTransitions() throws IOException {
    ClusterProbe.countBy(
            cluster.probe().transitions(TransitionStateProto.DONE),
            t -> TransitionKinds.show(t.getKind()) + ": " + t.getToCode())
        .forEach((kind, count) -> console.line("   %5d x %s", count, kind));
  }
}
