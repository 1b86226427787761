package io.ebbfs.testbed.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class KafkaFilesTest {
  @Test
  void noIdLooksLikeAnOption() {
    for (int i = 0; i < 5_000; i++) {
      assertThat(KafkaFiles.randomId()).hasSize(22).doesNotStartWith("-");
    }
  }
}
