package io.ebbfs.coding.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConversionTest {
  private static List<Set<Integer>> full(CodeFamily family) {
    List<Set<Integer>> stripes = new ArrayList<>();
    for (int s = 0; s < family.groupSize(); s++) {
      stripes.add(PlannerTest.range(0, family.fastCode().dataCount()));
    }
    return stripes;
  }

  @ParameterizedTest
  @CsvSource({"product, 15, 6, 0", "lrc, 6, 2, 0", "rs, 6, 3, 0", "rs-lrc, 4, 2, 0"})
  void upcodeReadsAndWritesWhatTheTableSays(String name, int reads, int writes, int dataReads) {
    CodeFamily family = CodeRegistry.builtIn().family(name);
    Conversion up = Planner.upcode(family.fastCode(), family.compactCode(), full(family), Set.of());
    assertThat(up.plans()).hasSize(1);
    assertThat(up.reads()).isEqualTo(reads);
    assertThat(up.writes()).isEqualTo(writes);
    assertThat(dataInputs(up)).isEqualTo(dataReads);
    accountsForEveryBlock(up, family.groupSize() * family.fastCode().size());
  }

  @ParameterizedTest
  @CsvSource({"product, 25, 18, 20", "lrc, 10, 6, 8", "rs, 9, 6, 6", "rs-lrc, 8, 4, 6"})
  void downcodeReadsAndWritesWhatTheTableSays(String name, int reads, int writes, int dataReads) {
    CodeFamily family = CodeRegistry.builtIn().family(name);
    ErasureCode compact = family.compactCode();
    Conversion down =
        Planner.downcode(
            compact, family.fastCode(), PlannerTest.range(0, compact.dataCount()), Set.of());
    assertThat(down.plans()).hasSize(1);
    assertThat(down.reads()).isEqualTo(reads);
    assertThat(down.writes()).isEqualTo(writes);
    assertThat(dataInputs(down)).isEqualTo(dataReads);
    accountsForEveryBlock(down, compact.size());
  }

  private static long dataInputs(Conversion conversion) {
    return conversion.plans().get(0).inputs().stream()
        .filter(ref -> conversion.from().position(ref.position()).isData())
        .count();
  }

  private static void accountsForEveryBlock(Conversion conversion, int blocksBefore) {
    assertThat(conversion.kept().size() + conversion.dropped().size()).isEqualTo(blocksBefore);
    assertThat(conversion.dropped())
        .allSatisfy(
            ref -> assertThat(conversion.from().position(ref.position()).isParity()).isTrue());
  }

  @Test
  void productKeepsDataAndRowParities() {
    CodeFamily family = CodeRegistry.builtIn().family("product");
    Conversion up = Planner.upcode(family.fastCode(), family.compactCode(), full(family), Set.of());
    assertThat(up.kept())
        .contains(
            new Conversion.Kept(new BlockRef(1, 7), new BlockRef(0, 17)),
            new Conversion.Kept(new BlockRef(2, 11), new BlockRef(0, 35)))
        .hasSize(36);
    assertThat(up.dropped()).hasSize(18);
  }

  @Test
  void aGroupOfOneStripeKeepsAllItsParities() {
    CodeFamily family = CodeRegistry.builtIn().family("product");
    Conversion up =
        Planner.upcode(
            family.fastCode(),
            family.compactCode(),
            List.of(Set.of(), PlannerTest.range(0, 10)),
            Set.of());
    assertThat(up.plans()).isEmpty();
    assertThat(up.kept()).hasSize(18);
    assertThat(up.dropped()).isEmpty();
  }

  @Test
  void anotherDerivationIsFoundAroundWhatCannotBeRead() {
    CodeFamily family = CodeRegistry.builtIn().family("product");
    Conversion aroundColumn = upcodeWithout(new BlockRef(1, 13));
    // The global parity of that stripe and its other columns give the missing column parity.
    assertThat(aroundColumn.reads()).isEqualTo(15);
    assertThat(aroundColumn.plans().get(0).inputs())
        .contains(new BlockRef(1, 17))
        .doesNotContain(new BlockRef(1, 13));
    assertThat(upcodeWithout(new BlockRef(1, 13), new BlockRef(1, 17)).reads()).isEqualTo(16);
    assertThat(upcodeWithout(new BlockRef(1, 3)).reads()).isEqualTo(15);
    Conversion down =
        Planner.downcode(
            family.compactCode(),
            family.fastCode(),
            PlannerTest.range(0, 30),
            Set.of(new BlockRef(0, 36), new BlockRef(0, 0)));
    assertThat(down.reads()).isEqualTo(25);
  }

  private static Conversion upcodeWithout(BlockRef... unavailable) {
    CodeFamily family = CodeRegistry.builtIn().family("product");
    return Planner.upcode(
        family.fastCode(), family.compactCode(), full(family), Set.of(unavailable));
  }

  @Test
  void whatDoesNotFollowFromWhatCanBeReadIsRefused() {
    assertThatThrownBy(
            () ->
                upcodeWithout(
                    new BlockRef(1, 13),
                    new BlockRef(1, 17),
                    new BlockRef(1, 1),
                    new BlockRef(1, 0),
                    new BlockRef(1, 12)))
        .isInstanceOf(CannotPlanException.class)
        .hasMessageContaining("C1")
        .hasMessageContaining("stripe 1")
        .hasMessageContaining("repair it first");
  }

  /** Reads of them data, and writes, of full stripes there and back. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "PC(2x5)     | PC(6x5)         | 15 |  0 |  6 | 25 | 20 | 18",
        "PC(2x5)     | PC(4x5)         | 10 |  0 |  6 | 15 | 10 | 12",
        "PC(2x5)     | PC(10x5)        | 25 |  0 |  6 | 45 | 40 | 30",
        "PC(3x4)     | PC(12x4)        | 16 |  0 |  5 | 40 | 36 | 20",
        "LRC(12,6,2) | LRC(12,2,2)     |  6 |  0 |  2 | 10 |  8 |  6",
        "RS(6,3)     | RS(12,3)        |  6 |  0 |  3 |  9 |  6 |  6",
        "RS(4,2)     | RS(12,2)        |  6 |  0 |  2 | 10 |  8 |  6",
        "RS(10,4)    | RS(30,4)        | 12 |  0 |  4 | 24 | 20 | 12",
        "RS(6,3)     | RS-LRC(12,2,2)  |  4 |  0 |  2 |  8 |  6 |  4",
        "LRC(16,8,2) | LRC(16,2,2)     |  8 |  0 |  2 | 14 | 12 |  8",
        "XOR(2,1)    | XOR(6,1)        |  3 |  0 |  1 |  5 |  4 |  3",
        // No shortcut: all the data is read. The sums over all data are the same block in both.
        "PC(2x5)     | RS(10,4)        | 10 | 10 |  3 | 10 | 10 |  7",
        "LRC(12,6,2) | RS(6,3)         | 12 | 12 |  6 | 12 | 12 |  8",
      })
  void convertsBothWaysAtTheCostThatTheAlgebraAllows(
      String one,
      String other,
      int reads,
      int dataReads,
      int writes,
      int readsBack,
      int dataReadsBack,
      int writesBack) {
    figuresOf(one, other, reads, dataReads, writes);
    figuresOf(other, one, readsBack, dataReadsBack, writesBack);
  }

  private static void figuresOf(String from, String to, int reads, int dataReads, int writes) {
    ErasureCode code = Codes.byName(from);
    int stripes = Planner.stripes(code, Codes.byName(to)).orElseThrow()[0];
    Conversion conversion =
        Planner.convert(
            code,
            Codes.byName(to),
            java.util.Collections.nCopies(stripes, PlannerTest.range(0, code.dataCount())),
            Set.of());
    assertThat(List.of(conversion.reads(), conversion.dataReads(), conversion.writes()))
        .as("%s to %s", from, to)
        .containsExactly(reads, dataReads, writes);
    assertThat(conversion.reencoded().isPresent())
        .isEqualTo(dataReads == stripes * code.dataCount());
    accountsForEveryBlock(conversion, stripes * code.size());
  }

  @Test
  void planningIsQuickWithoutTheCache() {
    ErasureCode fast = Codes.byName(Codes.PC_FAST);
    ErasureCode compact = Codes.byName(Codes.PC_COMPACT);
    java.lang.management.ThreadMXBean clock =
        java.lang.management.ManagementFactory.getThreadMXBean();
    List<Long> nanos = new ArrayList<>();
    Random random = new Random(7);
    for (int i = 0; i < 200; i++) {
      Set<Integer> data = PlannerTest.range(0, 30);
      data.remove(random.nextInt(30));
      data.remove(random.nextInt(30));
      long start = clock.getCurrentThreadCpuTime();
      ConversionPlanner.plan(compact, fast, List.of(data), Set.of(), Set.of());
      nanos.add(clock.getCurrentThreadCpuTime() - start);
    }
    List<Long> warm = nanos.subList(100, 200).stream().sorted().toList();
    assertThat(warm.get(50)).as("median of CPU nanoseconds").isLessThan(10_000_000);
    System.out.println("PC(6x5) to 3 x PC(2x5): planned in " + warm.get(50) / 1000 + " us CPU");
  }

  @Test
  void unrelatedCodesAreRefused() {
    assertThatThrownBy(
            () ->
                Planner.upcode(
                    Codes.byName("PC(2x5)"),
                    Codes.byName("LRC(12,2,2)"),
                    List.of(Set.of(0)),
                    Set.of()))
        .isInstanceOf(CannotPlanException.class)
        .hasMessageContaining("PC(2x5) and PC(6x5)")
        .hasMessageContaining("10 and 12");
    assertThatThrownBy(
            () ->
                Planner.upcode(
                    Codes.byName("PC(2x5)"),
                    Codes.byName("PC(6x5)"),
                    List.of(Set.of(0), Set.of(0), Set.of(0), Set.of(0)),
                    Set.of()))
        .hasMessageContaining("at most 3");
  }

  @Test
  void convertsOtherSizesOfTheFamilies() {
    Conversion rs =
        Planner.upcode(
            Codes.byName("RS(10,4)"),
            Codes.byName("RS(30,4)"),
            List.of(PlannerTest.range(0, 10), PlannerTest.range(0, 10), PlannerTest.range(0, 10)),
            Set.of());
    assertThat(rs.reads()).isEqualTo(12);
    assertThat(rs.writes()).isEqualTo(4);
    Conversion pc =
        Planner.upcode(
            Codes.byName("PC(2x3)"),
            Codes.byName("PC(4x3)"),
            List.of(PlannerTest.range(0, 6), PlannerTest.range(0, 6)),
            Set.of());
    assertThat(pc.reads()).isEqualTo(6);
    assertThat(pc.writes()).isEqualTo(4);
  }

  @ParameterizedTest
  @ValueSource(strings = {"product", "lrc", "rs", "rs-lrc"})
  void bytesSurviveConversionsThereAndBackWithHolesAndUnequalLengths(String name) {
    CodeFamily family = CodeRegistry.builtIn().family(name);
    for (long seed = 1; seed <= 150; seed++) {
      Random random = new Random(seed);
      try {
        thereAndBack(family, random);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(name + ", seed " + seed, e);
      }
    }
  }

  private static void thereAndBack(CodeFamily family, Random random) {
    ErasureCode fast = family.fastCode();
    ErasureCode compact = family.compactCode();
    int percent = 5 + random.nextInt(96);
    List<Set<Integer>> present = new ArrayList<>();
    List<Map<Integer, byte[]>> stripes = new ArrayList<>();
    for (int s = 0; s < family.groupSize(); s++) {
      Set<Integer> data = new TreeSet<>();
      for (int d = 0; d < fast.dataCount(); d++) {
        if (random.nextInt(100) < percent) {
          data.add(d);
        }
      }
      present.add(data);
      stripes.add(Bytes.randomStripe(fast, data, random));
    }
    if (present.stream().allMatch(Set::isEmpty)) {
      return;
    }
    Conversion up = Planner.upcode(fast, compact, present, Set.of());
    List<Map<Integer, byte[]>> merged = Bytes.convert(up, stripes, 1);
    Bytes.assertConsistent(compact, merged.get(0));
    Conversion down = Planner.downcode(compact, fast, merged.get(0).keySet(), Set.of());
    List<Map<Integer, byte[]>> again = Bytes.convert(down, merged, family.groupSize());
    for (int s = 0; s < family.groupSize(); s++) {
      Bytes.assertConsistent(fast, again.get(s));
      assertThat(again.get(s).keySet()).isEqualTo(stripes.get(s).keySet());
      for (int p : again.get(s).keySet()) {
        assertThat(again.get(s).get(p)).isEqualTo(stripes.get(s).get(p));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"PC(2x5)", "PC(6x5)", "LRC(12,6,2)", "LRC(12,2,2)", "RS(6,3)"})
  void bytesSurviveRepairsWithHolesAndUnequalLengths(String name) {
    ErasureCode code = Codes.byName(name);
    int rebuilt = 0;
    for (long seed = 1; seed <= 300; seed++) {
      Random random = new Random(seed);
      try {
        rebuilt += loseAndRepair(code, random);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(name + ", seed " + seed, e);
      }
    }
    assertThat(rebuilt).isGreaterThan(300);
  }

  private static int loseAndRepair(ErasureCode code, Random random) {
    Set<Integer> data = new TreeSet<>();
    while (data.isEmpty()) {
      int percent = 1 + random.nextInt(100);
      for (int d = 0; d < code.dataCount(); d++) {
        if (random.nextInt(100) < percent) {
          data.add(d);
        }
      }
    }
    Map<Integer, byte[]> stripe = Bytes.randomStripe(code, data, random);
    List<Integer> positions = new ArrayList<>(stripe.keySet());
    java.util.Collections.shuffle(positions, random);
    int lostCount = Math.min(positions.size(), 1 + random.nextInt(code.parityCount()));
    Set<Integer> lost = new TreeSet<>(positions.subList(0, lostCount));
    if (!code.decodes(lost, stripe.keySet())) {
      return 0;
    }
    Map<Integer, byte[]> left = new HashMap<>(stripe);
    left.keySet().removeAll(lost);
    List<CombinePlan> plans =
        Planner.repair(code, stripe.keySet(), lost, Set.of(), ReadCost.UNIFORM);
    for (CombinePlan plan : plans) {
      Bytes.run(plan, ref -> left.get(ref.position()), ref -> stripe.get(ref.position()).length)
          .forEach((ref, bytes) -> left.put(ref.position(), bytes));
    }
    assertThat(left.keySet()).isEqualTo(stripe.keySet());
    left.forEach((p, bytes) -> assertThat(bytes).isEqualTo(stripe.get(p)));
    return lost.size();
  }
}
