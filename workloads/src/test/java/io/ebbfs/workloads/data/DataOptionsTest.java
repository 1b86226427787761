package io.ebbfs.workloads.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The systems are large enough for what is measured. */
class DataOptionsTest {
  private static Shape shape(String... groups) {
    return new DataOptions(List.of(groups), 1, 1, 42, true, DataOptions.Sizes.QUICK, "200mbit")
        .shape();
  }

  @Test
  void theWidestCodeHasADiskForEachBlock() {
    Shape losses = shape("striped", "losses");
    assertThat(losses.servers() * losses.disks())
        .isGreaterThanOrEqualTo(Codes.byName(Codes.PC_COMPACT).size());
    assertThat(losses.blockBytes()).isEqualTo(16 << 20);
    assertThat(losses.rate()).isEqualTo("200mbit");
  }

  @Test
  void otherRowsHaveTheSystemsOfTheirSizes() {
    assertThat(shape("striped").servers()).isEqualTo(DataOptions.Sizes.QUICK.servers());
    assertThat(shape("striped").disks()).isEqualTo(DataOptions.Sizes.QUICK.disks());
  }
}
