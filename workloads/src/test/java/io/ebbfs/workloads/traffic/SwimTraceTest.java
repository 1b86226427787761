package io.ebbfs.workloads.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SwimTraceTest {
  @TempDir Path directory;

  private Workload read(String text) throws IOException {
    Path trace = Files.writeString(directory.resolve("trace.tsv"), text);
    return new SwimTrace(10, 1000, 5).read(trace);
  }

  @Test
  void timeIsCompressedLengthsAreScaledAndReadsPerPathKept() throws IOException {
    Workload workload =
        read(
            """
            job0\t1\t1\t2000000\t0\t7\tone\t\t
            job1\t3\t2\t100\t0\t7\ttwo
            job2\t21\t18\t9000000\t0\t7\tone
            """);
    assertThat(workload.files())
        .containsExactly(new Workload.File("one", 9000), new Workload.File("two", 5));
    assertThat(workload.reads())
        .containsExactly(
            new Workload.Read(100, 0), new Workload.Read(300, 1), new Workload.Read(2100, 0));
    assertThat(workload.durationMillis()).isEqualTo(2101);
  }

  @Test
  void aLineInAnotherFormatIsNamed() {
    assertThatThrownBy(() -> read("job0\t1\t1\t2\t3\t4\tone\njob1\tsoon\t1\t2\t3\t4\tone\n"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("line 2")
        .hasMessageContaining("soon");
    assertThatThrownBy(() -> read("job0\t1\t1\t2\t3\t4\n"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("input path");
    assertThatThrownBy(() -> read("a\t9\t1\t2\t3\t4\tx\nb\t8\t1\t2\t3\t4\tx\n"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("line 2");
    assertThatThrownBy(() -> read("")).isInstanceOf(IOException.class);
  }
}
