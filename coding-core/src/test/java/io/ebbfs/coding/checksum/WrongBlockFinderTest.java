package io.ebbfs.coding.checksum;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.checksum.Crc32cAlgebra.Sum;
import io.ebbfs.coding.checksum.WrongBlockFinder.EquationResult;
import io.ebbfs.coding.checksum.WrongBlockFinder.WrongBlocks;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.gf.Gf256;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every single wrong block of real stripes, with blocks of different lengths and virtual zeros. */
class WrongBlockFinderTest {
  private static final int LONGEST = 700;

  private final long seed = Long.getLong("ebbfs.seed", 20_261_121L);
  private final Random random = new Random(seed);

  /** The blocks of a stripe by position: data of any length, parities of the longest covered. */
  private Map<Integer, byte[]> stripe(ErasureCode code, Set<Integer> data) {
    Map<Integer, byte[]> blocks = new TreeMap<>();
    for (int d : data) {
      byte[] block = new byte[1 + random.nextInt(LONGEST)];
      random.nextBytes(block);
      blocks.put(d, block);
    }
    for (int p : code.occupied(data)) {
      if (code.position(p).isParity()) {
        blocks.put(p, parity(code, p, blocks));
      }
    }
    return blocks;
  }

  private static byte[] parity(ErasureCode code, int p, Map<Integer, byte[]> blocks) {
    Map<Integer, Integer> equation = WrongBlockFinder.equation(code, p, blocks.keySet());
    int length = equation.keySet().stream().mapToInt(d -> blocks.get(d).length).max().orElse(0);
    byte[] parity = new byte[length];
    equation.forEach((d, c) -> Gf256.addMultiple(parity, c, blocks.get(d)));
    return parity;
  }

  /** As a scrub checks it: XOR equations by checksums, others by encoding; only those listed. */
  private static Map<Integer, EquationResult> checks(
      ErasureCode code, Map<Integer, byte[]> blocks, Set<Integer> unchecked) {
    Map<Integer, EquationResult> checks = new TreeMap<>();
    for (int p : blocks.keySet()) {
      if (code.position(p).isData() || unchecked.contains(p)) {
        continue;
      }
      if (WrongBlockFinder.isPlainXor(code, p, blocks.keySet())) {
        List<Sum> sums = new ArrayList<>();
        sums.add(sum(blocks.get(p)));
        WrongBlockFinder.equation(code, p, blocks.keySet())
            .keySet()
            .forEach(d -> sums.add(sum(blocks.get(d))));
        checks.put(p, EquationResult.ofDifference(Crc32cAlgebra.difference(sums, LONGEST)));
      } else {
        boolean same = java.util.Arrays.equals(parity(code, p, blocks), blocks.get(p));
        checks.put(p, same ? EquationResult.HOLDS : EquationResult.FAILS);
      }
    }
    return checks;
  }

  private static Sum sum(byte[] block) {
    CRC32C crc = new CRC32C();
    crc.update(block);
    return new Sum((int) crc.getValue(), block.length);
  }

  private Set<Integer> someData(ErasureCode code) {
    Set<Integer> data = new TreeSet<>();
    while (data.isEmpty()) {
      for (int d = 0; d < code.dataCount(); d++) {
        if (random.nextInt(10) > 0) {
          data.add(d);
        }
      }
    }
    return data;
  }

  private void spoil(byte[] block) {
    block[random.nextInt(block.length)] ^= (byte) (1 + random.nextInt(255));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"PC(2x5)", "PC(6x5)", "LRC(12,6,2)", "LRC(12,2,2)", "RS(6,3)", "RS(12,3)"})
  void aWholeStripeIsClean(String name) {
    ErasureCode code = Codes.byName(name);
    Map<Integer, byte[]> blocks = stripe(code, someData(code));
    Map<Integer, EquationResult> checks = checks(code, blocks, Set.of());
    assertThat(checks.values()).as("seed %d", seed).containsOnly(EquationResult.HOLDS);
    assertThat(WrongBlockFinder.find(code, blocks.keySet(), checks).clean()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"PC(2x5)", "PC(6x5)", "LRC(12,6,2)", "LRC(12,2,2)", "RS(6,3)", "RS(12,3)"})
  void everyWrongParityIsFoundAndNothingElseBlamed(String name) {
    ErasureCode code = Codes.byName(name);
    Map<Integer, byte[]> blocks = stripe(code, someData(code));
    for (int p : blocks.keySet()) {
      if (code.position(p).isParity()) {
        byte[] right = blocks.get(p).clone();
        spoil(blocks.get(p));
        WrongBlocks verdict =
            WrongBlockFinder.find(code, blocks.keySet(), checks(code, blocks, Set.of()));
        assertThat(verdict.wrongParities()).as("%s, seed %d", p, seed).containsExactly(p);
        assertThat(verdict.suspectData()).as("%s, seed %d", p, seed).isEmpty();
        blocks.put(p, right);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"PC(2x5)", "PC(6x5)"})
  void aProductCodeNamesTheWrongData(String name) {
    ErasureCode code = Codes.byName(name);
    Set<Integer> data = someData(code);
    Map<Integer, byte[]> blocks = stripe(code, data);
    for (int d : data) {
      byte[] right = blocks.get(d).clone();
      spoil(blocks.get(d));
      WrongBlocks verdict =
          WrongBlockFinder.find(code, blocks.keySet(), checks(code, blocks, Set.of()));
      assertThat(verdict.suspectData()).as("%s, seed %d", d, seed).containsExactly(d);
      assertThat(verdict.wrongParities()).as("%s, seed %d", d, seed).isEmpty();
      blocks.put(d, right);
    }
  }

  /** Rows and columns alone cannot tell R and C wrong from data; what differs in them can. */
  @Test
  void twoWrongParitiesThatCrossAreNotTakenForData() {
    ErasureCode code = Codes.byName("PC(2x5)");
    Set<Integer> data = Set.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    Map<Integer, byte[]> blocks = stripe(code, data);
    int global = code.size() - 1;
    for (int row = 10; row < 12; row++) {
      for (int column = 12; column < 17; column++) {
        Map<Integer, byte[]> spoilt = new TreeMap<>();
        blocks.forEach((p, bytes) -> spoilt.put(p, bytes.clone()));
        spoil(spoilt.get(row));
        spoil(spoilt.get(column));
        spoilt.get(column)[0] ^= 1;
        for (Set<Integer> unchecked : List.of(Set.<Integer>of(), Set.of(global))) {
          WrongBlocks verdict =
              WrongBlockFinder.find(code, blocks.keySet(), checks(code, spoilt, unchecked));
          assertThat(verdict.suspectData()).as("seed %d", seed).isEmpty();
          assertThat(verdict.wrongParities()).as("seed %d", seed).contains(row);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"LRC(12,6,2)", "LRC(12,2,2)", "RS(6,3)"})
  void noParityIsBlamedForWrongDataWhereAllAreChecked(String name) {
    ErasureCode code = Codes.byName(name);
    Set<Integer> data = someData(code);
    Map<Integer, byte[]> blocks = stripe(code, data);
    for (int d : data) {
      byte[] right = blocks.get(d).clone();
      spoil(blocks.get(d));
      WrongBlocks verdict =
          WrongBlockFinder.find(code, blocks.keySet(), checks(code, blocks, Set.of()));
      assertThat(verdict.suspectData()).as("%s, seed %d", d, seed).contains(d);
      assertThat(verdict.wrongParities()).as("%s, seed %d", d, seed).isEmpty();
      blocks.put(d, right);
    }
  }

  /** The client's own checksums speak for the data where nothing speaks against it twice. */
  @Test
  void oneEquationAloneBlamesTheParity() {
    ErasureCode code = Codes.byName("LRC(12,2,2)");
    Map<Integer, byte[]> blocks = stripe(code, Set.of(0, 1, 2, 6));
    spoil(blocks.get(0));
    Map<Integer, EquationResult> checks = checks(code, blocks, Set.of(14, 15));
    assertThat(checks).hasSize(2);
    WrongBlocks verdict = WrongBlockFinder.find(code, blocks.keySet(), checks);
    assertThat(verdict.suspectData()).isEmpty();
    assertThat(verdict.wrongParities()).containsExactly(12);
  }

  @Test
  void theXorParitiesOfEachFamily() {
    assertThat(xorParities("PC(2x5)")).hasSize(8);
    assertThat(xorParities("PC(6x5)")).hasSize(12);
    assertThat(xorParities("LRC(12,6,2)")).hasSize(6);
    assertThat(xorParities("LRC(12,2,2)")).hasSize(2);
    assertThat(xorParities("RS(6,3)")).hasSize(1);
  }

  private static List<Integer> xorParities(String name) {
    ErasureCode code = Codes.byName(name);
    Set<Integer> all = new TreeSet<>();
    for (int p = 0; p < code.size(); p++) {
      all.add(p);
    }
    return all.stream()
        .filter(p -> code.position(p).isParity())
        .filter(p -> WrongBlockFinder.isPlainXor(code, p, all))
        .toList();
  }
}
