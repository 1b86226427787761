package io.ebbfs.workloads.report;

import static io.ebbfs.workloads.report.Claim.By.GOAL;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.workloads.report.Improvements.Pair;
import io.ebbfs.workloads.report.Reconstruction.Loss;
import io.ebbfs.workloads.report.Storage.Course;
import io.ebbfs.workloads.results.Results;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Judges the goals of the evaluation. {@link PaperClaims} judges what the paper claims. */
final class GoalClaims {
  static final String LOOPBACK =
      "The links had no rate (loopback), so that times of transfers mean nothing here.";

  static final String NO_SAMPLES = "No samples of an adapting system with a bound.";

  // Shares are shown with one decimal of a percent.
  private static final double ROUNDING = .0005;

  private final Systems systems;
  private final Figures figures;

  GoalClaims(Systems systems, Figures figures) {
    this.systems = systems;
    this.figures = figures;
  }

  /** The goals, then the claims of the paper. */
  List<Claim> all() {
    List<Claim> all = new ArrayList<>();
    String product = "EbbFS-PC (bound 1.5)";
    String lrc = "EbbFS-LRC (bound 1.4)";
    all.add(degraded(product, systems.product(), Codes.RS_FAST, .30));
    all.add(degraded(product, systems.product(), Systems.RS_10_4, .50));
    all.add(degraded(lrc, systems.lrc(), Codes.RS_FAST, .25));
    all.add(degraded(lrc, systems.lrc(), Systems.RS_10_4, .45));
    all.add(traffic(Codes.RS_FAST, .20, .27));
    all.add(traffic(Systems.RS_10_4, .45, .50));
    all.add(proportion(Codes.RS_FAST));
    all.add(proportion(Systems.RS_10_4));
    all.add(readsEqualTheory());
    all.add(links());
    all.add(bound());
    all.addAll(new PaperClaims(systems, figures).all());
    return all;
  }

  static Optional<Pair> pair(Figures figures, Optional<Results> own, String against) {
    return own.flatMap(
        r ->
            figures.improvements().stream()
                .filter(p -> p.system().equals(r.system().name()) && p.against().equals(against))
                .findFirst());
  }

  private Claim degraded(String title, Optional<Results> own, String against, double goal) {
    String text =
        Format.of(
            "Degraded reads with %s at least %.0f%% faster than with %s, on every workload",
            title, 100 * goal, against);
    Optional<Pair> pair = pair(figures, own, against);
    if (pair.flatMap(Pair::least).isEmpty()) {
      return Claim.notMeasured(GOAL, text, "", "Degraded reads of both systems are needed.");
    }
    String workload = pair.get().least().orElseThrow().getKey();
    double least = pair.get().least().orElseThrow().getValue();
    String measured =
        "least %s (%s), mean %s"
            .formatted(Format.percent(least), workload, Format.percent(pair.get().degradedRead()));
    if (!figures.shapedLinks()) {
      return Claim.notMeasured(GOAL, text, measured, LOOPBACK);
    }
    boolean reached = least >= goal;
    String why = reached ? "" : missed(own.get(), against, workload, goal, pair.get());
    return Claim.judged(GOAL, text, measured, reached, why)
        .atTheEdge(
            Spread.atTheEdge(
                millis(own.get(), workload),
                systems.single(against).map(r -> millis(r, workload)).orElse(null),
                goal));
  }

  private static Spread millis(Results results, String workload) {
    return DegradedReads.points(results).stream()
        .filter(p -> p.workload().equals(workload))
        .map(DegradedReads.Point::millis)
        .findFirst()
        .orElse(null);
  }

  /** The reason of a missed goal: too many blocks read, or a cost that is not in proportion. */
  private String missed(Results own, String against, String workload, double goal, Pair pair) {
    Double byBlocks = pair.degradedReadByBlocks().get(workload);
    if (byBlocks == null) {
      return "";
    }
    String numbers =
        "On %s: %s against %s."
            .formatted(
                workload,
                cost(DegradedReads.points(own), workload),
                systems
                    .single(against)
                    .map(r -> cost(DegradedReads.points(r), workload))
                    .orElse(Format.NONE));
    return byBlocks < goal
        ? "The arithmetic forbids it: blocks read per degraded read are only %s fewer. %s"
            .formatted(Format.percent(byBlocks), numbers)
        : "Blocks read per degraded read are %s fewer, latency is not in proportion to them. %s"
            .formatted(Format.percent(byBlocks), numbers);
  }

  private static String cost(List<DegradedReads.Point> points, String workload) {
    return points.stream()
        .filter(p -> p.workload().equals(workload))
        .map(
            p ->
                "%s ms for %s blocks"
                    .formatted(Format.number(p.millis().median()), Format.number(p.sourceBlocks())))
        .findFirst()
        .orElse(Format.NONE);
  }

  private Claim traffic(String against, double low, double high) {
    String text =
        Format.of(
            "Reconstruction traffic of EbbFS-PC (bound 1.5) %.0f–%.0f%% below %s",
            100 * low, 100 * high, against);
    Optional<Pair> pair = pair(figures, systems.product(), against);
    Double disk = pair.map(Pair::diskTraffic).orElse(null);
    Double server = pair.map(Pair::serverTraffic).orElse(null);
    if (disk == null && server == null) {
      return Claim.notMeasured(GOAL, text, "", "Losses on both systems are needed.");
    }
    String alone =
        "Each lost block alone in its stripe, by the codes of the lost data: %s less."
            .formatted(Format.percent(pair.get().trafficArithmetic()));
    return Claim.judged(
            GOAL,
            text,
            "disk %s, server %s".formatted(Format.percent(disk), Format.percent(server)),
            Stream.of(disk, server).filter(Objects::nonNull).allMatch(saved -> saved >= low),
            isBelow(server, low) && isBelow(pair.get().serverTrafficByPlan(), low)
                ? lostTogether(against, pair.get().serverTrafficByPlan()) + " " + alone
                : alone)
        .atTheEdge(
            atTheEdge("disk", against, Loss::movedPerDataBlock, low)
                || atTheEdge("server", against, Loss::movedPerDataBlock, low));
  }

  private boolean atTheEdge(
      String what, String against, Function<Loss, Spread> figure, double goal) {
    return Spread.atTheEdge(
        systems.product().flatMap(r -> Improvements.loss(r, what)).map(figure).orElse(null),
        systems.single(against).flatMap(r -> Improvements.loss(r, what)).map(figure).orElse(null),
        goal);
  }

  private static boolean isBelow(Double saved, double goal) {
    return saved != null && saved < goal;
  }

  /** The planned cost of a server's loss, if a server holds several blocks of a stripe. */
  private String lostTogether(String against, double saved) {
    Results own = systems.product().orElseThrow();
    Results other = systems.single(against).orElseThrow();
    int blocks = Codes.byName(against).size();
    int servers = other.environment().servers();
    return Format.of(
        "The arithmetic forbids it for a server: of the %d blocks of a stripe of %s one of %d servers holds %.2f, and blocks lost together are rebuilt from the same reads. The plans read and write %s blocks per lost data block, against %s: %s less.",
        blocks,
        against,
        servers,
        (double) blocks / servers,
        plannedForServer(own),
        plannedForServer(other),
        Format.percent(saved));
  }

  private static String plannedForServer(Results results) {
    return Improvements.loss(results, "server")
        .map(l -> Format.number(l.plannedPerDataBlock().median()))
        .orElse(Format.NONE);
  }

  private Claim proportion(String against) {
    String text =
        "Reconstruction with EbbFS-PC (bound 1.5) faster than with %s at least in proportion to the traffic"
            .formatted(against);
    Optional<Pair> pair = pair(figures, systems.product(), against);
    List<String> measured = new ArrayList<>();
    boolean holds = true;
    boolean edge = false;
    for (String what : List.of("disk", "server")) {
      boolean disk = what.equals("disk");
      Double time = pair.map(p -> disk ? p.diskTime() : p.serverTime()).orElse(null);
      Double traffic = pair.map(p -> disk ? p.diskTraffic() : p.serverTraffic()).orElse(null);
      if (time != null && traffic != null) {
        holds &= time >= traffic - ROUNDING;
        edge |= atTheEdge(what, against, Loss::secondsPerDataBlock, traffic - ROUNDING);
        measured.add(
            "%s: time %s, traffic %s less"
                .formatted(what, Format.percent(time), Format.percent(traffic)));
      }
    }
    if (measured.isEmpty()) {
      return Claim.notMeasured(GOAL, text, "", "Losses on both systems are needed.");
    }
    return figures.shapedLinks()
        ? Claim.judged(
                GOAL, text, String.join("; ", measured), holds, "Medians, per lost data block.")
            .atTheEdge(edge)
        : Claim.notMeasured(GOAL, text, String.join("; ", measured), LOOPBACK);
  }

  private Claim readsEqualTheory() {
    String text = "Blocks read per repair equal the theory exactly";
    List<Loss> losses = figures.losses();
    if (losses.isEmpty()) {
      return Claim.notMeasured(GOAL, text, "", "No disk or server was lost.");
    }
    int equal = losses.stream().mapToInt(Loss::equalToPlan).sum();
    int coded = losses.stream().mapToInt(Loss::coded).sum();
    if (coded == 0) {
      return Claim.notMeasured(
          GOAL, text, "", "Only replicas were lost. No plan says what is read for them.");
    }
    int replicas = losses.stream().mapToInt(Loss::repetitions).sum() - coded;
    long read = losses.stream().mapToLong(Loss::blocksRead).sum();
    long planned = losses.stream().mapToLong(Loss::plannedReads).sum();
    return Claim.judged(
        GOAL,
        text,
        Format.of(
            "equal in %d of %d losses of coded data; %,d read, %,d planned",
            equal, coded, read, planned),
        equal == coded,
        losses.stream()
                .filter(l -> l.equalToPlan() < l.coded())
                .map(
                    l ->
                        "%s, %s: %d read, %d planned. "
                            .formatted(l.title(), l.what(), l.blocksRead(), l.plannedReads()))
                .collect(Collectors.joining())
            + (replicas == 0
                ? ""
                : "%d losses of replicas are not counted: no plan says what is read for them."
                    .formatted(replicas)));
  }

  private Claim links() {
    String text = "Bytes on the links within 5% of the arithmetic";
    Map<String, Double> off = new LinkedHashMap<>();
    figures.losses().stream()
        .filter(l -> l.linkRatio() != null)
        .forEach(
            l ->
                off.put(
                    "%s, repair of a %s".formatted(l.title(), l.what()),
                    Math.max(Links.off(l.linkRatio().low()), Links.off(l.linkRatio().high()))));
    figures
        .degradedReadTraffic()
        .forEach(t -> off.put("%s, degraded read in %s".formatted(t.title(), t.code()), t.off()));
    if (off.isEmpty()) {
      return Claim.notMeasured(GOAL, text, "", "No links were counted (loopback).");
    }
    List<String> beyond =
        off.entrySet().stream()
            .filter(e -> e.getValue() > Links.TOLERANCE)
            .map(e -> "%s %s".formatted(e.getKey(), Format.percent(e.getValue())))
            .toList();
    double most = off.values().stream().mapToDouble(o -> o).max().orElseThrow();
    return Claim.judged(
        GOAL,
        text,
        Format.of(
            "at most %s off; beyond 5%%: %d of %d",
            Format.percent(most), beyond.size(), off.size()),
        beyond.isEmpty(),
        Format.of(
                "Headers and checksums add up to %.1f%%. The rest of a difference is off.",
                100 * (Links.HEADERS - 1))
            + (beyond.isEmpty() ? "" : " Beyond 5%: " + String.join("; ", beyond) + "."));
  }

  private Claim bound() {
    return boundOf(
        "The bound is never exceeded by an adapting cluster, on any workload, at any sample",
        figures.storage().stream().filter(c -> c.bound() != null && adapts(c.system())).toList());
  }

  private boolean adapts(String system) {
    return figures.runs().stream()
        .anyMatch(r -> r.system().name().equals(system) && r.system().adapts());
  }

  private static Claim boundOf(String text, List<Course> courses) {
    if (courses.isEmpty()) {
      return Claim.notMeasured(GOAL, text, "", NO_SAMPLES);
    }
    int above = courses.stream().mapToInt(Course::above).sum();
    int settling = courses.stream().mapToInt(Course::settling).sum();
    int judged = courses.stream().mapToInt(Course::samples).sum() - settling;
    double gap = courses.stream().mapToDouble(Course::longestGapSeconds).max().orElseThrow();
    List<String> where =
        courses.stream()
            .filter(c -> c.above() > 0)
            .map(
                c ->
                    "%s %s (%s)".formatted(c.title(), c.workload(), String.join(", ", c.aboveIn())))
            .toList();
    return Claim.judged(
        GOAL,
        text,
        Format.of("samples above the bound: %,d of %,d", above, judged),
        above == 0,
        Format.of(
                "A sample is one workload in one second. The longest time between samples was %.1f s (the cluster stands still while disks are put back to a snapshot).",
                gap)
            + Format.of(
                " %d samples of a workload's first stripes, before its first sample within the bound, are not counted.",
                settling)
            + (where.isEmpty() ? "" : " Above: " + String.join("; ", where) + "."));
  }
}
