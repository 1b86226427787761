package io.ebbfs.namenode.placement.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DecodabilityCacheTest {
  @Test
  void answersAreThoseOfTheCode() {
    long seed = Long.getLong("ebbfs.seed", 20_261_121L);
    Random random = new Random(seed);
    for (ErasureCode code : Codes.builtIn()) {
      DecodabilityCache losses = DecodabilityCache.of(code);
      for (int i = 0; i < 400; i++) {
        int count = random.nextInt(Math.min(code.size(), code.parityCount() + 2)) + 1;
        int[] lost =
            IntStream.generate(() -> random.nextInt(code.size())).distinct().limit(count).toArray();
        assertThat(losses.survives(lost, count))
            .as("seed %d: %s without %s", seed, code, lost)
            .isEqualTo(code.decodes(lost, count));
        if (losses.hasMasks()) {
          long mask = IntStream.of(lost).mapToLong(p -> 1L << p).sum();
          assertThat(losses.survives(mask))
              .as("seed %d: %s without %s as bits", seed, code, lost)
              .isEqualTo(code.decodes(lost, count));
        }
      }
    }
  }
}
