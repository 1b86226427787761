package io.ebbfs.coding;

import java.util.Arrays;
import java.util.Collection;
import java.util.Set;
import java.util.function.Function;

/**
 * Proves a plan against generator matrices: what each output holds, as a vector of coefficients
 * over the data, is compared with what the code says it must hold. Data that is not there is a
 * virtual zero and left out of the comparison.
 */
public final class SymbolicCheck {
  private SymbolicCheck() {}

  /**
   * Checks a plan within one stripe.
   *
   * @param occupied the positions of the stripe that hold a block
   * @throws IllegalStateException if an output would be wrong or a virtual zero would be read
   */
  public static void verify(ErasureCode code, Set<Integer> occupied, CombinePlan plan) {
    Function<BlockRef, byte[]> vectors =
        ref -> project(code.generator().row(ref.position()), occupied);
    verify(plan, code.name(), vectors, vectors);
  }

  /**
   * Checks a plan between stripes.
   *
   * @param what names the plan in the error
   * @param inputVectors the coefficients of an input block over all data concerned
   * @param outputVectors the same of what an output block must be
   * @throws IllegalStateException if an output would be wrong or a virtual zero would be read
   */
  public static void verify(
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

  /** Zeros the coefficients of the data that is not present. */
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
