package io.ebbfs.manager.bound;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.Pin;
import java.util.List;
import org.junit.jupiter.api.Test;

class PackingForecastTest {
  private static final long MIB = 1 << 20;

  /** Three blocks of 1 MiB and a last one of 1 KiB; two of the blocks are in a stripe. */
  private static FileView file(long replicatedBytes) {
    return new FileView(
        1,
        "/f",
        "o",
        "g",
        3 * MIB + 1024,
        1,
        false,
        4,
        2,
        0,
        replicatedBytes,
        3 * replicatedBytes,
        List.of(7L),
        0,
        3,
        Pin.NONE,
        0);
  }

  private static long dataBytes(FileView file) {
    return PackingForecast.of(List.of(file), Codes.byName("RS(6,3)")).dataBytes();
  }

  @Test
  void theLastBlocksAreTheUnencodedOnesIfTheirLengthsFit() {
    assertThat(dataBytes(file(MIB + 1024))).isEqualTo(MIB + 1024);
  }

  /** After a release the first blocks may be the unencoded ones. */
  @Test
  void otherUnencodedBlocksCountAsFullOnes() {
    assertThat(dataBytes(file(2 * MIB))).isEqualTo(2 * MIB);
  }
}
