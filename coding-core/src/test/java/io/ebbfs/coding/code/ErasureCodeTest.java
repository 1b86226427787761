package io.ebbfs.coding.code;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.gf.GfMatrix;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

public class ErasureCodeTest {
  @ParameterizedTest
  @CsvSource({
    "PC(2x5), 10, 18, 1.8, 3",
    "PC(6x5), 30, 42, 1.4, 3",
    "'LRC(12,6,2)', 12, 20, 1.6667, 3",
    "'LRC(12,2,2)', 12, 16, 1.3333, 3",
    "'RS(6,3)', 6, 9, 1.5, 3",
    "'RS(12,3)', 12, 15, 1.25, 3",
    "'RS(10,4)', 10, 14, 1.4, 4",
    "'RS(2,1)', 2, 3, 1.5, 1",
    "'RS(200,2)', 200, 202, 1.01, 2",
    "'RS(33,4)', 33, 37, 1.1212, 4",
    "'RS-LRC(12,2,2)', 12, 16, 1.3333, 3",
    "'RS-LRC(12,4,3)', 12, 19, 1.5833, 4",
    "'XOR(2,1)', 2, 3, 1.5, 1",
    "'XOR(10,1)', 10, 11, 1.1, 1",
    "'LRC(10,5,2)', 10, 17, 1.7, 3",
    "'LRC(10,2,1)', 10, 13, 1.3, 2",
    "'LRC(24,4,2)', 24, 30, 1.25, 3",
    "'LRC(60,5,2)', 60, 67, 1.1167, 3",
    "PC(10x10), 100, 121, 1.21, 3",
    "PC(1x1), 1, 4, 4, 3"
  })
  void hasTheParametersOfItsName(String name, int data, int size, double overhead, int tolerance) {
    ErasureCode code = Codes.byName(name);
    assertThat(code.name()).isEqualTo(name);
    assertThat(code.dataCount()).isEqualTo(data);
    assertThat(code.size()).isEqualTo(size);
    assertThat(code.overhead()).isCloseTo(overhead, org.assertj.core.data.Offset.offset(1e-4));
    assertThat(code.tolerance()).isEqualTo(tolerance);
    for (int p = 0; p < size; p++) {
      assertThat(code.position(p).index()).isEqualTo(p);
      assertThat(code.position(p).isData()).isEqualTo(p < data);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "PC(2x5), 3060, 45",
    "'LRC(12,6,2)', 4845, 30",
    "'LRC(12,2,2)', 1820, 252",
    "'RS-LRC(12,2,2)', 1820, 252",
    "'RS(10,4)', 1001, 0",
    "PC(6x5), 111930, 315"
  })
  void losesExactlyTheKnownSetsOfFour(String name, int sets, int fatal) {
    ErasureCode code = Codes.byName(name);
    int[] counts = new int[2];
    forEachSubset(code.size(), 4, lost -> counts[rankDecodes(code, lost) ? 0 : 1]++);
    assertThat(counts[0] + counts[1]).isEqualTo(sets);
    assertThat(counts[1]).isEqualTo(fatal);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "PC(2x5)",
        "LRC(12,6,2)",
        "LRC(12,2,2)",
        "RS-LRC(12,2,2)",
        "LRC(16,4,2)",
        "LRC(8,2,3)",
        "XOR(4,1)",
        "RS(6,3)",
        "RS(12,3)",
        "PC(1x1)",
        "PC(3x2)"
      })
  void survivesItsToleranceAndAgreesWithTheRank(String name) {
    ErasureCode code = Codes.byName(name);
    for (int count = 1; count <= Math.min(4, code.size()); count++) {
      int losses = count;
      forEachSubset(
          code.size(),
          count,
          lost -> {
            boolean decodes = rankDecodes(code, lost);
            assertThat(code.decodes(lost)).as("%s without %s", name, lost).isEqualTo(decodes);
            assertThat(decodes || losses > code.tolerance()).isTrue();
          });
    }
  }

  @Test
  void lrcDecodesWhatCanDecodeInTheory() {
    // With two globals and a local parity per group: recoverable if and only if at most two losses
    // remain after each group has absorbed one.
    for (String name :
        List.of(Codes.LRC_FAST, Codes.LRC_COMPACT, Codes.RS_LRC_COMPACT, "LRC(16,2,2)")) {
      ErasureCode code = Codes.byName(name);
      CodeParameters.Lrc parameters = (CodeParameters.Lrc) code.parameters();
      int most = name.equals(Codes.LRC_FAST) ? 5 : 4;
      for (int count = 1; count <= most; count++) {
        forEachSubset(
            code.size(),
            count,
            lost -> assertThat(code.decodes(lost)).isEqualTo(remaining(parameters, lost) <= 2));
      }
    }
  }

  private static int remaining(CodeParameters.Lrc parameters, List<Integer> lost) {
    int remaining = lost.size();
    for (int group = 0; group < parameters.groups(); group++) {
      int g = group;
      boolean absorbs =
          lost.stream()
              .anyMatch(
                  p ->
                      p < parameters.data()
                          ? p / parameters.groupSize() == g
                          : p == parameters.localParity(g));
      remaining -= absorbs ? 1 : 0;
    }
    return remaining;
  }

  @Test
  void virtualZerosCannotBeLost() {
    ErasureCode code = Codes.byName("PC(2x5)");
    Set<Integer> occupied = code.occupied(Set.of(0, 1));
    assertThat(occupied).containsExactlyInAnyOrder(0, 1, 10, 12, 13, 17);
    List<Integer> square = List.of(0, 1, 5, 6);
    assertThat(code.decodes(square)).isFalse();
    assertThat(code.decodes(square, occupied)).isTrue();
    assertThat(code.decodes(List.of(0, 1, 12, 13), occupied)).isFalse();
  }

  @Test
  void parityLengthIsThatOfTheLongestDataItCovers() {
    ErasureCode code = Codes.byName("PC(2x5)");
    long[] lengths = {100, 90, 0, 0, 0, 20, 95, 0, 0, 0};
    assertThat(code.lengthBytes(10, d -> lengths[d])).isEqualTo(100);
    assertThat(code.lengthBytes(11, d -> lengths[d])).isEqualTo(95);
    assertThat(code.lengthBytes(13, d -> lengths[d])).isEqualTo(95);
    assertThat(code.lengthBytes(14, d -> lengths[d])).isZero();
    assertThat(code.lengthBytes(17, d -> lengths[d])).isEqualTo(100);
    assertThat(code.lengthBytes(6, d -> lengths[d])).isEqualTo(95);
  }

  @Test
  void unknownNamesAreRefusedWithWhatIsKnown() {
    assertThatThrownBy(() -> Codes.byName("PC(2*5)"))
        .hasMessageContaining("PC(2*5)")
        .hasMessageContaining("PC(2x5)")
        .hasMessageContaining("RS(10,4)");
    assertThatThrownBy(() -> Codes.byName("LRC(10,4,2)")).hasMessageContaining("LRC(12,6,2)");
    assertThatThrownBy(() -> Codes.byName("RS(34,4)")).hasMessageContaining("33");
    assertThatThrownBy(() -> Codes.byName("PC(0x5)")).hasMessageContaining("at least 1");
    assertThatThrownBy(() -> CodeRegistry.builtIn().family("xor")).hasMessageContaining("product");
    assertThat(Codes.byName("RS(33,4)").tolerance()).isEqualTo(4);
  }

  @Test
  void familiesPairFastAndCompact() {
    assertThat(CodeRegistry.builtIn().family("product").groupSize()).isEqualTo(3);
    assertThat(CodeRegistry.builtIn().family("lrc").groupSize()).isEqualTo(1);
    assertThat(CodeRegistry.builtIn().familyOf("PC(6x5)").orElseThrow().fast())
        .isEqualTo("PC(2x5)");
    assertThat(CodeRegistry.builtIn().familyOf("RS(10,4)")).isEmpty();
    for (CodeFamily family : CodeRegistry.builtIn().families()) {
      assertThat(family.compactCode().dataCount())
          .isEqualTo(family.groupSize() * family.fastCode().dataCount());
    }
  }

  /** By the rank of the generator rows that are left: the definition. */
  private static boolean rankDecodes(ErasureCode code, List<Integer> lost) {
    List<byte[]> rows = new java.util.ArrayList<>();
    for (int p = 0; p < code.size(); p++) {
      if (!lost.contains(p)) {
        rows.add(code.generator().row(p));
      }
    }
    return GfMatrix.ofRows(rows, code.dataCount()).rank() == code.dataCount();
  }

  public static void forEachSubset(
      int n, int size, java.util.function.Consumer<List<Integer>> visit) {
    subsets(n, size, 0, new java.util.ArrayList<>(), visit);
  }

  private static void subsets(
      int n,
      int size,
      int first,
      List<Integer> chosen,
      java.util.function.Consumer<List<Integer>> visit) {
    if (chosen.size() == size) {
      visit.accept(chosen);
      return;
    }
    for (int i = first; i < n; i++) {
      chosen.add(i);
      subsets(n, size, i + 1, chosen, visit);
      chosen.remove(chosen.size() - 1);
    }
  }
}
