package io.ebbfs.coding.plan;

import io.ebbfs.coding.gf.Gf256;
import io.ebbfs.coding.gf.GfMatrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * How the server that runs a combine checks outputs while it holds them in memory: it decodes
 * inputs back from the outputs and the other inputs. There are as many rows as checked outputs, and
 * they are independent as to these outputs: all rows hold only if each checked output is right. The
 * rows follow from the generator matrices and not from the coefficients of the combine. Immutable
 * and thread safe.
 */
public final class CombineCheck {
  private final List<Integer> decoded;
  private final byte[] coefficients;

  private CombineCheck(List<Integer> decoded, byte[] coefficients) {
    this.decoded = List.copyOf(decoded);
    this.coefficients = coefficients;
  }

  /** The input that each row decodes, as an index; an input may occur more than once. */
  public List<Integer> decoded() {
    return decoded;
  }

  /**
   * A copy of the coefficients, row-major, in the layout of OutputCheckProto: a row has the
   * coefficients of the checked outputs, then those of all inputs.
   */
  public byte[] coefficients() {
    return coefficients.clone();
  }

  /**
   * The coefficient of each input in an output.
   *
   * @param inputs the vectors of the inputs, see {@link DataVectors}
   * @return empty if the inputs do not determine the output, or if it is zero
   */
  public static Optional<byte[]> expression(List<byte[]> inputs, byte[] output) {
    List<byte[]> rows = new ArrayList<>();
    for (int d = 0; d < output.length; d++) {
      byte[] row = new byte[inputs.size()];
      for (int i = 0; i < row.length; i++) {
        row[i] = inputs.get(i)[d];
      }
      rows.add(row);
    }
    return GfMatrix.ofRows(rows, inputs.size()).solve(output).filter(x -> !isZero(x));
  }

  /**
   * The check of outputs.
   *
   * @param inputs the vectors of all inputs, see {@link DataVectors}
   * @param outputs the vectors of the outputs to be checked, at least one
   * @throws CannotPlanException if the inputs do not determine an output, or if it is zero
   */
  public static CombineCheck plan(List<byte[]> inputs, List<byte[]> outputs) {
    List<Row> open = new ArrayList<>();
    for (int o = 0; o < outputs.size(); o++) {
      int output = o;
      byte[] expression =
          expression(inputs, outputs.get(o))
              .orElseThrow(
                  () ->
                      new CannotPlanException(
                          "output %d does not follow from the inputs of its combine: it cannot be checked there"
                              .formatted(output)));
      open.add(new Row(o, expression));
    }
    List<Integer> decoded = new ArrayList<>();
    byte[] coefficients = new byte[0];
    while (!open.isEmpty()) {
      RowEchelon rank = new RowEchelon();
      List<Row> together = open.stream().filter(row -> rank.add(row.expression())).toList();
      open.removeAll(together);
      decoded.addAll(rank.pivots());
      byte[] rows = solved(together, rank.pivots(), outputs.size(), inputs.size());
      int had = coefficients.length;
      coefficients = Arrays.copyOf(coefficients, had + rows.length);
      System.arraycopy(rows, 0, coefficients, had, rows.length);
    }
    CombineCheck check = new CombineCheck(decoded, coefficients);
    check.verify(inputs, outputs);
    return check;
  }

  /** An output (as an index) and the coefficients of the inputs in it. */
  private record Row(int output, byte[] expression) {}

  /** The decoded inputs as combinations of the outputs and of all other inputs. */
  private static byte[] solved(List<Row> rows, List<Integer> decoded, int outputs, int inputs) {
    List<byte[]> square = new ArrayList<>();
    for (Row row : rows) {
      byte[] columns = new byte[decoded.size()];
      for (int k = 0; k < columns.length; k++) {
        columns[k] = row.expression()[decoded.get(k)];
      }
      square.add(columns);
    }
    GfMatrix inverse = GfMatrix.ofRows(square, decoded.size()).invert().orElseThrow();
    int width = outputs + inputs;
    byte[] solved = new byte[decoded.size() * width];
    for (int k = 0; k < decoded.size(); k++) {
      byte[] others = new byte[inputs];
      for (int r = 0; r < rows.size(); r++) {
        solved[k * width + rows.get(r).output()] = (byte) inverse.get(k, r);
        Gf256.addMultiple(others, inverse.get(k, r), rows.get(r).expression());
      }
      decoded.forEach(d -> others[d] = 0);
      System.arraycopy(others, 0, solved, k * width + outputs, inputs);
    }
    return solved;
  }

  /** Multiplies the rows with the vectors. This proves that they hold for right blocks. */
  private void verify(List<byte[]> inputs, List<byte[]> outputs) {
    int width = outputs.size() + inputs.size();
    for (int r = 0; r < decoded.size(); r++) {
      byte[] expected = inputs.get(decoded.get(r));
      byte[] actual = new byte[expected.length];
      for (int c = 0; c < width; c++) {
        byte[] block = c < outputs.size() ? outputs.get(c) : inputs.get(c - outputs.size());
        Gf256.addMultiple(actual, coefficients[r * width + c] & 0xff, block);
      }
      if (!Arrays.equals(actual, expected)) {
        throw new IllegalStateException(
            "the check of a combine decodes %s over the data for input %d, which is %s"
                .formatted(Arrays.toString(actual), decoded.get(r), Arrays.toString(expected)));
      }
    }
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
