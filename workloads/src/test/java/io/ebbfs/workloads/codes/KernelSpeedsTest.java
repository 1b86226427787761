package io.ebbfs.workloads.codes;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KernelSpeedsTest {
  @Test
  void writesTheMatricesOfThePlans() {
    // Parity j of data i has the coefficient p(j)^i for the points 1 and 2.
    assertThat(KernelSpeeds.matrices(List.of(Codes.byName("RS(3,2)"))))
        .startsWith("map RS(3,2) encode 3 2\n1 1 1\n1 2 4\nmap RS(3,2) decode 3 2\n");
  }

  @Test
  void writesOneMatrixForEachCombine() {
    String text = KernelSpeeds.matrices(Codes.builtIn());
    for (ErasureCode code : Codes.builtIn()) {
      String encode =
          "map %s encode %d %d\n".formatted(code.name(), code.dataCount(), code.parityCount());
      assertThat(text).containsOnlyOnce(encode).contains("map " + code.name() + " decode ");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"PC(2x5)", "LRC(12,6,2)", "RS(6,3)"})
  void noOtherLossOfSoManyReadsMore(String name) {
    ErasureCode code = Codes.byName(name);
    assertThat(KernelSpeeds.worstLoss(code)).hasSize(code.tolerance());
    assertThat(KernelSpeeds.reads(code, KernelSpeeds.worstLoss(code)))
        .isEqualTo(most(code, 0, code.tolerance(), Set.of()));
  }

  private static int most(ErasureCode code, int from, int left, Set<Integer> lost) {
    if (left == 0) {
      return KernelSpeeds.reads(code, lost);
    }
    int most = 0;
    for (int p = from; p < code.dataCount(); p++) {
      Set<Integer> more = new HashSet<>(lost);
      more.add(p);
      most = Math.max(most, most(code, p + 1, left - 1, more));
    }
    return most;
  }
}
