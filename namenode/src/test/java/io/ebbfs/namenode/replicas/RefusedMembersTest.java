package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.common.time.ManualClock;
import org.junit.jupiter.api.Test;

class RefusedMembersTest {
  private final ManualClock clock = new ManualClock();
  private final RefusedMembers refused = new RefusedMembers(clock);

  @Test
  void aMemberIsLeftOutForTenMinutes() {
    refused.add(1);
    clock.advance(599_999);
    assertThat(refused.has(1)).isTrue();
    assertThat(refused.has(2)).isFalse();
    clock.advance(1);
    assertThat(refused.has(1)).isFalse();
    refused.add(1);
    refused.clear();
    assertThat(refused.has(1)).isFalse();
  }

  @Test
  void theOldestIsForgottenIfThereAreTooMany() {
    for (long blockId = 0; blockId <= 10_000; blockId++) {
      refused.add(blockId);
    }
    assertThat(refused.has(0)).isFalse();
    assertThat(refused.has(1)).isTrue();
    assertThat(refused.has(10_000)).isTrue();
  }
}
