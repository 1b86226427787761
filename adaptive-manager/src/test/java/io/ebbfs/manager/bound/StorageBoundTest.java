package io.ebbfs.manager.bound;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.manager.bound.StorageBound.Change;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class StorageBoundTest {
  @Test
  void beyondTheBoundOnlyWhatNeedsNoRoomFits() {
    StorageBound cluster = new StorageBound(OptionalDouble.of(1.4), 150, 100);
    StorageBound policy = cluster.within(OptionalDouble.of(1.8), 150, 100);
    assertThat(policy.fitsNow(Change.ofStored(-1))).isTrue();
    assertThat(policy.fitsNow(Change.ofStored(0))).isTrue();
    assertThat(policy.fitsNow(Change.ofStored(1))).as("the cluster has no room").isFalse();
  }
}
