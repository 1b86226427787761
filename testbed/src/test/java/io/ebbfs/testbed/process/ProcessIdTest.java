package io.ebbfs.testbed.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ProcessIdTest {
  @Test
  void theTimeOfTheCompilersIsAPartOfTheTimeOfTheJvm() throws Exception {
    ProcessId self = ProcessId.of(ProcessHandle.current().pid()).orElseThrow();
    // A JVM that has come here has compiled, but perhaps for less than a tick.
    while (self.compilerMicros() == 0) {
      String.valueOf(self).hashCode();
    }
    long compilers = self.compilerMicros();
    assertThat(compilers).isPositive().isLessThan(self.cpuMicros());
  }
}
