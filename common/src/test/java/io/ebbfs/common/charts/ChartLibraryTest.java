package io.ebbfs.common.charts;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Assertions are about short facts: a failure must not print a megabyte of script. */
class ChartLibraryTest {
  private static int count(String text, String part) {
    return (text.length() - text.replace(part, "").length()) / part.length();
  }

  @Test
  void bothScriptsAreOnTheClassPath() {
    assertThat(ChartLibrary.echarts().length()).isGreaterThan(500_000);
    assertThat(count(ChartLibrary.echarts(), "Apache Software Foundation")).isPositive();
    assertThat(count(ChartLibrary.charts(), "const Charts = ")).isEqualTo(1);
  }

  @Test
  void aPageHasEachScriptOnceAndWhole() {
    String elements = ChartLibrary.elements();
    assertThat(count(elements, "<script id=")).isEqualTo(2);
    assertThat(count(elements, "</script")).isEqualTo(2);
    assertThat(elements.indexOf("<script id=\"echarts\">")).isZero();
  }

  /** A browser would ask for a source map over the network. */
  @Test
  void noScriptAsksForAnotherFile() {
    String elements = ChartLibrary.elements();
    assertThat(count(elements, "sourceMappingURL")).isZero();
    assertThat(count(elements, "<script src")).isZero();
  }
}
