package io.ebbfs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class AppendOptionsTest {
  @Test
  void valuesOutOfRangeAreRefusedByName() {
    assertThat(AppendOptions.DEFAULT.withLanes(64).lanes()).isEqualTo(64);
    assertThatThrownBy(() -> AppendOptions.DEFAULT.withLanes(65))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("lanes is 65; choose a value from 1 to 64");
    assertThatThrownBy(() -> AppendOptions.DEFAULT.withFile(3, 1_000))
        .hasMessageContaining("blockSizeBytes is 1000");
    assertThatThrownBy(() -> AppendOptions.DEFAULT.withAge(0))
        .hasMessage("ageMillis is 0; choose a value from 1 to 2147483647");
    assertThatThrownBy(() -> new AppendOptions(4, 0, 0, 1, 1, 1, 1, Long.MAX_VALUE))
        .hasMessage("patienceMillis is 9223372036854775807; choose a value from 1 to 31536000000");
  }

  @Test
  void anOptionChangesNoOtherOne() {
    AppendOptions options = AppendOptions.DEFAULT.withAge(7).withLanes(2).withFile(3, 1 << 20);

    assertThat(options.ageMillis()).isEqualTo(7);
    assertThat(options.lanes()).isEqualTo(2);
    assertThat(options.replication()).isEqualTo(3);
    assertThat(options.blockSizeBytes()).isEqualTo(1 << 20);
    assertThat(options.idleMillis()).isEqualTo(AppendOptions.DEFAULT.idleMillis());
  }
}
