package io.ebbfs.testbed.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What processes have used, from the files of the kernel. */
class ProcessUsageTest {
  private static final String STAT =
      "42 (a) name (x) S 1 42 42 0 -1 4194304 100 200 0 0 7 5 30 20 20 0 11 0 1234 9 9";
  private static final String IO = "rchar: 1\nwchar: 2\nsyscr: 33\nsyscw: 44\nread_bytes: 5\n";

  @Test
  void timesOfEndedChildrenCount() {
    assertThat(ProcessUsage.parse(STAT, IO)).isEqualTo(new ProcessUsage(370_000, 250_000, 33, 44));
    assertThat(ProcessUsage.parse(STAT, IO).cpuSeconds()).isEqualTo(0.62);
  }

  @Test
  void aRunningProcessUsesMoreAndAnEndedOneCountsAsNothing() throws Exception {
    ProcessId self = ProcessId.of(ProcessHandle.current().pid()).orElseThrow();
    ProcessUsage before = ProcessUsage.of(List.of(self));
    ProcessUsage after = ProcessUsage.of(List.of(self, new ProcessId(self.pid(), 1)));
    assertThat(after.minus(before).readCalls()).isPositive();
    assertThat(after.plus(before).userMicros()).isEqualTo(after.userMicros() + before.userMicros());
  }
}
