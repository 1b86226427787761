package io.ebbfs.workloads.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.workloads.report.Claim.Verdict;
import io.ebbfs.workloads.results.Results;
import io.ebbfs.workloads.results.Results.Conversion;
import io.ebbfs.workloads.results.Results.Environment;
import io.ebbfs.workloads.results.Results.Reads;
import io.ebbfs.workloads.results.Results.Sample;
import io.ebbfs.workloads.results.Results.WorkloadInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class GoalClaimsTest {
  private static Claim claim(List<Results> results, String beginning) {
    return Figures.of(results).claims().stream()
        .filter(c -> c.text().startsWith(beginning))
        .findFirst()
        .orElseThrow();
  }

  private static List<Results> withProduct(Results product) {
    List<Results> all = new ArrayList<>(Synthetic.all());
    all.set(0, product);
    return all;
  }

  @Test
  void aClusterThatObeysTheArithmeticReachesItsGoals() {
    assertThat(Figures.of(Synthetic.all()).claims())
        .filteredOn(c -> c.by() == Claim.By.GOAL)
        .hasSize(11)
        .allSatisfy(c -> assertThat(c.verdict()).as(c.toString()).isEqualTo(Verdict.CONFIRMED));
  }

  @Test
  void whatThePaperGotWrongIsRefutedWithItsArithmetic() {
    assertThat(claim(Synthetic.all(), "LRC(12,6,2) reads 3.25"))
        .matches(c -> c.verdict() == Verdict.REFUTED && c.measured().equals("3.00"));
    assertThat(claim(Synthetic.all(), "A conversion of product codes to compact").verdict())
        .isEqualTo(Verdict.REFUTED);
    assertThat(claim(Synthetic.all(), "Fast and compact codes are more").verdict())
        .isEqualTo(Verdict.CONFIRMED);
    assertThat(claim(Synthetic.all(), "RS(10,4) moves 15.5").verdict())
        .isEqualTo(Verdict.CONFIRMED);
  }

  @Test
  void withoutShapedLinksNoTimeIsJudged() {
    List<Results> loopback = new ArrayList<>();
    for (Results r : Synthetic.all()) {
      Environment e = r.environment();
      loopback.add(
          Synthetic.with(
              r,
              new Environment(
                  e.servers(),
                  e.disks(),
                  null,
                  e.blockBytes(),
                  e.cores(),
                  e.kernel(),
                  e.seed(),
                  e.startedAt(),
                  e.commit())));
    }
    Claim faster = claim(loopback, "Degraded reads with EbbFS-PC (bound 1.5) at least 30%");
    assertThat(faster.verdict()).isEqualTo(Verdict.NOT_MEASURED);
    assertThat(faster.measured()).contains("least");
    assertThat(faster.why()).contains("loopback");
    assertThat(claim(loopback, "Blocks read per repair").verdict()).isEqualTo(Verdict.CONFIRMED);
  }

  private static Claim byReads(double millis, double noise) {
    List<Reads> reads = new ArrayList<>();
    for (Reads r : Synthetic.product().reads()) {
      double of = millis * (1 + noise * (r.repetition() - 2));
      reads.add(Synthetic.read(r.repetition(), r.what(), r.code(), of));
    }
    return claim(
        withProduct(Synthetic.withReads(Synthetic.product(), reads)),
        "Degraded reads with EbbFS-PC (bound 1.5) at least 30% faster than with RS(6,3)");
  }

  @Test
  void aGoalBetweenTheRepetitionsIsAtTheEdge() {
    double theirs = Synthetic.MILLIS_PER_READ + 6 * Synthetic.MILLIS_PER_SOURCE;
    Claim reached = byReads(.69 * theirs, .02);
    assertThat(reached.verdict()).isEqualTo(Verdict.CONFIRMED);
    assertThat(reached.verdictText()).isEqualTo("confirmed, at the edge");
    Claim missed = byReads(.71 * theirs, .02);
    assertThat(missed.verdict()).isEqualTo(Verdict.REFUTED);
    assertThat(missed.verdictText()).isEqualTo("refuted, at the edge");
  }

  @Test
  void aGoalThatAllRepetitionsReachOrMissIsNotAtTheEdge() {
    double theirs = Synthetic.MILLIS_PER_READ + 6 * Synthetic.MILLIS_PER_SOURCE;
    assertThat(byReads(.5 * theirs, .02).verdictText()).isEqualTo("confirmed");
    assertThat(byReads(.9 * theirs, .02).verdictText()).isEqualTo("refuted");
  }

  @Test
  void lossesOfReplicasAreNotCountedAsEqualToThePlan() {
    Claim claim = claim(Synthetic.all(), "Blocks read per repair equal the theory");
    int ofCodes = 8 * (2 * Synthetic.REPETITIONS + 1);
    assertThat(claim.verdict()).isEqualTo(Verdict.CONFIRMED);
    assertThat(claim.measured())
        .startsWith("equal in %d of %d losses of coded data".formatted(ofCodes, ofCodes));
    assertThat(claim.why()).startsWith("11 losses of replicas are not counted");
    Results replicas = Synthetic.all().get(8);
    assertThat(claim(List.of(replicas), "Blocks read per repair equal").verdict())
        .isEqualTo(Verdict.NOT_MEASURED);
  }

  @Test
  void aMissingSystemIsNotMeasuredAndNotRefuted() {
    assertThat(Figures.of(List.of(Synthetic.product())).claims())
        .filteredOn(c -> c.text().startsWith("Degraded reads"))
        .allSatisfy(c -> assertThat(c.verdict()).isEqualTo(Verdict.NOT_MEASURED));
  }

  @Test
  void aGoalThatTheArithmeticForbidsIsRefutedWithTheArithmetic() {
    WorkloadInfo w = Synthetic.product().workloads().get(2);
    WorkloadInfo cold =
        new WorkloadInfo(
            w.name(),
            w.files(),
            w.bytes(),
            w.hotReads(),
            w.coldFiles(),
            w.hotBytes(),
            w.drift(),
            Map.of("PC(6x5)", 1.0),
            w.bytesByCode(),
            w.storedBytes(),
            w.encodedLogicalBytes(),
            w.encodedStoredBytes(),
            w.modelSeconds());
    Claim claim =
        claim(
            withProduct(Synthetic.withWorkloads(Synthetic.product(), List.of(cold))),
            "Degraded reads with EbbFS-PC (bound 1.5) at least 30%");
    assertThat(claim.verdict()).isEqualTo(Verdict.REFUTED);
    assertThat(claim.why()).contains("arithmetic forbids").contains("CC3").contains("16.7%");
  }

  @Test
  void slowReadsRefuteAGoalWithoutTheArithmeticForbiddingIt() {
    List<Reads> slow = new ArrayList<>();
    for (Reads r : Synthetic.product().reads()) {
      slow.add(Synthetic.read(r.repetition(), r.what(), r.code(), 480));
    }
    Claim claim =
        claim(
            withProduct(Synthetic.withReads(Synthetic.product(), slow)),
            "Degraded reads with EbbFS-PC (bound 1.5) at least 30%");
    assertThat(claim.verdict()).isEqualTo(Verdict.REFUTED);
    assertThat(claim.why())
        .doesNotContain("forbids")
        .contains("not in proportion")
        .contains("480 ms for");
  }

  @Test
  void oneSampleAboveTheBoundRefutes() {
    List<Sample> samples = new ArrayList<>(Synthetic.product().storage());
    samples.add(new Sample(301, "adapt", Map.of("FB", 1.51), Map.of(), 0));
    Claim claim =
        claim(
            withProduct(Synthetic.withStorage(Synthetic.product(), samples)),
            "The bound is never exceeded");
    assertThat(claim.verdict()).isEqualTo(Verdict.REFUTED);
    assertThat(claim.measured()).contains("1 of ");
    assertThat(claim.why()).contains("EbbFS-PC, bound 1.5 FB (adapt)");
  }

  @Test
  void noBoundHoldsWhileAllDataIsConvertedByOrder() {
    List<Sample> samples = new ArrayList<>(Synthetic.product().storage());
    samples.add(new Sample(301, Sample.BY_ORDER, Map.of("FB", 1.8, "CC9", 1.8), Map.of(), 0));
    Claim claim =
        claim(
            withProduct(Synthetic.withStorage(Synthetic.product(), samples)),
            "The bound is never exceeded");
    assertThat(claim.verdict()).isEqualTo(Verdict.CONFIRMED);
  }

  @Test
  void theFirstStripesOnTheWayToTheBoundAreCountedApart() {
    List<Sample> samples = new ArrayList<>(Synthetic.product().storage());
    samples.add(0, new Sample(-1, "heat", Map.of("FB", 1.7), Map.of(), 9));
    Claim claim =
        claim(
            withProduct(Synthetic.withStorage(Synthetic.product(), samples)),
            "The bound is never exceeded");
    assertThat(claim.verdict()).isEqualTo(Verdict.CONFIRMED);
    assertThat(claim.why()).contains(" 1 samples of a workload's first stripes");
  }

  @Test
  void aWorkloadThatNeverGetsBelowItsBoundRefutesIt() {
    List<Sample> samples = List.of(new Sample(1, "adapt", Map.of("FB", 1.7), Map.of(), 0));
    Claim claim =
        claim(
            withProduct(Synthetic.withStorage(Synthetic.product(), samples)),
            "The bound is never exceeded");
    assertThat(claim.verdict()).isEqualTo(Verdict.REFUTED);
  }

  @Test
  void aServerWhoseRepairsMoveTooMuchRefutesTheGoalOfTraffic() {
    List<Results.Repair> repairs = new ArrayList<>(Synthetic.product().repairs());
    repairs.replaceAll(
        r ->
            r.what().equals("server")
                ? Synthetic.repair(Synthetic.single(Codes.RS_FAST).system(), 0, "server", 360)
                : r);
    Claim claim =
        claim(
            withProduct(Synthetic.withRepairs(Synthetic.product(), repairs)),
            "Reconstruction traffic of EbbFS-PC (bound 1.5) 20");
    assertThat(claim.verdict()).isEqualTo(Verdict.REFUTED);
    assertThat(claim.why()).contains("arithmetic forbids").contains("alone in its stripe");
  }

  @Test
  void readsThatALostServersStripesShareAreArithmetic() {
    Results rs104 = Synthetic.single(Systems.RS_10_4);
    List<Results.Repair> shared = new ArrayList<>();
    for (Results.Repair r : rs104.repairs()) {
      shared.add(r.what().equals("server") ? Synthetic.scaled(r, .5, .5) : r);
    }
    List<Results> all = new ArrayList<>(Synthetic.all());
    all.replaceAll(r -> r.equals(rs104) ? Synthetic.withRepairs(rs104, shared) : r);
    Claim claim = claim(all, "Reconstruction traffic of EbbFS-PC (bound 1.5) 45");
    assertThat(claim.verdict()).isEqualTo(Verdict.REFUTED);
    assertThat(claim.why())
        .startsWith("The arithmetic forbids it for a server: of the 14 blocks of a stripe")
        .contains("one of 11 servers holds 1.27")
        .contains("against 8.40: ");
  }

  @Test
  void conversionsAreCountedByWorkload() {
    String text = "CC2, CC3 and CC4 convert most";
    assertThat(claim(Synthetic.all(), text).verdict()).isEqualTo(Verdict.CONFIRMED);
    List<Conversion> conversions = new ArrayList<>(Synthetic.product().conversions());
    conversions.add(Synthetic.conversion("FB", "DOWNCODE", "PC(2x5)", 200, .8));
    Claim busy =
        claim(withProduct(Synthetic.withConversions(Synthetic.product(), conversions)), text);
    assertThat(busy.verdict()).isEqualTo(Verdict.REFUTED);
    assertThat(busy.measured()).contains("CC1 0.0%");
  }

  @Test
  void aDiskWhoseRepairIsTooSlowIsExplainedByWhatItMoves() {
    Results rs104 = Synthetic.single(Systems.RS_10_4);
    List<Results.Repair> repairs = new ArrayList<>(Synthetic.product().repairs());
    repairs.replaceAll(
        r -> r.what().equals("disk") ? Synthetic.repair(rs104.system(), 0, r.what(), 60) : r);
    Claim claim =
        claim(
            withProduct(Synthetic.withRepairs(Synthetic.product(), repairs)),
            "Reconstruction of a disk 14");
    assertThat(claim.verdict()).isEqualTo(Verdict.REFUTED);
    assertThat(claim.why())
        .startsWith("The least gain is below 14.0%. Blocks read and written")
        .contains("fewer by: RS(6,3) -")
        .contains("RS(10,4) ");
  }

  @Test
  void linkBytesThatNobodyAskedForAreNamed() {
    List<Results.Repair> repairs = new ArrayList<>();
    for (Results.Repair r : Synthetic.product().repairs()) {
      repairs.add(r.what().equals("disk") ? Synthetic.scaled(r, 1, 2) : r);
    }
    Claim claim =
        claim(
            withProduct(Synthetic.withRepairs(Synthetic.product(), repairs)), "Bytes on the links");
    assertThat(claim.verdict()).isEqualTo(Verdict.REFUTED);
    assertThat(claim.measured()).contains("beyond 5%: 1 of ");
    assertThat(claim.why()).contains("EbbFS-PC, bound 1.5, repair of a disk");
  }
}
