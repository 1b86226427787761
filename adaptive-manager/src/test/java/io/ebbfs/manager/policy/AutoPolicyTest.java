package io.ebbfs.manager.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.Pace;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.economics.Experience;
import io.ebbfs.manager.economics.FailureRates;
import io.ebbfs.manager.economics.ReadCounts;
import io.ebbfs.manager.view.FileState;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Policies with {@code readHot: auto}: a conversion has to earn more than it costs. */
class AutoPolicyTest {
  private static final long DAY = 86_400_000;

  private final PolicyWorld world = world(null);
  private final Map<Long, Double> reads = new HashMap<>();

  private static PolicyWorld world(Double bound) {
    PolicyWorld made =
        new PolicyWorld(
            PolicyWorld.rule(
                "p", CodeRegistry.builtIn().family("product"), bound, ReadHot.AUTO, 0));
    made.now = 1_000 * DAY;
    return made;
  }

  private List<Long> files(PolicyWorld in, String name, int count, double opens) {
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ids.add(in.file("/p/" + name + i, 1, 0));
    }
    ids.forEach(id -> read(in, id, opens));
    return ids;
  }

  private void read(PolicyWorld in, long id, double opens) {
    reads.put(id, opens);
    in.experience = Experience.of(Map.copyOf(reads));
  }

  @Test
  void newDataGoesToTheFastCodeWhereItsReadsAreWorthTheStorage() {
    files(world, "hot", 30, 62);
    files(world, "cold", 30, 61);
    assertThat(world.propose().decisions())
        .extracting(Decision::toCode, d -> d.fileIds().size())
        .containsExactlyInAnyOrder(
            org.assertj.core.groups.Tuple.tuple("PC(2x5)", 30),
            org.assertj.core.groups.Tuple.tuple("PC(6x5)", 30));
  }

  /** The reason of an encoding has both sides, whichever code the file goes to. */
  @Test
  void aDecisionToEncodeTellsWhatTheFastCodeEarnsAndCosts() {
    List<Long> hot = files(world, "hot", 30, 100);
    files(world, "cold", 30, 10);
    read(world, hot.get(0), 110);
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions())
        .extracting(Decision::reason)
        .satisfiesExactlyInAnyOrder(
            reason -> assertThat(reason).contains("earns 1.80 to 1.98 and costs 1.10 block moves"),
            reason -> assertThat(reason).contains("earns 0.180 and costs 1.10 block moves"));
    assertThat(world.verdict(evaluation, hot.get(1)).reason())
        .startsWith("to PC(2x5) by this evaluation; the fast code earns 1.80 to 1.98 and costs");
  }

  private static PolicyWorld waiting() {
    PolicyWorld made = world(null);
    made.policies =
        new PolicySet(List.of(PolicyWorld.waitingWhileRead(2 * DAY, made.policies.rules().get(0))));
    return made;
  }

  /** 6.4 reads a day are worth three replicas instead of PC(6x5): one read, for 3 h 45 min. */
  @Test
  void aReadFileStaysReplicatedWhileItsReadsAreWorthIt() {
    PolicyWorld waiting = waiting();
    List<Long> ids = files(waiting, "f", 30, 1);
    long written = waiting.now - 12_000;
    waiting.now = written + DAY / 24 * 3;
    Evaluation no = waiting.decide();
    assertThat(no.decisions()).isEmpty();
    assertThat(waiting.verdict(no, ids.get(0)).reason())
        .contains(
            "1.00 remembered reads in 0.125 days",
            "its replicas earn 0.0240 and cost 0.0191 block moves per block",
            "until an age of 2.00 days");
    waiting.now = written + DAY / 24 * 4;
    assertThat(waiting.decide().decisions())
        .extracting(Decision::toCode)
        .containsExactly("PC(6x5)");
  }

  @Test
  void aFileThatWaitsBecomesFastOnceItsReadsAreWorthIt() {
    PolicyWorld waiting = waiting();
    List<Long> ids = files(waiting, "f", 30, 40);
    waiting.now += DAY / 2;
    assertThat(waiting.decide().decisions()).isEmpty();
    ids.forEach(id -> read(waiting, id, 63));
    assertThat(waiting.decide().decisions())
        .extracting(Decision::toCode)
        .containsExactly("PC(2x5)");
  }

  /** The storage bound does not count replicas, so only time ends the wait of a read file. */
  @Test
  void aReadFileWaitsForALimitedTime() {
    PolicyWorld waiting = waiting();
    files(waiting, "f", 30, 40);
    waiting.now += 2 * DAY - 20_000;
    assertThat(waiting.decide().decisions()).isEmpty();
    waiting.now += 20_000;
    assertThat(waiting.decide().decisions())
        .extracting(Decision::toCode)
        .containsExactly("PC(6x5)");
  }

  /** A file that is worth the fast code is not worth a stripe of its own yet. */
  @Test
  void aHotFileThatWaitsForOthersIsNotEncodedCompact() {
    PolicyWorld waiting = waiting();
    files(waiting, "few", 3, 70);
    files(waiting, "cold", 30, 0);
    waiting.now += DAY / 2;
    Evaluation evaluation = waiting.decide();
    assertThat(evaluation.decisions()).hasSize(1);
    assertThat(evaluation.decisions().get(0).toCode()).isEqualTo("PC(6x5)");
    assertThat(evaluation.decisions().get(0).fileIds()).hasSize(30);
  }

  @Test
  void compactDataBecomesFastOnlyForReadsThatPayTheWayThereAndBack() {
    List<Long> ids = files(world, "f", 30, 0);
    world.propose();
    world.completeAll();
    ids.forEach(id -> read(world, id, 135));
    Evaluation no = world.decide();
    assertThat(no.decisions()).isEmpty();
    assertThat(world.verdict(no, ids.get(0)).reason())
        .contains(
            "within 10.1 days a conversion to the fast code would earn 2.12 and cost 2.13 block moves");
    ids.forEach(id -> read(world, id, 137));
    Evaluation yes = world.propose();
    assertThat(yes.decisions()).hasSize(1);
    assertThat(yes.decisions().get(0).kind()).isEqualTo(TransitionKindProto.DOWNCODE);
    assertThat(yes.decisions().get(0).reason())
        .contains(
            "within 10.1 days the conversion earns 2.15 and costs 2.13 block moves per block");
  }

  @Test
  void fastDataBecomesCompactOnceItsStorageHasCostMoreThanTheConversion() {
    List<Long> ids = files(world, "f", 30, 200);
    world.propose();
    world.completeAll();
    assertThat(world.state(ids.get(0))).isEqualTo(FileState.FAST);
    ids.forEach(id -> read(world, id, 0.5));
    long encoded = world.now;
    world.now = encoded + 23 * DAY;
    assertThat(world.decide().decisions()).isEmpty();
    world.now = encoded + 24 * DAY;
    Evaluation later = world.propose();
    assertThat(later.decisions())
        .extracting(Decision::kind)
        .containsExactly(TransitionKindProto.UPCODE);
    assertThat(later.decisions().get(0).reason()).contains("within 24.0 days the conversion earns");
  }

  /** Parities are members of a stripe that nobody reads. */
  @Test
  void dataThatIsReadAlikeDoesNotTakeTheRoomOfEachOther() {
    PolicyWorld bounded = world(1.5);
    files(bounded, "a", 30, 800);
    files(bounded, "b", 90, 0);
    List<Long> alike = files(bounded, "c", 30, 0);
    for (int run = 0; run < 3; run++) {
      bounded.propose();
      bounded.completeAll();
    }
    alike.forEach(id -> read(bounded, id, 800));
    for (int day = 0; day < 3; day++) {
      bounded.now += DAY;
      assertThat(bounded.decide().decisions()).isEmpty();
    }
  }

  /** Without a pace, the same data is converted at once. */
  @Test
  void aMinimumStayABudgetAndTheHoursOfTheDayHoldConversions() {
    long noon =
        java.time.ZonedDateTime.of(2026, 1, 10, 12, 0, 0, 0, java.time.ZoneId.systemDefault())
            .toInstant()
            .toEpochMilli();
    assertThat(conversionsAfter(2 * DAY, Pace.FREE, noon, 0)).isEqualTo(1);
    Pace stay = new Pace(3 * DAY, OptionalLong.empty(), Optional.empty());
    assertThat(conversionsAfter(2 * DAY, stay, noon, 0)).isZero();
    assertThat(verdictAfter(2 * DAY, stay, noon, 0))
        .endsWith(
            "; its conversion to PC(2x5) is due and waits for the end of its stay in 24 h (minimumStay)");
    assertThat(conversionsAfter(3 * DAY, stay, noon, 0)).isEqualTo(1);
    Pace budget = new Pace(0, OptionalLong.of(40 << 20), Optional.empty());
    assertThat(conversionsAfter(DAY, budget, noon, 10 << 20)).isEqualTo(1);
    assertThat(conversionsAfter(DAY, budget, noon, 11 << 20)).isZero();
    assertThat(verdictAfter(DAY, budget, noon, 11 << 20))
        .endsWith("the budget: 29 MiB of 40 MiB are left within 24 hours (conversionBytesPerDay)");
    Pace small = new Pace(0, OptionalLong.of(29 << 20), Optional.empty());
    assertThat(conversionsAfter(DAY, small, noon, 0)).as("larger than the budget").isEqualTo(1);
    assertThat(conversionsAfter(DAY, small, noon, 1)).as("the budget is not full").isZero();
    assertThat(verdictAfter(DAY, small, noon, 1))
        .endsWith("29 MiB are left within 24 hours (conversionBytesPerDay)");
    Pace night = new Pace(0, OptionalLong.empty(), Optional.of(new Pace.Hours(22, 6)));
    assertThat(conversionsAfter(DAY, night, noon, 0)).isZero();
    assertThat(verdictAfter(DAY, night, noon, 0)).endsWith("its hours, 22-6 (conversionHours)");
    assertThat(conversionsAfter(DAY, night, noon + 11 * 3_600_000, 0)).isEqualTo(1);
  }

  private static long conversionsAfter(long millis, Pace pace, long now, long converted) {
    return hotAfter(millis, pace, now, converted).decide().decisions().stream()
        .filter(d -> d.kind() == TransitionKindProto.DOWNCODE)
        .count();
  }

  /** The verdict of one of the files. */
  private static String verdictAfter(long millis, Pace pace, long now, long converted) {
    return hotAfter(millis, pace, now, converted).decide().verdicts().ofSnapshot().get(0).reason();
  }

  /** Encodes 30 MiB compact, lets the time pass, and makes the data hot. */
  private static PolicyWorld hotAfter(long millis, Pace pace, long now, long converted) {
    PolicyWorld paced = paced(pace);
    paced.now = now - millis;
    Map<Long, Double> hot = new HashMap<>();
    for (int i = 0; i < 30; i++) {
      hot.put(paced.file("/p/" + i, 1, 0), 1_000.0);
    }
    paced.propose();
    paced.completeAll();
    paced.now = now;
    paced.experience =
        new Experience(
            FailureRates.PRIOR,
            Experience.WEEK_MILLIS,
            365,
            ReadCounts.of(Map.copyOf(hot)),
            Map.of("p", converted));
    return paced;
  }

  private static PolicyWorld paced(Pace pace) {
    return new PolicyWorld(
        PolicyWorld.rule(
            "p", CodeRegistry.builtIn().family("product"), null, ReadHot.AUTO, 0, pace));
  }

  /** After 100 days to compact earns 3.1 - 0.7; to fast earns 1.9 for 40 reads, 5.5 for 60. */
  @Test
  void theBudgetGoesToTheConversionOfMostBenefit() {
    assertThat(firstConversion(40)).isEqualTo(TransitionKindProto.UPCODE);
    assertThat(firstConversion(60)).isEqualTo(TransitionKindProto.DOWNCODE);
  }

  /** Of 30 MiB of fast data that nobody reads, and 30 MiB of compact data with so many reads. */
  private TransitionKindProto firstConversion(double opens) {
    reads.clear();
    PolicyWorld both = paced(new Pace(0, OptionalLong.of(40 << 20), Optional.empty()));
    both.now = 1_000 * DAY;
    List<Long> fast = files(both, "fast", 30, 200);
    List<Long> compact = files(both, "compact", 30, 0);
    both.propose();
    both.completeAll();
    both.now += 100 * DAY;
    fast.forEach(id -> read(both, id, 0));
    compact.forEach(id -> read(both, id, opens));
    Evaluation evaluation = both.decide();
    assertThat(evaluation.decisions()).hasSize(1);
    assertThat(evaluation.verdicts().ofSnapshot())
        .filteredOn(verdict -> verdict.reason().contains("waits for the budget: 10 MiB"))
        .hasSize(30);
    return evaluation.decisions().get(0).kind();
  }

  /** The bound of 1.5 has room for one fast stripe group of 30 blocks beside 90 compact blocks. */
  @Test
  void underABoundHotterDataTakesTheRoomOnlyIfTheDifferencePays() {
    PolicyWorld bounded = world(1.5);
    List<Long> fast = files(bounded, "a", 30, 100);
    files(bounded, "b", 60, 0);
    List<Long> hotter = files(bounded, "c", 30, 0);
    bounded.propose();
    bounded.completeAll();
    bounded.propose();
    bounded.completeAll();
    assertThat(bounded.state(fast.get(0))).isEqualTo(FileState.FAST);
    hotter.forEach(id -> read(bounded, id, 210));
    assertThat(bounded.decide().decisions()).isEmpty();
    hotter.forEach(id -> read(bounded, id, 225));
    Evaluation yes = bounded.propose();
    assertThat(yes.decisions()).isNotEmpty();
    assertThat(yes.decisions().get(0).kind()).isEqualTo(TransitionKindProto.UPCODE);
    assertThat(yes.decisions().get(0).reason()).contains("makes room under the bound 1.50x");
  }
}
