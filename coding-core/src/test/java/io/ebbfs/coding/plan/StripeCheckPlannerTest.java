package io.ebbfs.coding.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.code.ParityEquation;
import io.ebbfs.coding.gf.Gf256;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks hold of right blocks, and of no wrong one, however the errors of several agree. */
final class StripeCheckPlannerTest {
  private static final SortedMap<Integer, ParityEquation> NO_COMBINES = new TreeMap<>();

  private final long seed = Long.getLong("ebbfs.seed", 20_261_121L);
  private final Random random = new Random(seed);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "PC(2x5)",
        "PC(6x5)",
        "LRC(12,6,2)",
        "LRC(12,2,2)",
        "RS(6,3)",
        "RS(12,3)",
        "RS(10,4)"
      })
  void whatIsWrongFailsACheck(String name) {
    System.out.println("StripeCheckPlannerTest " + name + " seed " + seed);
    ErasureCode code = Codes.byName(name);
    for (int round = 0; round < 60; round++) {
      Set<Integer> data = some(all(code.dataCount()), 1 + random.nextInt(code.dataCount()));
      Map<Integer, byte[]> stripe = Bytes.randomStripe(code, data, random);
      Set<Integer> parities = new TreeSet<>(stripe.keySet());
      parities.removeAll(data);
      assertCaught(code, stripe, parities, Set.of(), data);
      Set<Integer> lost =
          some(stripe.keySet(), 1 + random.nextInt(Math.min(stripe.size(), code.tolerance())));
      Set<Integer> unavailable = new HashSet<>();
      if (lost.size() > 1 && random.nextBoolean()) {
        unavailable.add(lost.iterator().next());
        lost.removeAll(unavailable);
      }
      assertCaught(code, stripe, lost, unavailable, Set.of());
    }
  }

  private void assertCaught(
      ErasureCode code,
      Map<Integer, byte[]> stripe,
      Set<Integer> written,
      Set<Integer> unavailable,
      Set<Integer> derivedFrom) {
    List<StripeCheck> checks =
        StripeCheckPlanner.plan(
            code, stripe.keySet(), written, unavailable, derivedFrom, NO_COMBINES);
    Map<Integer, byte[]> readable = new HashMap<>(stripe);
    readable.keySet().removeAll(unavailable);
    assertThat(checks).as("seed %d", seed).allMatch(check -> holds(check, readable));
    byte[] error = new byte[1];
    for (int round = 0; round < 20; round++) {
      // The same error in several blocks is what a check that looks at their sum would miss.
      error[0] = (byte) (1 + random.nextInt(255));
      Map<Integer, byte[]> wrong = new HashMap<>(readable);
      for (int position : some(written, 1 + random.nextInt(written.size()))) {
        byte[] bytes = wrong.get(position).clone();
        bytes[bytes.length - 1] ^= (byte) Gf256.multiply(error[0] & 0xff, 1 + random.nextInt(2));
        wrong.put(position, bytes);
      }
      assertThat(checks)
          .as("seed %d: %s, written %s", seed, code, written)
          .anyMatch(check -> !holds(check, wrong));
    }
  }

  private static boolean holds(StripeCheck check, Map<Integer, byte[]> stripe) {
    int length = stripe.values().stream().mapToInt(b -> b.length).max().orElseThrow();
    if (check instanceof StripeCheck.Xor xor) {
      byte[] sum = new byte[length];
      xor.positions().forEach(p -> Gf256.addMultiple(sum, 1, stripe.get(p)));
      return Arrays.equals(sum, new byte[length]);
    }
    CombinePlan plan = ((StripeCheck.Decode) check).plan();
    assertThat(plan.outputPositions()).doesNotContainAnyElementsOf(plan.inputPositions());
    return Bytes.run(plan, ref -> stripe.get(ref.position()), ref -> length).entrySet().stream()
        .allMatch(
            e ->
                Arrays.equals(
                    e.getValue(), Arrays.copyOf(stripe.get(e.getKey().position()), length)));
  }

  @Test
  void sumsAreProvenByChecksums() {
    ErasureCode product = Codes.byName(Codes.PC_COMPACT);
    Set<Integer> all = all(product.size());
    Set<Integer> parities = new TreeSet<>(all);
    parities.removeIf(p -> product.position(p).isData());
    assertThat(
            StripeCheckPlanner.plan(
                product, all, parities, Set.of(), all(product.dataCount()), NO_COMBINES))
        .hasSize(parities.size())
        .allMatch(check -> check instanceof StripeCheck.Xor);
  }

  /** The column rebuilt it: its row says whether that is right. */
  @Test
  void aCheckIsIndependentOfTheRepairWhereItCanBe() {
    ErasureCode product = Codes.byName(Codes.PC_FAST);
    CombinePlan repair =
        Planner.repair(product, all(product.size()), Set.of(0), Set.of(), ReadCost.UNIFORM).get(0);
    List<StripeCheck> checks =
        StripeCheckPlanner.plan(
            product,
            all(product.size()),
            Set.of(0),
            Set.of(),
            new TreeSet<>(repair.inputPositions()),
            NO_COMBINES);
    assertThat(checks).hasSize(1);
    Set<Integer> members = ((StripeCheck.Xor) checks.get(0)).positions();
    assertThat(members).hasSize(6).contains(0).doesNotContainAnyElementsOf(repair.inputPositions());
  }

  @Test
  void otherParitiesAreDecodedBackTogether() {
    ErasureCode rs = Codes.byName("RS(6,3)");
    List<StripeCheck> checks =
        StripeCheckPlanner.plan(rs, all(9), Set.of(6, 7, 8), Set.of(), all(6), NO_COMBINES);
    List<StripeCheck.Decode> decodes =
        checks.stream()
            .filter(StripeCheck.Decode.class::isInstance)
            .map(StripeCheck.Decode.class::cast)
            .toList();
    assertThat(decodes).hasSize(1);
    assertThat(decodes.get(0).plan().reads()).isEqualTo(6);
    assertThat(decodes.get(0).plan().inputPositions()).containsAll(decodes.get(0).written());
  }

  @Test
  void aCombineChecksWhatNoSumCovers() {
    ErasureCode rs = Codes.byName("RS(6,3)");
    SortedMap<Integer, ParityEquation> combines = new TreeMap<>();
    List.of(6, 7, 8).forEach(p -> combines.put(p, equation(p)));
    assertThat(StripeCheckPlanner.plan(rs, all(9), Set.of(6, 7, 8), Set.of(), all(6), combines))
        .hasSize(2)
        .anyMatch(check -> check instanceof StripeCheck.Xor)
        .contains(new StripeCheck.InCombine(Set.of(7, 8)));
  }

  /** Block 7 is computed from block 8: to know that 8 follows from 7 says nothing more. */
  @Test
  void equationsOfCombinesThatSayTheSameCountOnce() {
    ErasureCode rs = Codes.byName("RS(6,3)");
    SortedMap<Integer, ParityEquation> combines = new TreeMap<>();
    combines.put(7, new ParityEquation(new TreeMap<>(Map.of(7, 1, 8, 5))));
    combines.put(8, new ParityEquation(new TreeMap<>(Map.of(7, 2, 8, 10))));
    List<StripeCheck> checks =
        StripeCheckPlanner.plan(rs, all(9), Set.of(7, 8), Set.of(), all(6), combines);
    assertThat(checks).hasSize(2).contains(new StripeCheck.InCombine(Set.of(7)));
    assertThat(checks.get(1)).isInstanceOf(StripeCheck.Decode.class);
  }

  private static ParityEquation equation(int position) {
    return new ParityEquation(new TreeMap<>(Map.of(position, 1)));
  }

  private static Set<Integer> all(int count) {
    Set<Integer> all = new TreeSet<>();
    for (int i = 0; i < count; i++) {
      all.add(i);
    }
    return all;
  }

  private Set<Integer> some(Set<Integer> from, int count) {
    List<Integer> shuffled = new java.util.ArrayList<>(from);
    java.util.Collections.shuffle(shuffled, random);
    return new TreeSet<>(shuffled.subList(0, count));
  }
}
