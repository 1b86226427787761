package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class StoreMemoryTest {
  private static final long MIB = 1L << 20;

  @Test
  void thePartsAddUpToTheSetting() {
    for (long cache : new long[] {8 * MIB, 64 * MIB, 4_096 * MIB}) {
      StoreMemory memory = StoreMemory.of(cache);
      assertThat(memory.rowBytes() + memory.blockBytes() + memory.writeBytes()).isEqualTo(cache);
    }
  }

  @Test
  void aHeapThatTheRowsWouldFillIsRefusedWithTheHeapThatDoes() throws Exception {
    StoreMemory.checkHeap(64 * MIB, 512 * MIB);
    assertThatThrownBy(() -> StoreMemory.checkHeap(1_024 * MIB, 512 * MIB))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("storeCache of 1024 MiB")
        .hasMessageContaining("has 512 MiB")
        .hasMessageContaining("EBB_NAMENODE_HEAP=704m");
    StoreMemory.checkHeap(1_024 * MIB, 704 * MIB);
  }
}
