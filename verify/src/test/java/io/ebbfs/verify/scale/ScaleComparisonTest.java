package io.ebbfs.verify.scale;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ScaleComparisonTest {
  private static final long FILES = 100_000_000;

  private final List<Long> measured = new ArrayList<>();
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

  private Map<String, Object> run(boolean alone) throws Exception {
    return new ScaleComparison(FILES, alone, (files, out) -> measure(files))
        .run(new PrintStream(printed, true, StandardCharsets.UTF_8));
  }

  private ScaleRun.Figures measure(long files) {
    measured.add(files);
    return new ScaleRun.Figures(
        files,
        List.of(new ScaleRun.Loop("evaluation", 10_000, files / 1e7, 5)),
        Map.of("rows written", 7.0),
        Map.of("/", 301.0),
        files / 1e6);
  }

  private List<String> line(String beginning) {
    return printed
        .toString(StandardCharsets.UTF_8)
        .lines()
        .filter(line -> line.startsWith(beginning))
        .map(line -> line.substring(beginning.length()).strip().replaceAll(" +", " "))
        .toList();
  }

  @Test
  void aTenthComesBeforeAllFiles() throws Exception {
    Map<String, Object> figures = run(false);
    assertThat(measured).containsExactly(FILES / 10, FILES);
    assertThat(line("CPU ms per period"))
        .containsExactly("10,000,000 files 100,000,000 files times");
    assertThat(line("evaluation")).containsExactly("1.00 10.00 10.0");
    assertThat(line("live heap, MiB")).containsExactly("10 100 10.0");
    assertThat((List<?>) figures.get("loops")).hasSize(2);
    assertThat(figures.get("onceMillis"))
        .isEqualTo(
            Map.of("small", Map.of("rows written", 7.0), "large", Map.of("rows written", 7.0)));
  }

  @Test
  void allFilesAreMeasuredAlone() throws Exception {
    Map<String, Object> figures = run(true);
    assertThat(measured).containsExactly(FILES);
    assertThat(line("CPU ms per period")).containsExactly("100,000,000 files");
    assertThat(line("evaluation")).containsExactly("10.00");
    assertThat(line("live heap, MiB")).containsExactly("100");
    assertThat(line("1 of 1 answers")).containsExactly("take longer than 300 ms");
    assertThat((List<?>) figures.get("loops"))
        .isEqualTo(
            List.of(
                Map.of(
                    "name",
                    "evaluation",
                    "files",
                    FILES,
                    "periodMillis",
                    10_000L,
                    "millisPerPeriod",
                    10.0,
                    "rowsPerPeriod",
                    5.0,
                    "heapMiB",
                    100.0)));
    assertThat(figures.get("answerMillis")).isEqualTo(Map.of("large", Map.of("/", 301.0)));
  }
}
