package io.ebbfs.verify.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.xml.sax.InputSource;

class RegionPlotTest {
  private static final Path DOCS = Path.of("..", "docs");
  private static final Path FIGURES = DOCS.resolve("data/policy-sweep-region.json");

  /** The plot of the document is that of the published figures. */
  @Test
  void theDocumentShowsThePlotOfThePublishedFigures() throws IOException {
    assertThat(Files.readString(DOCS.resolve("policy-region.svg")))
        .as(
            "make it anew: ./ebb verify policy --from docs/data/policy-sweep-region.json --plot"
                + " docs/policy-region.svg")
        .isEqualTo(RegionPlot.of(FIGURES));
    assertThat(Files.readString(DOCS.resolve("policy-comparison.md")))
        .contains("](policy-region.svg)");
  }

  private static PolicySweep.Grid grid(String title, double... cells) {
    return new PolicySweep.Grid(
        title,
        "lost, absent %",
        List.of(0.1, 1.0),
        "opens/day",
        List.of(4.0, 16.0),
        List.of(List.of(cells[0], cells[1]), List.of(cells[2], cells[3])),
        Collections.nCopies(2, List.of("", "")));
  }

  /** Three cells pay; 0.9997 is shown as 1.000 and does not. */
  @Test
  void aLinePartsTheCellsThatPayFromTheOthers() throws Exception {
    PolicySweep.Grid grid = grid("net bytes of a / b", 0.9997, 0.9, 0.8, 0.5);
    String svg = RegionPlot.of(List.of(grid, grid, grid("prices: a / b", 2, 1.5, 3, 4)));
    DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(svg)));
    assertThat(svg)
        .contains(">1.000<", ">0.900<", ">0.800<", ">0.500<", ">prices:<", ">a / b<", ">/ b<")
        .contains("d='M124 58v40M62 98h62'")
        .contains("d=''")
        .contains("fill='#0072b2' stroke='#ddd'")
        .contains("fill='#e69f00' stroke='#ddd'");
  }

  @Test
  void figuresOfAnotherSweepAreRefused() {
    assertThatThrownBy(() -> RegionPlot.of(DOCS.resolve("data/policy-sweep-memory.json")))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("policy-sweep-memory.json", "--sweep region --json FILE");
  }
}
