package io.ebbfs.coding.tolerance;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class MinimumServersTest {
  static Stream<ErasureCode> codes() {
    return Stream.concat(
        Codes.builtIn().stream(),
        Stream.of(
                "XOR(5,1)",
                "PC(1x4)",
                "PC(8x8)",
                "PC(16x16)",
                "LRC(24,4,2)",
                "RS(30,4)",
                "RS(200,2)")
            .map(Codes::byName));
  }

  @ParameterizedTest
  @MethodSource("codes")
  void theLossOfAnyServerDecodesAndNoServerIsLeftOver(ErasureCode code) {
    List<List<Integer>> servers = MinimumServers.divide(code);
    assertThat(servers.stream().flatMap(List::stream))
        .containsExactlyInAnyOrderElementsOf(IntStream.range(0, code.size()).boxed().toList());
    assertThat(servers).allMatch(code::decodes);
    assertThat(MinimumServers.of(code)).isEqualTo(servers.size());
    int least = (code.size() + code.parityCount() - 1) / code.parityCount();
    assertThat(servers).hasSizeGreaterThanOrEqualTo(least);
  }

  @ParameterizedTest
  @CsvSource({
    "PC(2x5), 3",
    "PC(6x5), 4",
    "'LRC(12,6,2)', 3",
    "'LRC(12,2,2)', 4",
    "'RS(6,3)', 3",
    "'RS(12,3)', 5",
    "'RS-LRC(12,2,2)', 4",
    "'RS(10,4)', 4",
    "'XOR(2,1)', 3"
  })
  void theNumbersOfTheCodesInUse(String name, int servers) {
    assertThat(MinimumServers.of(Codes.byName(name))).isEqualTo(servers);
  }

  /**
   * Four parities over one data block, and one over the three others: two of those three are never
   * on one server, so it takes four servers though 8 positions by 4 parities would allow two.
   */
  @Test
  void aGroupWithFewParitiesNeedsServersOfItsOwn() {
    ErasureCode lopsided =
        Codes.ofRows(
            "lopsided",
            1,
            List.of(
                new byte[] {1, 0, 0, 0},
                new byte[] {1, 0, 0, 0},
                new byte[] {1, 0, 0, 0},
                new byte[] {0, 1, 1, 1}));
    assertThat(MinimumServers.of(lopsided)).isEqualTo(4);
  }

  /** The exact answer against all ways to divide a small code. */
  @Test
  void smallRandomCodesNeedExactlySoMany() {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    int tried = 0;
    while (tried < 60) {
      int data = 2 + random.nextInt(4);
      int parities = 2 + random.nextInt(2);
      List<byte[]> rows = new ArrayList<>();
      for (int j = 0; j < parities; j++) {
        byte[] row = new byte[data];
        for (int i = 0; i < data; i++) {
          row[i] = (byte) random.nextInt(2);
        }
        rows.add(row);
      }
      ErasureCode code;
      try {
        code = Codes.ofRows("random", 1, rows);
      } catch (IllegalArgumentException e) {
        continue; // some single loss does not decode
      }
      tried++;
      int servers = MinimumServers.of(code);
      assertThat(divides(code, servers, new ArrayList<>(), 0)).as("seed %d", seed).isTrue();
      assertThat(divides(code, servers - 1, new ArrayList<>(), 0)).as("seed %d", seed).isFalse();
    }
  }

  private static boolean divides(
      ErasureCode code, int most, List<List<Integer>> servers, int position) {
    if (position == code.size()) {
      return true;
    }
    for (List<Integer> server : List.copyOf(servers)) {
      server.add(position);
      if (code.decodes(server) && divides(code, most, servers, position + 1)) {
        return true;
      }
      server.remove(server.size() - 1);
    }
    if (servers.size() == most) {
      return false;
    }
    servers.add(new ArrayList<>(List.of(position)));
    if (divides(code, most, servers, position + 1)) {
      return true;
    }
    servers.remove(servers.size() - 1);
    return false;
  }
}
