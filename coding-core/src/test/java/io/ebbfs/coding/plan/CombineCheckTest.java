package io.ebbfs.coding.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.gf.Gf256;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The rows of a check hold for right outputs, and some row fails for every wrong output. */
final class CombineCheckTest {
  private final long seed = Long.getLong("ebbfs.seed", 20_261_126L);
  private final Random random = new Random(seed);

  @ParameterizedTest
  @ValueSource(
      strings = {"PC(2x5)", "LRC(12,6,2)", "LRC(12,2,2)", "RS(6,3)", "RS(12,3)", "RS(10,4)"})
  void wrongParitiesOfAnEncodingFail(String name) {
    ErasureCode code = Codes.byName(name);
    for (int round = 0; round < 20; round++) {
      Set<Integer> data = new TreeSet<>();
      IntStream.range(0, code.dataCount()).filter(d -> random.nextInt(4) > 0).forEach(data::add);
      data.add(random.nextInt(code.dataCount()));
      assertCaught(new DataVectors(data), code, Planner.encode(code, data), code);
    }
  }

  @Test
  void wrongParitiesOfConversionsFail() {
    for (String[] pair :
        List.of(
            new String[] {Codes.RS_FAST, Codes.RS_COMPACT},
            new String[] {Codes.LRC_FAST, Codes.LRC_COMPACT},
            new String[] {Codes.PC_FAST, Codes.PC_COMPACT})) {
      ErasureCode fast = Codes.byName(pair[0]);
      ErasureCode compact = Codes.byName(pair[1]);
      int stripes = compact.dataCount() / fast.dataCount();
      List<Set<Integer>> whole = new ArrayList<>();
      for (int s = 0; s < stripes; s++) {
        whole.add(all(fast.size()));
      }
      DataVectors vectors = new DataVectors(all(compact.dataCount()));
      Planner.upcode(fast, compact, whole, Set.of())
          .plans()
          .forEach(plan -> assertCaught(vectors, fast, plan, compact));
      Planner.downcode(compact, fast, all(compact.size()), Set.of())
          .plans()
          .forEach(plan -> assertCaught(vectors, compact, plan, fast));
    }
  }

  /** RS(6,3) x 2 to RS(12,3): three of the six old parities are decoded from the three new ones. */
  @Test
  void aConversionDecodesAsManySourcesAsItWritesBlocks() {
    ErasureCode fast = Codes.byName(Codes.RS_FAST);
    ErasureCode compact = Codes.byName(Codes.RS_COMPACT);
    CombinePlan plan =
        Planner.upcode(fast, compact, List.of(all(fast.size()), all(fast.size())), Set.of())
            .plans()
            .get(0);
    DataVectors vectors = new DataVectors(all(12));
    CombineCheck check =
        CombineCheck.plan(
            vectors(vectors, fast, plan.inputs()), vectors(vectors, compact, plan.outputs()));
    assertThat(plan.reads()).isEqualTo(6);
    assertThat(check.decoded()).hasSize(3).doesNotHaveDuplicates();
  }

  /** One data block, and three parities that are its multiples. */
  @Test
  void aSourceIsDecodedOnceForEachOutputThatNothingElseDetermines() {
    ErasureCode rs = Codes.byName("RS(6,3)");
    CombinePlan plan = Planner.encode(rs, Set.of(4));
    DataVectors vectors = new DataVectors(Set.of(4));
    CombineCheck check =
        CombineCheck.plan(
            vectors(vectors, rs, plan.inputs()), vectors(vectors, rs, plan.outputs()));
    assertThat(check.decoded()).containsExactly(0, 0, 0);
    assertCaught(vectors, rs, plan, rs);
  }

  @Test
  void anOutputThatDoesNotFollowFromTheInputsIsRefused() {
    List<byte[]> inputs = List.of(new byte[] {1, 0, 0}, new byte[] {0, 1, 0});
    assertThat(CombineCheck.expression(inputs, new byte[] {0, 0, 1})).isEmpty();
    assertThat(CombineCheck.expression(inputs, new byte[3])).isEmpty();
    assertThatThrownBy(() -> CombineCheck.plan(inputs, List.of(new byte[] {1, 1, 1})))
        .isInstanceOf(CannotPlanException.class)
        .hasMessageContaining("output 0 does not follow");
  }

  /** Computes the outputs from random blocks, then some of them wrong. */
  private void assertCaught(
      DataVectors vectors, ErasureCode from, CombinePlan plan, ErasureCode to) {
    CombineCheck check =
        CombineCheck.plan(
            vectors(vectors, from, plan.inputs()), vectors(vectors, to, plan.outputs()));
    assertThat(check.decoded()).hasSize(plan.writes());
    List<byte[]> data = new ArrayList<>();
    for (int i = 0; i < vectors(vectors, from, plan.inputs()).get(0).length; i++) {
      byte[] block = new byte[16];
      random.nextBytes(block);
      data.add(block);
    }
    List<byte[]> inputs =
        vectors(vectors, from, plan.inputs()).stream().map(v -> sum(v, data)).toList();
    List<byte[]> outputs = new ArrayList<>();
    for (int o = 0; o < plan.writes(); o++) {
      byte[] row = new byte[plan.reads()];
      for (int i = 0; i < row.length; i++) {
        row[i] = (byte) plan.coefficient(o, i);
      }
      outputs.add(sum(row, inputs));
    }
    assertThat(holds(check, outputs, inputs)).as("seed %d", seed).isTrue();
    for (int round = 0; round < 20; round++) {
      List<byte[]> wrong = new ArrayList<>(outputs);
      int error = 1 + random.nextInt(255);
      for (int o = 0; o < wrong.size(); o++) {
        if (random.nextBoolean() || round % wrong.size() == o) {
          byte[] bytes = wrong.get(o).clone();
          bytes[7] ^= (byte) Gf256.multiply(error, 1 + random.nextInt(2));
          wrong.set(o, bytes);
        }
      }
      assertThat(holds(check, wrong, inputs)).as("seed %d", seed).isFalse();
    }
  }

  private static boolean holds(CombineCheck check, List<byte[]> outputs, List<byte[]> inputs) {
    List<byte[]> columns = new ArrayList<>(outputs);
    columns.addAll(inputs);
    byte[] coefficients = check.coefficients();
    for (int r = 0; r < check.decoded().size(); r++) {
      byte[] row = Arrays.copyOfRange(coefficients, r * columns.size(), (r + 1) * columns.size());
      if (!Arrays.equals(sum(row, columns), inputs.get(check.decoded().get(r)))) {
        return false;
      }
    }
    return true;
  }

  private static byte[] sum(byte[] row, List<byte[]> blocks) {
    byte[] sum = new byte[16];
    for (int i = 0; i < row.length; i++) {
      Gf256.addMultiple(sum, row[i] & 0xff, blocks.get(i));
    }
    return sum;
  }

  private static List<byte[]> vectors(
      DataVectors vectors, ErasureCode code, List<BlockRef> blocks) {
    return blocks.stream().map(block -> vectors.of(code, block)).toList();
  }

  private static Set<Integer> all(int count) {
    return new TreeSet<>(IntStream.range(0, count).boxed().toList());
  }
}
