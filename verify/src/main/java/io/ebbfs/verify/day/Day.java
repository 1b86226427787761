package io.ebbfs.verify.day;

import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.verify.audit.ClusterAudit;
import io.ebbfs.verify.cluster.RunFiles;
import io.ebbfs.verify.cluster.RunLog;
import io.ebbfs.verify.cluster.VerifyCluster;
import io.ebbfs.verify.cluster.VerifyOptions;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * A day in the life of a cluster, compressed into minutes. Clients read and write throughout; at
 * the end nothing may be under-protected, no operation may have failed, and what the steps have
 * moved is printed beside what they made necessary.
 */
public final class Day {
  private static final int LEAST_STRIPES = 3;
  private static final int BEGIN_SECONDS = 120;
  private static final long REST_MILLIS = 240_000;
  private static final long QUIET_MILLIS = 3_000;
  private static final long ORPHANS_MILLIS = 60_000;

  private final VerifyOptions options;
  private final PrintStream out;
  private final RunLog log;
  private final DayFiles book = new DayFiles();
  private final DayCounts counts;
  private final List<String> wrong = new ArrayList<>();
  private final List<DayStep> steps = new ArrayList<>();
  private long underProtected;

  private Day(VerifyOptions options, PrintStream out) {
    this.options = options;
    this.out = out;
    this.log = new RunLog(out);
    this.counts = new DayCounts(log);
  }

  /**
   * Runs a day and prints its figures.
   *
   * @param json gets the figures, too
   * @return whether there was no error, and nothing is under-protected at the end
   */
  public static boolean run(VerifyOptions options, Optional<Path> json, PrintStream out)
      throws Exception {
    return new Day(options, out).run(json);
  }

  private boolean run(Optional<Path> json) throws Exception {
    Path place = RunFiles.place(options.directory(), "ebbfs-day");
    log.say("a day of seed %d, cluster in %s", options.seed(), place);
    long began = System.nanoTime();
    try (DayCluster cluster = DayCluster.start(place.resolve("cluster"))) {
      day(cluster);
    }
    boolean good = report(json, (System.nanoTime() - began) / 1e9);
    if (good && options.directory().isEmpty()) {
      VerifyCluster.deleteTree(place);
    } else if (!good) {
      log.say("NOT GOOD, seed %d; logs are in %s", options.seed(), place.resolve("cluster/logs"));
    }
    return good;
  }

  private void day(DayCluster cluster) throws Exception {
    Random random = new Random(options.seed());
    try (DayUsers users = new DayUsers(cluster.local(), book, counts, random.nextLong());
        DayClient client = new DayClient(cluster.local(), book, counts);
        StepRecorder recorder = new StepRecorder(cluster.verified(), log)) {
      users.start();
      try {
        recorder.await(
            "%d stripes".formatted(LEAST_STRIPES), BEGIN_SECONDS, () -> whyNotBegun(cluster));
        new DaySteps(cluster, recorder, client, book, counts, random).all();
      } catch (InterruptedException e) {
        throw e;
      } catch (Exception e) {
        log.say("the day breaks off: %s", e);
        wrong.add("the day broke off: " + e);
        cluster.start(cluster.missing());
      } finally {
        steps.addAll(recorder.steps());
      }
      users.stop();
      end(cluster, client);
    }
  }

  private static String whyNotBegun(DayCluster cluster) throws IOException {
    int stripes = cluster.verified().probe().stripes().size();
    return stripes >= LEAST_STRIPES ? null : "there are " + stripes;
  }

  // ---- the end ----------------------------------------------------------------------------------

  private void end(DayCluster cluster, DayClient client) throws Exception {
    log.say("the clients have stopped; waits for the cluster to come to rest");
    cluster.stopAdapting();
    ConditionWaiter.within(REST_MILLIS)
        .every(500)
        .quietFor(QUIET_MILLIS)
        .objection(() -> whyNotAtRest(cluster))
        .ifPresent(why -> wrong.add("the cluster does not come to rest: " + why));
    log.say("reads %d files", book.all().size());
    book.all().forEach(client::read);
    log.say("compares disks with the metadata, and parities with data");
    ClusterAudit audit = new ClusterAudit(cluster.verified(), ORPHANS_MILLIS).all(Map.of());
    wrong.addAll(audit.wrong());
    audit.underProtected().forEach(what -> log.say("under-protected: %s", what));
    underProtected = underProtected(cluster) + audit.underProtected().size();
  }

  private static String whyNotAtRest(DayCluster cluster) {
    try {
      return cluster.verified().whyNotAtRest();
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** The blocks and stripes that lack something. */
  private static long underProtected(DayCluster cluster) throws IOException {
    GetClusterResponseProto now = cluster.verified().probe().cluster();
    return now.getUnderReplicatedBlocks()
        + now.getMissingBlocks()
        + now.getUnrecoverableStripes()
        + now.getStripesByLossList().stream().mapToLong(Long::longValue).sum();
  }

  // ---- the report -------------------------------------------------------------------------------

  private boolean report(Optional<Path> json, double seconds) throws IOException {
    boolean good =
        counts.readErrors() == 0
            && counts.writeErrors() == 0
            && underProtected == 0
            && wrong.isEmpty();
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("seed", options.seed());
    figures.put("seconds", seconds);
    figures.put("operations", counts.operations());
    figures.put("readErrors", counts.readErrors());
    figures.put("writeErrors", counts.writeErrors());
    figures.put("refusedWrites", counts.refusedWrites());
    figures.put("underProtectedAtEnd", underProtected);
    figures.put("wrong", wrong);
    out.printf(
        "%n%-38s %8s %14s %14s %14s%n", "step", "seconds", "moved", "necessary", "conversions");
    for (DayStep step : steps) {
      out.printf(
          "%-38s %8.1f %,14d %,14d %,14d%n",
          step.name(),
          step.seconds(),
          step.bytesMoved(),
          step.bytesNecessary(),
          step.bytesConverted());
    }
    out.println();
    figures.forEach((name, value) -> out.printf("%-20s %s%n", name, value));
    figures.put("errors", counts.errors());
    figures.put("steps", steps);
    RunFiles.write(json, figures);
    return good;
  }
}
