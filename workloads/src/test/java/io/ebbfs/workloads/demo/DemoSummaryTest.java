package io.ebbfs.workloads.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class DemoSummaryTest {
  private static DemoReport report(double inFastCode) {
    DemoReport report = new DemoReport();
    report.transitions.putAll(Map.of("UPCODE", 2L, "DOWNCODE", 3L, "ENCODE", 4L));
    report.fastCode =
        List.of(
            new DemoReport.FastCode(
                "product", "PC(2x5)", "PC(6x5)", .423, .081, 2.0, 4.97, 3.14, null));
    report.hotData = Map.of("product", new DemoReport.HotData(30, .1, inFastCode));
    return report;
  }

  @Test
  void theFastCodeIsShownWithWhatItServesAndCosts() {
    String table = String.join("\n", DemoSummary.lines(report(.9)));
    assertThat(table)
        .containsPattern("share of the fast code, product +42.3% of the reads on 8.1% of the bytes")
        .containsPattern("a degraded read in PC\\(2x5\\) +2.00 blocks, 3.1 ms")
        .containsPattern("a degraded read in PC\\(6x5\\) +4.97 blocks\n")
        .containsPattern("hot reads on the fast code at the end +product 90%  ok")
        .contains("2 x conversion to compact", "3 x conversion to fast", "4 x encoding");
  }

  @Test
  void hotDataThatIsNotFastIsNotOk() {
    assertThat(report(.5).hotDataIsFast()).isFalse();
    assertThat(String.join("\n", DemoSummary.lines(report(.5))))
        .containsPattern("hot reads on the fast code at the end +product 50%  NOT OK");
  }
}
