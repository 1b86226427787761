package io.ebbfs.testbed.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

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

  @Test
  void aJvmPrintsWhatItsThreadsDo(@TempDir Path directory) throws Exception {
    Path ready = directory.resolve("ready");
    Path output = directory.resolve("output");
    String code =
        "public class Waits { public static void main(String[] a) throws Exception {"
            + " java.nio.file.Files.createFile(java.nio.file.Path.of(a[0])); Thread.sleep(60000); } }";
    Path source = Files.writeString(directory.resolve("Waits.java"), code);
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    Process process =
        new ProcessBuilder(java.toString(), source.toString(), ready.toString())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      await(() -> Files.exists(ready));
      ProcessId.of(process.pid()).orElseThrow().dumpThreads();
      await(() -> Files.readString(output).contains("at Waits.main"));
      assertThat(process.isAlive()).isTrue();
    } finally {
      process.destroyForcibly();
    }
  }

  private static void await(Callable<Boolean> condition) throws Exception {
    while (!condition.call()) {
      Thread.sleep(20);
    }
  }
}
