package io.ebbfs.verify.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.verify.placement.PackingSimulation.Result;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PackingSimulationTest {
  @ParameterizedTest
  @ValueSource(
      strings = {"PC(6x5)", "PC(2x5)", "LRC(12,2,2)", "LRC(12,6,2)", "RS(12,3)", "RS(6,3)"})
  void tenThousandSmallFilesComeWithinThreeHundredths(String name) {
    long seed = Long.getLong("ebbfs.seed", 20_261_121L);
    for (int proposals : new int[] {1, 10}) {
      Result result = PackingSimulation.run(Codes.byName(name), 10_000, proposals, seed);
      assertThat(result.overhead() - result.ofCode())
          .as("seed %d: %s", seed, result)
          .isBetween(0.0, 0.03);
      double explained =
          (double) (result.paddingBytes() + result.unfilledBytes() + result.leftOutBytes())
              / result.dataBytes();
      assertThat(explained)
          .as("seed %d: %s", seed, result)
          .isCloseTo(
              result.overhead() - result.ofCode(), org.assertj.core.data.Offset.offset(1e-6));
    }
  }
}
