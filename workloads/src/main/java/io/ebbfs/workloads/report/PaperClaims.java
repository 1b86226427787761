package io.ebbfs.workloads.report;

import static io.ebbfs.workloads.report.Claim.By.PAPER;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.reliability.MarkovModel;
import io.ebbfs.workloads.codes.CodeFigures;
import io.ebbfs.workloads.report.DegradedReads.Point;
import io.ebbfs.workloads.report.Improvements.Pair;
import io.ebbfs.workloads.results.Results;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Judges the claims of the HACFS paper's text by measurements or by arithmetic. */
final class PaperClaims {
  // In the paper, the data of some workloads changes its temperature, and that of others does not.
  private static final List<String> CHANGING = List.of("CC2", "CC3", "CC4");
  private static final List<String> STEADY = List.of("CC1", "FB");
  private static final double REPLICAS_YEARS = 3.5e9; // stated in section 3.1

  private final Systems systems;
  private final Figures figures;

  PaperClaims(Systems systems, Figures figures) {
    this.systems = systems;
    this.figures = figures;
  }

  List<Claim> all() {
    List<Claim> all = new ArrayList<>();
    degradedReads(all);
    reconstruction(all);
    moved(all);
    storage(all);
    encoding(all);
    unbounded(all);
    workloads(all);
    codes(all);
    return all;
  }

  private void degradedReads(List<Claim> all) {
    all.add(
        range(
            "Degraded reads 25–46% faster with the product codes, mean of the workloads",
            systems.product(), Pair::degradedRead, .25, .46, true, ""));
    all.add(
        range(
            "Degraded reads 21–43% faster with the LRC codes, mean of the workloads",
            systems.lrc(), Pair::degradedRead, .21, .43, true, ""));
    all.add(timesSlower());
  }

  private void reconstruction(List<Claim> all) {
    all.add(
        range(
            "Reconstruction of a disk 14–44% faster with the product codes",
            systems.product(), Pair::diskTime, .14, .44, true, transferred(systems.product())));
    all.add(
        range(
            "Reconstruction of a disk up to 32% faster with the LRC codes (it may lose to RS(6,3))",
            systems.lrc(),
            Pair::diskTime,
            Double.NEGATIVE_INFINITY,
            .32,
            true,
            transferred(systems.lrc())));
    all.add(
        range(
            "Reconstruction traffic 19–45% lower with the product codes",
            systems.product(), Pair::diskTraffic, .19, .45, false, ""));
    all.add(everyWorkload());
  }

  /** The savings in blocks that the repair of a disk reads and writes; its time follows them. */
  private String transferred(Optional<Results> own) {
    return " Blocks read and written for it, with the reads that check rebuilt blocks, are fewer by: %s."
        .formatted(percents(gains(own, Pair::diskTransfer)));
  }

  /** The savings against each single code that was measured. */
  private Map<String, Double> gains(Optional<Results> own, Function<Pair, Double> figure) {
    Map<String, Double> gains = new LinkedHashMap<>();
    for (String code : Systems.SINGLE_CODES) {
      GoalClaims.pair(figures, own, code).map(figure).ifPresent(gain -> gains.put(code, gain));
    }
    return gains;
  }

  private static String percents(Map<String, Double> shares) {
    return shares.entrySet().stream()
        .map(share -> share.getKey() + " " + Format.percent(share.getValue()))
        .collect(Collectors.joining(", "));
  }

  /**
   * Judges a range of gains. Against the three single codes, the least gain must reach the low end
   * and the best gain the high end.
   *
   * @param because the reason if they do not
   */
  private Claim range(
      String text,
      Optional<Results> own,
      Function<Pair, Double> figure,
      double low,
      double high,
      boolean overLinks,
      String because) {
    Map<String, Double> gains = gains(own, figure);
    String numbers = percents(gains);
    if (gains.size() < Systems.SINGLE_CODES.size()) {
      return Claim.notMeasured(
          PAPER, text, numbers, "The system and the three single codes are needed.");
    }
    if (overLinks && !figures.shapedLinks()) {
      return Claim.notMeasured(PAPER, text, numbers, GoalClaims.LOOPBACK);
    }
    double least = gains.values().stream().mapToDouble(g -> g).min().orElseThrow();
    double best = gains.values().stream().mapToDouble(g -> g).max().orElseThrow();
    boolean holds = least >= low && best >= high;
    String missed =
        least < low
            ? "The least gain is below %s.".formatted(Format.percent(low))
            : "The best gain is below %s.".formatted(Format.percent(high));
    return Claim.judged(PAPER, text, numbers, holds, holds ? "" : missed + because);
  }

  private Claim timesSlower() {
    String text =
        "A degraded read takes 13 to 18 times as long as a healthy one (16–21 s and 1.2 s) with a single code";
    List<String> measured = new ArrayList<>();
    List<Double> factors = new ArrayList<>();
    for (String code : Systems.SINGLE_CODES) {
      systems.single(code).stream()
          .flatMap(r -> DegradedReads.points(r).stream().limit(1))
          .filter(p -> p.healthyMillis() != null)
          .map(p -> p.millis().median() / p.healthyMillis().median())
          .forEach(
              factor -> {
                factors.add(factor);
                measured.add(Format.of("%s %.1f×", code, factor));
              });
    }
    String numbers = String.join(", ", measured);
    if (factors.isEmpty() || !figures.shapedLinks()) {
      String why = factors.isEmpty() ? "Reads of both kinds are needed." : GoalClaims.LOOPBACK;
      return Claim.notMeasured(PAPER, text, numbers, why);
    }
    return Claim.judged(
        PAPER,
        text,
        numbers,
        factors.stream().allMatch(f -> f >= 13 && f <= 18),
        "In the paper, the client fetches the sources and then decodes. Here a server streams all sources at once and decodes them as they arrive.");
  }

  /** Workloads share disks here, so only the arithmetic is known for each of them. */
  private Claim everyWorkload() {
    String text =
        "Product codes reconstruct with less than the three single codes, on every workload";
    Optional<Results> product = systems.product();
    List<Double> byWorkload = new ArrayList<>();
    product.ifPresent(
        r ->
            r.workloads()
                .forEach(
                    w ->
                        Optional.ofNullable(
                                CodeTable.mean(encoded(w.bytesByCode()), CodeTable::moved))
                            .ifPresent(byWorkload::add)));
    List<Double> gains = new ArrayList<>();
    for (String code : Systems.SINGLE_CODES) {
      GoalClaims.pair(figures, product, code).map(Pair::diskTraffic).ifPresent(gains::add);
    }
    if (byWorkload.isEmpty() || gains.size() < Systems.SINGLE_CODES.size()) {
      return Claim.notMeasured(
          PAPER, text, "", "A lost disk of the system and of the three single codes is needed.");
    }
    double least = byWorkload.stream().mapToDouble(m -> m).min().orElseThrow();
    double most = byWorkload.stream().mapToDouble(m -> m).max().orElseThrow();
    double theirs = CodeTable.moved(Codes.LRC_COMPACT);
    return Claim.judged(
        PAPER,
        text,
        Format.of("%.2f to %.2f blocks by the codes of each workload's data", least, most),
        most < theirs && gains.stream().allMatch(g -> g > 0),
        Format.of(
            "Arithmetic by workload, since workloads share disks here; the least of the single codes is %.2f. Measured for all together: at least %s less.",
            theirs, Format.percent(gains.stream().mapToDouble(g -> g).min().orElseThrow())));
  }

  private static Map<String, Double> encoded(Map<String, Double> shares) {
    Map<String, Double> encoded = new LinkedHashMap<>(shares);
    encoded.remove("");
    return encoded;
  }

  private void moved(List<Claim> all) {
    all.add(
        movedBy(
            "RS(10,4) moves 15.5 blocks per lost data block",
            systems.single(Systems.RS_10_4),
            14.7,
            16.3,
            "(10 + 1) × 14 / 10 = 15.4."));
    all.add(
        movedBy(
            "RS(6,3) moves nearly 10 blocks per lost data block",
            systems.single(Codes.RS_FAST),
            9,
            11,
            "(6 + 1) × 9 / 6 = 10.5."));
    all.add(
        movedBy(
            "LRC(12,2,2) moves nearly 10 blocks per lost data block",
            systems.single(Codes.LRC_COMPACT),
            9,
            11,
            "(6.75 + 1) × 16 / 12 = 10.33."));
    all.add(
        movedBy(
            "EbbFS-PC moves 8 to 9 blocks per lost data block",
            systems.product(),
            8,
            9,
            "Between 5.4 (all fast) and 8.4 (all compact): 9 is more than the arithmetic allows."));
    all.add(
        movedBy(
            "EbbFS-LRC moves nearly 10 blocks per lost data block",
            systems.lrc(),
            9,
            11,
            "Between 6.67 (all fast) and 10.33 (all compact)."));
  }

  private Claim movedBy(
      String text, Optional<Results> system, double low, double high, String arithmetic) {
    Spread moved =
        system
            .flatMap(r -> Improvements.loss(r, "disk"))
            .map(Reconstruction.Loss::movedPerDataBlock)
            .orElse(null);
    return moved == null
        ? Claim.notMeasured(PAPER, text, "", "A lost disk is needed. Arithmetic: " + arithmetic)
        : Claim.judged(
            PAPER,
            text,
            Format.spread(moved),
            moved.median() >= low && moved.median() <= high,
            "Arithmetic: " + arithmetic);
  }

  private void storage(List<Claim> all) {
    all.add(staysUnder("Product codes stay under 1.5× on every workload", systems.product()));
    all.add(staysUnder("LRC codes stay under 1.4× on every workload", systems.lrc()));
  }

  /** The samples are counted at the goal of the bound, and nowhere else on the page. */
  private Claim staysUnder(String text, Optional<Results> system) {
    List<Storage.Course> courses =
        figures.storage().stream().filter(c -> isOf(system, c.system())).toList();
    if (courses.isEmpty()) {
      return Claim.notMeasured(PAPER, text, "", GoalClaims.NO_SAMPLES);
    }
    boolean holds = courses.stream().allMatch(c -> c.above() == 0);
    double last = courses.stream().mapToDouble(Storage.Course::last).max().orElseThrow();
    return Claim.judged(
        PAPER, text, "at the end %s at most".formatted(Format.factor(last)), holds, "");
  }

  private static boolean isOf(Optional<Results> system, String name) {
    return system.isPresent() && system.get().system().name().equals(name);
  }

  private void encoding(List<Claim> all) {
    List<Encoding.Cost> own = costs(systems.product(), systems.lrc());
    List<Encoding.Cost> single =
        costs(systems.single(Codes.RS_FAST), systems.single(Systems.RS_10_4));
    String share = "Conversions take at most 18% of all encoding time";
    String less = "Encoding and converting take 3–28% less than encoding with RS(6,3) and RS(10,4)";
    if (own.isEmpty()) {
      all.add(Claim.notMeasured(PAPER, share, "", "No encoding was measured."));
      all.add(Claim.notMeasured(PAPER, less, "", "No encoding was measured."));
      return;
    }
    List<String> shares = new ArrayList<>();
    own.forEach(c -> shares.add(c.title() + " " + Format.percent(c.convertShare())));
    all.add(
        Claim.judged(
            PAPER,
            share,
            String.join(", ", shares),
            own.stream().allMatch(c -> c.convertShare() <= .18),
            "Seconds of transitions, summed; they depend on how far the hot set moves."));
    all.add(lessEncoding(less, own, single));
  }

  private Claim lessEncoding(String text, List<Encoding.Cost> own, List<Encoding.Cost> single) {
    List<String> numbers = new ArrayList<>();
    boolean holds = true;
    for (Encoding.Cost cost : own) {
      for (Encoding.Cost other : single) {
        double gain = 1 - cost.seconds() / other.seconds();
        holds &= gain >= .03;
        numbers.add(
            "%s against %s %s".formatted(cost.title(), other.title(), Format.percent(gain)));
      }
    }
    String measured = String.join(", ", numbers);
    if (numbers.isEmpty() || !figures.shapedLinks()) {
      String why = numbers.isEmpty() ? "The RS systems were not run." : GoalClaims.LOOPBACK;
      return Claim.notMeasured(PAPER, text, measured, why);
    }
    return Claim.judged(
        PAPER,
        text,
        measured,
        holds,
        "In the paper, Galois field arithmetic made the difference. Here a kernel computes gigabytes per second (./ebb codes --kernels) and the links carry %s."
            .formatted(figures.environment().rate()));
  }

  @SafeVarargs
  private List<Encoding.Cost> costs(Optional<Results>... of) {
    List<Encoding.Cost> costs = new ArrayList<>();
    for (Optional<Results> system : of) {
      figures.encoding().stream().filter(c -> isOf(system, c.system())).forEach(costs::add);
    }
    return costs;
  }

  private void unbounded(List<Claim> all) {
    String text = "Without the bound, CC3 and CC4 gain another 6–20% in degraded reads";
    List<String> numbers = new ArrayList<>();
    List<Double> gains = new ArrayList<>();
    gain(Codes.PC_FAST, systems.product(), numbers, gains);
    gain(Codes.LRC_FAST, systems.lrc(), numbers, gains);
    String measured = String.join(", ", numbers);
    if (gains.isEmpty() || !figures.shapedLinks()) {
      String why =
          gains.isEmpty()
              ? "Systems without a bound and these workloads are needed."
              : GoalClaims.LOOPBACK;
      all.add(Claim.notMeasured(PAPER, text, measured, why));
      return;
    }
    all.add(Claim.judged(PAPER, text, measured, gains.stream().allMatch(g -> g >= .06), ""));
  }

  private void gain(
      String fast, Optional<Results> bounded, List<String> numbers, List<Double> gains) {
    Optional<Results> free = systems.adapting(fast, null);
    if (bounded.isEmpty() || free.isEmpty()) {
      return;
    }
    List<Point> without = DegradedReads.points(free.get());
    for (Point with : DegradedReads.points(bounded.get())) {
      if (with.workload().equals("CC3") || with.workload().equals("CC4")) {
        without.stream()
            .filter(p -> p.workload().equals(with.workload()))
            .map(p -> Spread.lowerBy(p.millis(), with.millis()))
            .forEach(
                gain -> {
                  gains.add(gain);
                  numbers.add(
                      "%s %s %s".formatted(with.title(), with.workload(), Format.percent(gain)));
                });
      }
    }
  }

  private void workloads(List<Claim> all) {
    all.add(
        property(
            "85–90% of the reads of CC1, CC4 and FB go to hot data",
            List.of("CC1", "CC4", "FB"), WorkloadTable.Row::hotReads, .85, .90));
    all.add(
        property(
            "85–95% of the files of CC1, CC2 and FB are cold",
            List.of("CC1", "CC2", "FB"), WorkloadTable.Row::coldFiles, .85, .95));
    all.add(convertMost());
  }

  private Claim convertMost() {
    String text = "CC2, CC3 and CC4 convert most";
    List<String> numbers = new ArrayList<>();
    boolean holds = true;
    for (Results own :
        Stream.of(systems.product(), systems.lrc()).flatMap(Optional::stream).toList()) {
      Map<String, Double> converted = Encoding.convertedShare(own);
      if (converted.keySet().containsAll(CHANGING) && converted.keySet().containsAll(STEADY)) {
        double least = CHANGING.stream().mapToDouble(converted::get).min().orElseThrow();
        double most = STEADY.stream().mapToDouble(converted::get).max().orElseThrow();
        holds &= least > most;
        numbers.add("%s: %s".formatted(own.system().title(), percents(converted)));
      }
    }
    return numbers.isEmpty()
        ? Claim.notMeasured(
            PAPER, text, "", "An adapting system with all five workloads is needed.")
        : Claim.judged(
            PAPER,
            text,
            String.join("; ", numbers),
            holds,
            "Bytes converted, to compact and to fast, per byte encoded. Here the heat is known before a file is encoded, so data that stays hot is never converted. Data that becomes hot is converted as far as the bound has room for whole groups of stripes.");
  }

  /** Checks the generator, which makes workloads with these properties. */
  private Claim property(
      String text,
      List<String> names,
      Function<WorkloadTable.Row, Double> figure,
      double low,
      double high) {
    List<WorkloadTable.Row> rows =
        figures.workloads().stream().filter(w -> names.contains(w.name())).toList();
    List<String> numbers = new ArrayList<>();
    rows.forEach(w -> numbers.add(w.name() + " " + Format.percent(figure.apply(w))));
    String measured = String.join(", ", numbers);
    return rows.size() < names.size()
        ? Claim.notMeasured(PAPER, text, measured, "Not all of these workloads were run.")
        : Claim.judged(
            PAPER,
            text,
            measured,
            rows.stream().allMatch(w -> figure.apply(w) >= low && figure.apply(w) <= high),
            "The workloads were generated with this property; the numbers are measured on them.");
  }

  private void codes(List<Claim> all) {
    double replicas = MarkovModel.HACFS.meanTimeToLossYearsOfReplicas(3);
    List<CodeFigures> four =
        figures.codes().stream()
            .filter(c -> c.code().startsWith("PC") || c.code().startsWith("LRC"))
            .toList();
    double least = four.stream().mapToDouble(CodeFigures::meanTimeToLossYears).min().orElse(0);
    all.add(
        Claim.judged(
            PAPER,
            "Fast and compact codes are more reliable than three replicas (3.5e9 years)",
            Format.of("least of the four %.1e years, replicas %.1e", least, replicas),
            least > Math.max(replicas, REPLICAS_YEARS),
            "Computed by the paper's Markov chain, with failure patterns counted by rank."));
    double average =
        CodeTable.figures(Codes.LRC_FAST).map(CodeFigures::repairReadsAverage).orElse(0.0);
    all.add(
        Claim.judged(
            PAPER,
            "LRC(12,6,2) reads 3.25 blocks per repair on average",
            Format.of("%.2f", average),
            Math.abs(average - 3.25) < .005,
            "(18 × 2 + 2 × 12) / 20 = 3.0, from the generator matrix."));
    all.add(
        Claim.judged(
            PAPER,
            "A conversion of product codes to compact (upcode) keeps the vertical parities and recomputes the horizontal ones",
            "",
            false,
            "A compact stripe has 12 parities (1.4×) and five reads per repair. So the parities of the groups of five, which are the rows, stay, and the column parities and the global parities are summed."));
  }
}
