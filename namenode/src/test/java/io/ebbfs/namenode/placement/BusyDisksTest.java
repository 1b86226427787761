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
      @ForAll @Size(min = 1, max = 40) @DoubleRange(min = -1, max = 10_000) double[] queued) {
    BusyDisks busy = new BusyDisks(queued);
    double mean = Arrays.stream(queued).filter(calls -> calls >= 0).average().orElse(0);
    for (double calls : queued) {
      assertThat(busy.isBusy(calls))
          .as("%s of mean %s", calls, mean)
          .isEqualTo(calls > 4 && calls >= 4 * mean);
    }
    assertThat(Arrays.stream(queued)).anyMatch(calls -> !busy.isBusy(calls));
  }

  /** Some servers are of an older version, which does not tell. */
  @Test
  void disksThatDoNotTellCountForNothing() {
    double[] queued = {10, 12, 10, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    assertThat(new BusyDisks(queued).isBusy(12)).isFalse();
    assertThat(new BusyDisks(queued).isBusy(-1)).isFalse();
    assertThat(new BusyDisks(new double[] {-1, -1}).isBusy(-1)).isFalse();
  }

  @Test
  void anIdleClusterHasNoBusyDisk() {
    assertThat(new BusyDisks(new double[] {0, 0, 0, 0, 0, 0, 0, 4}).isBusy(4)).isFalse();
    assertThat(new BusyDisks(new double[] {0, 0, 0, 0, 0, 0, 0, 4.1}).isBusy(4.1)).isTrue();
    assertThat(new BusyDisks(new double[0]).isBusy(0)).isFalse();
  }
}
