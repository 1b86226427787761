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
  }
}
