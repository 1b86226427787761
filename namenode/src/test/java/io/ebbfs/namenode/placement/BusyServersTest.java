package io.ebbfs.namenode.placement;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class BusyServersTest {
  @Property
  void someServerIsNeverBusy(
      @ForAll @Size(min = 1, max = 40) @IntRange(max = 10_000) int[] transfers) {
    BusyServers busy = new BusyServers(transfers);
    double mean = Arrays.stream(transfers).average().orElseThrow();
    for (int i = 0; i < transfers.length; i++) {
      boolean expected = transfers[i] > 16 && transfers[i] >= 4 * mean;
      assertThat(busy.isBusy(i)).as("%d of mean %s", transfers[i], mean).isEqualTo(expected);
    }
    assertThat(IntStream.range(0, transfers.length)).anyMatch(i -> !busy.isBusy(i));
  }

  @Test
  void anIdleClusterHasNoBusyServer() {
    BusyServers busy = new BusyServers(new int[] {0, 0, 0, 0, 0, 0, 0, 16});
    assertThat(IntStream.range(0, 8)).noneMatch(busy::isBusy);
    assertThat(new BusyServers(new int[] {0, 0, 0, 0, 0, 0, 0, 17}).isBusy(7)).isTrue();
  }

  @Property
  void aDiskIsFullFromNinetyFivePercentOn(
      @ForAll @LongRange(min = 1, max = 1L << 50) long capacity,
      @ForAll @LongRange(max = 1000) long thousandths) {
    long remaining = (long) (capacity * (thousandths / 1000.0));
    if (thousandths > 51) {
      assertThat(BusyServers.isFull(Math.max(capacity, 1000), Math.max(remaining, 51))).isFalse();
    } else if (thousandths < 49) {
      assertThat(BusyServers.isFull(capacity, remaining)).isTrue();
    }
    assertThat(BusyServers.isFull(0, 0)).as("unknown").isFalse();
  }
}
