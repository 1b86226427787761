package io.ebbfs.coding.code;

import io.ebbfs.coding.gf.Gf256;
import io.ebbfs.coding.gf.GfMatrix;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.function.IntToLongFunction;

/**
 * A systematic linear code over GF(2^8): named positions and a generator matrix. Data positions
 * come first. Every other part identifies a position by its index in {@link #positions()}.
 * Immutable and thread safe. Made by {@link Codes} or found by name in a {@link CodeRegistry}.
 */
public final class ErasureCode {
  private final String name;
  private final String family;
  private final CodeParameters parameters;
  private final int dataCount;
  private final int tolerance;
  private final List<Position> positions;
  private final GfMatrix generator;
  private final List<ParityEquation> equations;
  // By position: its column of the parity check matrix, one byte per parity.
  private final byte[][] checkColumns;

  ErasureCode(
      String name,
      String family,
      CodeParameters parameters,
      int dataCount,
      int tolerance,
      List<Position> positions,
      List<byte[]> parityRows,
      List<ParityEquation> equations) {
    this.name = name;
    this.family = family;
    this.parameters = parameters;
    this.dataCount = dataCount;
    this.tolerance = tolerance;
    this.positions = List.copyOf(positions);
    this.equations = List.copyOf(equations);
    List<byte[]> rows = new ArrayList<>();
    GfMatrix identity = GfMatrix.identity(dataCount);
    for (int i = 0; i < dataCount; i++) {
      rows.add(identity.row(i));
    }
    rows.addAll(parityRows);
    this.generator = GfMatrix.ofRows(rows, dataCount);
    this.checkColumns = checkColumns(parityRows, dataCount);
  }

  /** The same code under another name and with another claimed tolerance. */
  ErasureCode renamed(String newName, int newTolerance) {
    List<byte[]> rows = new ArrayList<>();
    for (int p = dataCount; p < size(); p++) {
      rows.add(generator.row(p));
    }
    return new ErasureCode(
        newName, family, parameters, dataCount, newTolerance, positions, rows, equations);
  }

  private static byte[][] checkColumns(List<byte[]> parityRows, int dataCount) {
    int parities = parityRows.size();
    byte[][] columns = new byte[dataCount + parities][parities];
    for (int j = 0; j < parities; j++) {
      for (int i = 0; i < dataCount; i++) {
        columns[i][j] = parityRows.get(j)[i];
      }
      columns[dataCount + j][j] = 1;
    }
    return columns;
  }

  /** The name in configuration files and in stored rows, such as "PC(2x5)". */
  public String name() {
    return name;
  }

  /** "product", "lrc", "rs", "xor" or "custom". */
  public String family() {
    return family;
  }

  /** The sizes of the code, by family. */
  public CodeParameters parameters() {
    return parameters;
  }

  /** The number of data positions, k. */
  public int dataCount() {
    return dataCount;
  }

  /** The number of parity positions. */
  public int parityCount() {
    return positions.size() - dataCount;
  }

  /** The number of all positions, n. */
  public int size() {
    return positions.size();
  }

  /** All positions, data first. */
  public List<Position> positions() {
    return positions;
  }

  /**
   * The position with this index.
   *
   * @throws IllegalArgumentException if the code has no such position
   */
  public Position position(int index) {
    if (index < 0 || index >= positions.size()) {
      throw new IllegalArgumentException(
          name + " has no position " + index + ": it has 0 to " + (positions.size() - 1));
    }
    return positions.get(index);
  }

  /** The generator matrix: row p has the coefficients of position p over the data. */
  public GfMatrix generator() {
    return generator;
  }

  /** Stored bytes per logical byte of a full stripe: n / k. */
  public double overhead() {
    return (double) size() / dataCount;
  }

  /** How many lost blocks of a stripe can be rebuilt, whichever blocks they are. */
  public int tolerance() {
    return tolerance;
  }

  /**
   * A digest of the data count and the generator matrix: 32 hexadecimal digits of a SHA-256. Two
   * codes that compute the same parities have the same fingerprint, whatever their names are.
   */
  public String fingerprint() {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update((dataCount + "+" + parityCount() + ":").getBytes(StandardCharsets.US_ASCII));
      for (int p = dataCount; p < size(); p++) {
        digest.update(generator.row(p));
      }
      return HexFormat.of().formatHex(digest.digest(), 0, 16);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** Parity check equations with few terms; every other one is a combination of these. */
  public List<ParityEquation> equations() {
    return equations;
  }

  /** Whether the lost positions can be rebuilt from all the other positions. Exact. */
  public boolean decodes(Collection<Integer> lostPositions) {
    if (lostPositions.size() > parityCount()) {
      return false;
    }
    int[] lost = new int[lostPositions.size()];
    int count = 0;
    for (int position : lostPositions) {
      lost[count++] = position(position).index();
    }
    return decodes(lost, count);
  }

  /**
   * As {@link #decodes(Collection)}, for a stripe that has blocks only at the occupied positions.
   * The other positions are virtual zeros, which cannot be lost.
   */
  public boolean decodes(Collection<Integer> lostPositions, Set<Integer> occupied) {
    return decodes(lostPositions.stream().filter(occupied::contains).toList());
  }

  /** As {@link #decodes(Collection)}, for the first {@code count} elements, all different. */
  public boolean decodes(int[] lost, int count) {
    if (count <= tolerance) {
      return true;
    }
    if (count > parityCount()) {
      return false;
    }
    return independent(lost, count);
  }

  /**
   * Whether the columns of the parity check matrix of the first {@code count} positions are
   * linearly independent. If and only if they are, the other blocks determine these blocks.
   */
  boolean independent(int[] lost, int count) {
    byte[][] basis = new byte[parityCount()][];
    for (int i = 0; i < count; i++) {
      if (!extend(basis, checkColumns[lost[i]].clone())) {
        return false;
      }
    }
    return true;
  }

  /** Adds a vector to a basis in echelon form; false if the vector depends on the basis. */
  private static boolean extend(byte[][] basis, byte[] vector) {
    for (int c = 0; c < vector.length; c++) {
      if (vector[c] == 0) {
        continue;
      }
      if (basis[c] == null) {
        int inverse = Gf256.inverse(vector[c] & 0xff);
        for (int i = c; i < vector.length; i++) {
          vector[i] = (byte) Gf256.multiply(vector[i] & 0xff, inverse);
        }
        basis[c] = vector;
        return true;
      }
      Gf256.addMultiple(vector, vector[c] & 0xff, basis[c]);
    }
    return false;
  }

  /**
   * The positions that hold a block once this data is encoded: these data positions, and every
   * parity that covers at least one of them. A parity over virtual zeros alone is not stored.
   */
  public Set<Integer> occupied(Collection<Integer> presentData) {
    Set<Integer> occupied = new java.util.TreeSet<>();
    for (int data : presentData) {
      if (data < 0 || data >= dataCount) {
        throw new IllegalArgumentException(
            name + " has no data position " + data + ": it has 0 to " + (dataCount - 1));
      }
      for (int p = 0; p < size(); p++) {
        if (generator.get(p, data) != 0) {
          occupied.add(p);
        }
      }
    }
    return occupied;
  }

  /**
   * The length of the block at a position in bytes. A parity is as long as the longest data block
   * that it covers.
   *
   * @param dataLength length in bytes by data position, 0 for a virtual zero
   */
  public long lengthBytes(int position, IntToLongFunction dataLength) {
    long length = 0;
    for (int data = 0; data < dataCount; data++) {
      if (generator.get(position, data) != 0) {
        length = Math.max(length, dataLength.applyAsLong(data));
      }
    }
    return length;
  }

  /** Equal codes have the same name, tolerance and generator matrix. */
  @Override
  public boolean equals(Object other) {
    return this == other
        || other instanceof ErasureCode that
            && name.equals(that.name)
            && tolerance == that.tolerance
            && generator.equals(that.generator);
  }

  @Override
  public int hashCode() {
    return name.hashCode();
  }

  @Override
  public String toString() {
    return name;
  }
}
