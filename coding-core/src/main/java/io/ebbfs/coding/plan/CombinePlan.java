package io.ebbfs.coding.plan;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * One combine: every output block is a linear combination of the input blocks. Each input is read
 * once, each output written once. Immutable and thread safe.
 */
public final class CombinePlan {
  private final List<BlockRef> inputs;
  private final List<BlockRef> outputs;
  private final byte[] coefficients;

  /**
   * @param coefficients row-major, a row per output, a column per input: the layout of
   *     CombineRequestProto.coefficients
   */
  public CombinePlan(List<BlockRef> inputs, List<BlockRef> outputs, byte[] coefficients) {
    if (coefficients.length != inputs.size() * outputs.size()) {
      throw new IllegalArgumentException(
          coefficients.length
              + " coefficients for "
              + outputs.size()
              + " outputs of "
              + inputs.size()
              + " inputs; their product is needed");
    }
    this.inputs = List.copyOf(inputs);
    this.outputs = List.copyOf(outputs);
    this.coefficients = coefficients.clone();
  }

  /** A plan from the expression of each output: coefficient by input. */
  static CombinePlan of(SortedMap<BlockRef, SortedMap<BlockRef, Integer>> expressions) {
    SortedSet<BlockRef> union = new TreeSet<>();
    expressions.values().forEach(expression -> union.addAll(expression.keySet()));
    List<BlockRef> inputs = List.copyOf(union);
    List<BlockRef> outputs = List.copyOf(expressions.keySet());
    byte[] coefficients = new byte[inputs.size() * outputs.size()];
    for (int o = 0; o < outputs.size(); o++) {
      Map<BlockRef, Integer> expression = expressions.get(outputs.get(o));
      for (int i = 0; i < inputs.size(); i++) {
        coefficients[o * inputs.size() + i] =
            (byte) expression.getOrDefault(inputs.get(i), 0).intValue();
      }
    }
    return new CombinePlan(inputs, outputs, coefficients);
  }

  /** The expression of an output: nonzero coefficient by input. */
  SortedMap<BlockRef, Integer> expression(int output) {
    SortedMap<BlockRef, Integer> expression = new TreeMap<>();
    for (int i = 0; i < inputs.size(); i++) {
      if (coefficient(output, i) != 0) {
        expression.put(inputs.get(i), coefficient(output, i));
      }
    }
    return expression;
  }

  /** The blocks to read, in the order of the columns. */
  public List<BlockRef> inputs() {
    return inputs;
  }

  /** The blocks to write, in the order of the rows. */
  public List<BlockRef> outputs() {
    return outputs;
  }

  /** A copy of the coefficients, row-major, a row per output. */
  public byte[] coefficients() {
    return coefficients.clone();
  }

  /** The coefficient, 0..255, of an input in an output. */
  public int coefficient(int output, int input) {
    return coefficients[output * inputs.size() + input] & 0xff;
  }

  /** The number of blocks read. */
  public int reads() {
    return inputs.size();
  }

  /** The number of blocks written. */
  public int writes() {
    return outputs.size();
  }

  /** The positions that are read, for a plan within one stripe. */
  public List<Integer> inputPositions() {
    return positions(inputs);
  }

  /** The positions that are written, for a plan within one stripe. */
  public List<Integer> outputPositions() {
    return positions(outputs);
  }

  private static List<Integer> positions(List<BlockRef> refs) {
    List<Integer> positions = new ArrayList<>();
    for (BlockRef ref : refs) {
      positions.add(ref.position());
    }
    return positions;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CombinePlan that
        && inputs.equals(that.inputs)
        && outputs.equals(that.outputs)
        && Arrays.equals(coefficients, that.coefficients);
  }

  @Override
  public int hashCode() {
    return 31 * (31 * inputs.hashCode() + outputs.hashCode()) + Arrays.hashCode(coefficients);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("reads " + reads() + ", writes " + writes() + ":");
    for (int o = 0; o < outputs.size(); o++) {
      text.append(' ').append(outputs.get(o).stripe()).append('/');
      text.append(outputs.get(o).position()).append('=');
      expression(o)
          .forEach(
              (in, c) ->
                  text.append('+')
                      .append(c)
                      .append('*')
                      .append(in.stripe())
                      .append('/')
                      .append(in.position()));
    }
    return text.toString();
  }
}
