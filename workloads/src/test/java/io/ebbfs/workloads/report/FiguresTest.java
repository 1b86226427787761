package io.ebbfs.workloads.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.workloads.report.Improvements.Pair;
import io.ebbfs.workloads.results.Results;
import io.ebbfs.workloads.results.Results.Incident;
import io.ebbfs.workloads.results.Results.Sample;
import io.ebbfs.workloads.results.Results.TimedRead;
import io.ebbfs.workloads.results.Results.WorkloadInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

final class FiguresTest {
  @Test
  void aSpreadIsMedianAndEnds() {
    assertThat(Spread.of(List.of(3.0, 1.0, 2.0, 10.0))).isEqualTo(new Spread(2.5, 1, 10, 4));
    assertThat(Spread.of(List.of())).isNull();
    assertThat(Spread.lowerBy(new Spread(3, 3, 3, 1), new Spread(4, 4, 4, 1))).isEqualTo(.25);
  }

  @Test
  void percentilesLieBetweenNeighbours() {
    List<Double> hundred = DoubleStream.iterate(0, i -> i + 1).limit(101).boxed().toList();
    assertThat(Percentiles.of(hundred)).isEqualTo(new Percentiles(101, 50, 95, 99, 100));
  }

  @Test
  void savingsAreSharesOfTheSingleCode() {
    Systems systems = new Systems(Synthetic.all());
    Pair pair =
        Improvements.pair(
            Synthetic.product(), systems.single(Codes.RS_FAST).orElseThrow(), Codes.RS_FAST);
    // CC3: 25% of the bytes are fast, and with them 0.70 x 0.25 / 0.35 = 50% of the reads.
    double own = 20 + 80 * (.5 * 2 + .5 * 5);
    double theirs = 20 + 80 * 6;
    assertThat(pair.degradedReadByWorkload().get("CC3")).isCloseTo(1 - own / theirs, within(1e-9));
    assertThat(pair.degradedReadByBlocks().get("CC3")).isCloseTo(1 - 3.5 / 6, within(1e-9));
    assertThat(pair.least().orElseThrow().getKey()).isEqualTo("CC3");
    assertThat(pair.trafficArithmetic()).isBetween(.20, .271);
    assertThat(pair.paper().degradedRead()).isEqualTo(.252);
  }

  @Test
  void systemsAreKnownByWhatTheyAre() {
    List<Results> renamed = new ArrayList<>();
    Synthetic.all().forEach(r -> renamed.add(Synthetic.named(r, "x" + r.system().name())));
    renamed.add(Synthetic.named(Synthetic.product(), "pc-1.5@halfLife=10m"));
    Systems systems = new Systems(renamed);
    assertThat(systems.product().orElseThrow().system().name()).isEqualTo("xpc-1.5");
    assertThat(systems.lrc().orElseThrow().system().name()).isEqualTo("xlrc-1.4");
    assertThat(systems.compared()).hasSize(renamed.size() - 1);
    assertThat(systems.all().get(0).system().fast()).isEqualTo(Codes.PC_FAST);
  }

  /** Alphabetically, "auto" comes before the systems that the claims are about. */
  @Test
  void claimsAreAboutSystemsWithAThreshold() {
    Results auto = Synthetic.weighingCosts(Synthetic.product(), "auto");
    List<Results> all = new ArrayList<>(Synthetic.all());
    List<Sensitivity.Setting> without = Sensitivity.of(new Systems(all));
    all.add(auto);
    Systems systems = new Systems(all);
    assertThat(systems.product().orElseThrow().system().name()).isEqualTo("pc-1.5");
    assertThat(systems.compared()).hasSize(all.size());
    assertThat(Sensitivity.of(systems)).isEqualTo(without);
    assertThat(Style.of(auto.system()).hollow()).isTrue();
    assertThat(Improvements.of(systems))
        .filteredOn(pair -> pair.system().equals("auto"))
        .hasSize(3)
        .allSatisfy(pair -> assertThat(pair.paper()).isNull());
    assertThat(new Systems(List.of(auto)).product()).isEmpty();
  }

  @Test
  void conversionsAreAShareOfAllEncoding() {
    Encoding.Cost cost = Encoding.cost(Synthetic.product());
    double encode = 2000 * 1.4;
    double convert = 150 * .5 * 1.4 + 150 * .8 * 1.8;
    assertThat(cost.encodedBlocks()).isEqualTo(2000);
    assertThat(cost.encodeSeconds()).isCloseTo(encode / 2000, within(1e-9));
    assertThat(cost.convertShare()).isCloseTo(convert / (encode + convert), within(1e-9));
    assertThat(Encoding.costs(new Systems(Synthetic.all())))
        .filteredOn(c -> c.system().equals(Systems.RS_10_4))
        .singleElement()
        .satisfies(c -> assertThat(c.relative()).isEqualTo(1));
  }

  @Test
  void samplesAboveTheBoundAreCountedAndTheirPhasesNamed() {
    List<Sample> samples = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      double overhead = i == 700 ? 1.501 : i == 800 ? 1.5 : 1.45;
      samples.add(new Sample(i, i < 750 ? "heat" : "adapt", Map.of("CC1", overhead), Map.of(), 0));
    }
    samples.add(new Sample(1005, "adapt", Map.of(), Map.of(), 0));
    Storage.Course course =
        Storage.courses(Synthetic.withStorage(Synthetic.product(), samples)).get(0);
    assertThat(course.samples()).isEqualTo(1000);
    assertThat(course.above()).isEqualTo(1);
    assertThat(course.aboveIn()).containsExactly("heat");
    assertThat(course.highest()).isEqualTo(1.501);
    assertThat(course.longestGapSeconds()).isEqualTo(1);
    assertThat(course.curve()).hasSizeLessThan(300);
    assertThat(course.curve()).anySatisfy(at -> assertThat(at.overhead()).isEqualTo(1.501));
  }

  @Test
  void stripesBecomeWholeOneAfterTheOther() {
    List<Double> seconds = DoubleStream.iterate(1, i -> i + 1).limit(200).boxed().toList();
    List<Effects.Whole> curve = Effects.curve(seconds);
    assertThat(curve).hasSizeLessThanOrEqualTo(60);
    assertThat(curve.get(curve.size() - 1)).isEqualTo(new Effects.Whole(200, 1));
    assertThat(Effects.safety(Synthetic.product()))
        .extracting(Effects.Safety::what)
        .containsExactly("disk", "server", "server under load");
  }

  @Test
  void readsDuringARepairStandBesideTheSameWithoutOne() {
    assertThat(Effects.foreground(Synthetic.product()))
        .extracting(f -> f.what() + " " + f.millis().count())
        .containsExactly("none 20", "server under load 4");
    assertThat(Effects.foreground(Synthetic.product()))
        .extracting(f -> f.medianMillis().count())
        .containsExactly(5, 1);
  }

  @Test
  void conversionsPerDayNeedATraceWithATimeOfItsOwn() {
    assertThat(Trace.perDay(Synthetic.product())).isNull();
    WorkloadInfo w = Synthetic.product().workloads().get(0);
    WorkloadInfo trace =
        new WorkloadInfo(
            "trace",
            w.files(),
            w.bytes(),
            w.hotReads(),
            w.coldFiles(),
            w.hotBytes(),
            w.drift(),
            w.readsByCode(),
            w.bytesByCode(),
            w.storedBytes(),
            w.encodedLogicalBytes(),
            w.encodedStoredBytes(),
            2 * 86_400);
    Trace.PerDay perDay =
        Trace.perDay(Synthetic.withWorkloads(Synthetic.product(), List.of(trace)));
    assertThat(perDay.days()).isEqualTo(2);
    assertThat(perDay.upcodesPerDay()).isEqualTo(7.5);
    assertThat(perDay.bytesPerDay()).isEqualTo(150.0 * Synthetic.BLOCK);
    assertThat(perDay.sharePerDay()).isCloseTo(150.0 / 400, within(1e-9));
  }

  @Test
  void variantsAreGroupedByTheirSetting() {
    List<Results> all = new ArrayList<>(Synthetic.all());
    for (String value : List.of("2h", "10m", "30m")) {
      all.add(Synthetic.named(Synthetic.product(), "pc-1.5@halfLife=" + value));
    }
    List<Sensitivity.Setting> settings = Sensitivity.of(new Systems(all));
    assertThat(settings).extracting(Sensitivity.Setting::key).containsExactly("bound", "halfLife");
    assertThat(settings.get(0).lines()).hasSize(2);
    assertThat(settings.get(0).lines().get(0).variants())
        .extracting(Sensitivity.Variant::value)
        .containsExactly("1.5", "none");
    assertThat(settings.get(1).lines().get(0).variants())
        .extracting(Sensitivity.Variant::value)
        .containsExactly("10m", "30m", "2h");
  }

  @Test
  void whatVariantsDifferFromIsAPointOfEachSetting() {
    List<Results> all = new ArrayList<>();
    for (String name : List.of("pc@bound=1.6", "pc@bound=1.5@small=0", "pc@small=0.9")) {
      all.add(Synthetic.named(Synthetic.product(), name));
    }
    List<Sensitivity.Setting> settings = Sensitivity.of(new Systems(all));
    assertThat(settings).extracting(Sensitivity.Setting::key).containsExactly("bound", "small");
    assertThat(settings.get(0).lines().get(0).variants())
        .extracting(Sensitivity.Variant::value)
        .containsExactly("1.5", "1.6");
    assertThat(settings.get(1).lines().get(0).variants())
        .extracting(Sensitivity.Variant::value)
        .containsExactly("0", "0.9");
  }

  @Test
  void readsUnderATimetableAreParted() {
    assertThat(TimetableEffects.of(Synthetic.product())).isNull();
    List<TimedRead> reads = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      reads.add(new TimedRead(i, i < 30 ? 50 : 90));
    }
    Results faulty =
        Synthetic.withTimetable(
            Synthetic.product(),
            List.of(new Incident(60, "revive", null), new Incident(30, "kill", null)),
            reads);
    TimetableEffects.Faults faults = TimetableEffects.of(faulty);
    assertThat(faults.incidents()).extracting(Incident::what).containsExactly("kill", "revive");
    assertThat(faults.before()).isEqualTo(new Percentiles(30, 50, 50, 50, 50));
    assertThat(faults.after()).isEqualTo(new Percentiles(70, 90, 90, 90, 90));
    assertThat(faults.course().stream().mapToInt(s -> s.millis().count()).sum()).isEqualTo(100);
    assertThat(Figures.of(List.of(faulty)).timetable()).hasSize(1);
  }
}
