package io.ebbfs.coding.plan;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.gf.Gf256;
import java.util.Arrays;
import java.util.Collection;
import java.util.Set;
import java.util.function.Function;

/**
 * Proves a plan against generator matrices before a byte is read. It multiplies the plan with the
 * vectors of its inputs over the data, and compares each product with the vector that the code
 * demands of the output. Data positions without a block are left out. Pure and thread safe.
 */
final class PlanVerifier {
  private PlanVerifier() {}

  /**
   * Verifies a plan within one stripe.
   *
   * @param occupied the positions of the stripe that hold a block
   * @throws IllegalStateException if an output would be wrong or a virtual zero would be read
   */
  static void verify(ErasureCode code, Set<Integer> occupied, CombinePlan plan) {
    Function<BlockRef, byte[]> vectors =
        ref -> project(code.generator().row(ref.position()), occupied);
    verify(plan, code.name(), vectors, vectors);
  }

  /**
   * Verifies a plan from stripes of one code to stripes of another.
   *
   * @param what names the plan in the error
   * @param inputVectors the coefficients of an input block over the data of all stripes
   * @param outputVectors the coefficients that an output block must have
   * @throws IllegalStateException if an output would be wrong or a virtual zero would be read
   */
  static void verify(
      CombinePlan plan,
      String what,
      Function<BlockRef, byte[]> inputVectors,
      Function<BlockRef, byte[]> outputVectors) {
    byte[][] inputs = new byte[plan.reads()][];
    for (int i = 0; i < inputs.length; i++) {
      inputs[i] = inputVectors.apply(plan.inputs().get(i));
      if (isZero(inputs[i])) {
        throw new IllegalStateException(
            what + ": the plan reads " + plan.inputs().get(i) + ", a virtual zero: " + plan);
      }
    }
    for (int o = 0; o < plan.writes(); o++) {
      byte[] expected = outputVectors.apply(plan.outputs().get(o));
      byte[] actual = new byte[expected.length];
      for (int i = 0; i < inputs.length; i++) {
        Gf256.addMultiple(actual, plan.coefficient(o, i), inputs[i]);
      }
      if (!Arrays.equals(actual, expected)) {
        throw new IllegalStateException(
            what
                + ": the plan gives "
                + Arrays.toString(actual)
                + " over the data for "
                + plan.outputs().get(o)
                + ", the code wants "
                + Arrays.toString(expected)
                + ": "
                + plan);
      }
    }
  }

  /** A copy in which the coefficients of absent data are zero. */
  static byte[] project(byte[] row, Collection<Integer> present) {
    byte[] projected = new byte[row.length];
    for (int p : present) {
      if (p < row.length) {
        projected[p] = row[p];
      }
    }
    return projected;
  }

  private static boolean isZero(byte[] vector) {
    for (byte b : vector) {
      if (b != 0) {
        return false;
      }
    }
    return true;
  }
}
