package io.ebbfs.coding.code;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.plan.Bytes;
import io.ebbfs.coding.plan.CannotPlanException;
import io.ebbfs.coding.plan.CombinePlan;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.coding.plan.PlannerTest;
import io.ebbfs.coding.plan.ReadCost;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every loss of so many blocks is repaired by the planner's own plans to the very bytes, or refused
 * where it is fatal. That a loss is fatal is known from the facts' counts, not from the planner.
 */
class EveryErasureTest {
  private static final int BYTES = 2;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // code           | most lost | patterns | fatal among them
        "PC(2x5)          | 4 | 4047  | 45",
        "LRC(12,6,2)      | 4 | 6195  | 30",
        "LRC(12,2,2)      | 4 | 2516  | 252",
        "RS-LRC(12,2,2)   | 4 | 2516  | 252",
        "RS-LRC(6,1,2)    | 3 | 129   | 0",
        "RS(6,3)          | 4 | 255   | 126",
        "RS(12,3)         | 3 | 575   | 0",
        "RS(10,4)         | 4 | 1470  | 0",
        "PC(6x5)          | 3 | 12383 | 0",
        "LRC(10,5,2)      | 3 | 833   | 0",
        "LRC(8,2,3)       | 4 | 1092  | 0",
        "XOR(10,1)        | 2 | 66    | 55",
      })
  void decodesToTheRightBytesOrIsRefused(String name, int most, int patterns, int fatal) {
    ErasureCode code = Codes.byName(name);
    Random random = new Random(19);
    Map<Integer, byte[]> stripe =
        Bytes.randomStripe(code, PlannerTest.range(0, code.dataCount()), random, BYTES);
    int[] counts = new int[2];
    for (int size = 1; size <= most; size++) {
      ErasureCodeTest.forEachSubset(
          code.size(),
          size,
          lost -> {
            counts[0]++;
            counts[1] += repaired(code, stripe, lost) ? 0 : 1;
          });
    }
    assertThat(counts).containsExactly(patterns, fatal);
  }

  private static boolean repaired(
      ErasureCode code, Map<Integer, byte[]> stripe, List<Integer> lost) {
    List<CombinePlan> plans;
    try {
      plans =
          Planner.repair(code, stripe.keySet(), new TreeSet<>(lost), Set.of(), ReadCost.UNIFORM);
    } catch (CannotPlanException e) {
      return false;
    }
    Map<Integer, byte[]> left = new HashMap<>(stripe);
    left.keySet().removeAll(lost);
    for (CombinePlan plan : plans) {
      Bytes.run(plan, ref -> left.get(ref.position()), ref -> BYTES)
          .forEach((ref, bytes) -> left.put(ref.position(), bytes));
    }
    for (int position : lost) {
      if (!java.util.Arrays.equals(left.get(position), stripe.get(position))) {
        throw new AssertionError(code + ": wrong bytes after the loss of " + lost + ": " + plans);
      }
    }
    return true;
  }
}
