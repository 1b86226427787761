package io.ebbfs.namenode.placement;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class BusyDisksTest {
  @Property
  void someDiskIsNeverBusy(
      @ForAll @Size(min = 1, max = 40) @DoubleRange(max = 10_000) double[] queued) {
    BusyDisks busy = new BusyDisks(queued);
    double mean = Arrays.stream(queued).average().orElseThrow();
    for (double calls : queued) {
      assertThat(busy.isBusy(calls))
          .as("%s of mean %s", calls, mean)
          .isEqualTo(calls > 4 && calls >= 4 * mean);
    }
    assertThat(Arrays.stream(queued)).anyMatch(calls -> !busy.isBusy(calls));
  }

  @Test
  void anIdleClusterHasNoBusyDisk() {
    assertThat(new BusyDisks(new double[] {0, 0, 0, 0, 0, 0, 0, 4}).isBusy(4)).isFalse();
    assertThat(new BusyDisks(new double[] {0, 0, 0, 0, 0, 0, 0, 4.1}).isBusy(4.1)).isTrue();
    assertThat(new BusyDisks(new double[0]).isBusy(0)).isFalse();
  }
}
