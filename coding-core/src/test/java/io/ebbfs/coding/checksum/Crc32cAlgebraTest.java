package io.ebbfs.coding.checksum;

import static io.ebbfs.coding.checksum.Crc32cAlgebra.cancelOut;
import static io.ebbfs.coding.checksum.Crc32cAlgebra.concat;
import static io.ebbfs.coding.checksum.Crc32cAlgebra.difference;
import static io.ebbfs.coding.checksum.Crc32cAlgebra.xor;
import static io.ebbfs.coding.checksum.Crc32cAlgebra.zeroExtended;
import static io.ebbfs.coding.checksum.Crc32cAlgebra.zeros;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.checksum.Crc32cAlgebra.Sum;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** Against the JDK's CRC32C over the bytes themselves. */
class Crc32cAlgebraTest {
  /** The check value of the catalogue of parametrised CRCs: the reference is the right one. */
  @Test
  void referenceIsCrc32c() {
    assertThat(crc("123456789".getBytes(StandardCharsets.US_ASCII))).isEqualTo(0xe3069283);
  }

  @Test
  void zerosOfEveryLength() {
    byte[] none = new byte[5000];
    for (int length = 0; length <= none.length; length++) {
      assertThat(zeros(length)).as("%d", length).isEqualTo(crc(Arrays.copyOf(none, length)));
    }
  }

  /** Lengths beyond what can be held: a gigabyte of zeros is eight times an eighth of it. */
  @Test
  void longLengthsAgreeWithShortOnes() {
    int eighth = zeros(1 << 27);
    int crc = 0;
    for (int i = 0; i < 8; i++) {
      crc = concat(crc, eighth, 1 << 27);
    }
    assertThat(zeros(1L << 30)).isEqualTo(crc);
    assertThat(concat(zeros(1L << 62), zeros(1L << 61), 1L << 61)).isEqualTo(zeros(3L << 61));
  }

  /** Every pair of lengths up to 70, all bits of the state in play. */
  @Test
  void concatenationAndPaddingOfEveryShortPair() {
    byte[] bytes = random(140, 1);
    for (int a = 0; a <= 70; a++) {
      byte[] first = Arrays.copyOf(bytes, a);
      for (int b = 0; b <= 70; b++) {
        byte[] second = Arrays.copyOfRange(bytes, a, a + b);
        assertThat(concat(crc(first), crc(second), b))
            .as("%d and %d", a, b)
            .isEqualTo(crc(Arrays.copyOf(bytes, a + b)));
        assertThat(zeroExtended(sum(first), a + b))
            .as("%d padded with %d", a, b)
            .isEqualTo(crc(Arrays.copyOf(first, a + b)));
      }
    }
  }

  @Property
  void xorOfAnyBlocks(
      @ForAll @Size(max = 9) List<@IntRange(max = 3000) Integer> lengths,
      @ForAll @IntRange(max = 500) int more,
      @ForAll long seed) {
    Random random = new Random(seed);
    int longest = lengths.stream().mapToInt(Integer::intValue).max().orElse(0);
    List<Sum> sums = new ArrayList<>();
    byte[] total = new byte[longest + more];
    for (int length : lengths) {
      byte[] block = new byte[length];
      random.nextBytes(block);
      add(total, block);
      sums.add(sum(block));
    }
    assertThat(xor(sums, total.length)).isEqualTo(crc(total));
  }

  @Property
  void aParityCancelsItsDataAndOneBitMoreDoesNot(
      @ForAll @Size(min = 1, max = 9) List<@IntRange(min = 1, max = 2000) Integer> lengths,
      @ForAll long seed) {
    Random random = new Random(seed);
    byte[] parity = new byte[lengths.stream().mapToInt(Integer::intValue).max().orElseThrow()];
    List<byte[]> blocks = new ArrayList<>();
    for (int length : lengths) {
      byte[] block = new byte[length];
      random.nextBytes(block);
      add(parity, block);
      blocks.add(block);
    }
    blocks.add(parity);
    assertThat(cancelOut(sums(blocks))).isTrue();

    byte[] victim = blocks.get(random.nextInt(blocks.size()));
    byte[] error = new byte[victim.length];
    error[random.nextInt(victim.length)] = (byte) (1 << random.nextInt(8));
    add(victim, error);
    assertThat(cancelOut(sums(blocks))).isFalse();
    // The difference is that of the error alone, whoever has it.
    assertThat(difference(sums(blocks), parity.length))
        .isEqualTo(difference(List.of(sum(error)), parity.length));
  }

  @Test
  void aDifferenceDependsOnTheErrorAlone() {
    byte[] error = random(700, 3);
    for (int length : new int[] {700, 701, 5000}) {
      byte[] data = random(length, length);
      byte[] wrong = data.clone();
      add(wrong, error);
      assertThat(difference(List.of(sum(data), sum(wrong)), 5000))
          .isEqualTo(difference(List.of(sum(error)), 5000))
          .isNotZero();
    }
  }

  @Test
  void nothingAddsUpToZeros() {
    assertThat(xor(List.of(), 100)).isEqualTo(zeros(100));
    assertThat(cancelOut(List.of())).isTrue();
    assertThat(cancelOut(List.of(sum(new byte[0]), sum(new byte[77])))).isTrue();
  }

  @Test
  void refusesBlocksThatAreTooLong() {
    assertThatThrownBy(() -> zeroExtended(new Sum(1, 101), 100))
        .hasMessage("a block of 101 bytes cannot be padded to 100");
    assertThatThrownBy(() -> new Sum(1, -1)).hasMessage("a block has no -1 bytes");
  }

  private static Sum sum(byte[] block) {
    return new Sum(crc(block), block.length);
  }

  private static List<Sum> sums(List<byte[]> blocks) {
    return blocks.stream().map(Crc32cAlgebraTest::sum).toList();
  }

  private static int crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }

  private static void add(byte[] total, byte[] block) {
    for (int i = 0; i < block.length; i++) {
      total[i] ^= block[i];
    }
  }

  private static byte[] random(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }
}
