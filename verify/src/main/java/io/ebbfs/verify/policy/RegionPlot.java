package io.ebbfs.verify.policy;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * Draws the region in which adaptation pays, from the figures of the sweep "region": a panel for
 * each figure, a cell for each rate of losses and of reads, and a line between the cells in which
 * the adaptive policy moves or costs less and the others. Equal figures give an equal file.
 */
public final class RegionPlot {
  private static final int CELL_WIDTH = 62;
  private static final int CELL_HEIGHT = 40;
  private static final int LEFT = 62;
  private static final int TOP = 58;
  private static final int BELOW = 78;
  private static final int GAP = 34;

  /** For the second title, which is wider than its panel. */
  private static final int RIGHT = 36;

  /** Half of the bytes, or twice as many, have the full colour. */
  private static final double FULL = Math.log(2);

  private static final int[] WHITE = {255, 255, 255};
  private static final int[] PAYS = {0, 114, 178};
  private static final int[] COSTS = {230, 159, 0};

  private final List<PolicySweep.Grid> grids;
  private final StringBuilder svg = new StringBuilder();

  private RegionPlot(List<PolicySweep.Grid> grids) {
    this.grids = grids;
  }

  private record Figures(String sweep, List<PolicySweep.Grid> grids) {}

  /**
   * The SVG of the figures that a sweep has written as JSON.
   *
   * @throws IOException if the file cannot be read, or holds another sweep
   */
  public static String of(Path json) throws IOException {
    Figures figures =
        new ObjectMapper()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .readValue(json.toFile(), Figures.class);
    if (!"region".equals(figures.sweep) || figures.grids == null || figures.grids.size() < 3) {
      throw new IOException(
          "%s holds no figures of a region: make them with --sweep region --json FILE"
              .formatted(json));
    }
    return of(figures.grids);
  }

  /** The first grid and the last one: bytes moved against its own compact code, and prices. */
  static String of(List<PolicySweep.Grid> grids) {
    return new RegionPlot(List.of(grids.get(0), grids.get(grids.size() - 1))).draw();
  }

  private String draw() {
    int panel = grids.get(0).columns().size() * CELL_WIDTH;
    int width = LEFT + grids.size() * (panel + GAP) + RIGHT;
    int height = TOP + grids.get(0).rows().size() * CELL_HEIGHT + BELOW;
    line("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' role='img'", width, height);
    line("  font-family='sans-serif' font-size='12' fill='#222'>");
    line("<title>Where adaptation pays, by the rate of losses and the rate of reads</title>");
    line("<rect width='%d' height='%d' fill='#ffffff'/>", width, height);
    for (int i = 0; i < grids.size(); i++) {
      panel(grids.get(i), LEFT + i * (panel + GAP), i == 0);
    }
    legend(height);
    line("</svg>");
    return svg.toString();
  }

  private void panel(PolicySweep.Grid grid, int left, boolean isFirst) {
    title(grid.title(), left);
    for (int row = 0; row < grid.rows().size(); row++) {
      int y = TOP + row * CELL_HEIGHT;
      if (isFirst) {
        text(left - 8, y + CELL_HEIGHT / 2 + 4, "end", PolicySweep.number(grid.rows().get(row)));
      }
      for (int column = 0; column < grid.columns().size(); column++) {
        cell(grid.cells().get(row).get(column), left + column * CELL_WIDTH, y);
      }
    }
    int bottom = TOP + grid.rows().size() * CELL_HEIGHT;
    for (int column = 0; column < grid.columns().size(); column++) {
      int middle = left + column * CELL_WIDTH + CELL_WIDTH / 2;
      text(middle, bottom + 17, "middle", PolicySweep.number(grid.columns().get(column)));
    }
    int middle = left + grid.columns().size() * CELL_WIDTH / 2;
    text(middle, bottom + 36, "middle", "opens of a file a day");
    if (isFirst) {
      int y = TOP + grid.rows().size() * CELL_HEIGHT / 2;
      line(
          "<text transform='translate(16 %d) rotate(-90)' text-anchor='middle'>%s</text>",
          y, "lost a day, and absent (%)");
    }
    border(grid, left);
  }

  /** Breaks a title into two lines, behind its colon or its slash. */
  private void title(String title, int left) {
    int cut = title.indexOf(": ") + 1;
    cut = cut > 0 ? cut : title.indexOf('/');
    text(left, 22, "start", title.substring(0, cut).strip());
    text(left, 40, "start", title.substring(cut).strip());
  }

  private void cell(double ratio, int x, int y) {
    double part = Math.min(1, Math.abs(Math.log(ratio)) / FULL);
    int[] full = ratio < 1 ? PAYS : COSTS;
    int[] color = new int[3];
    for (int i = 0; i < 3; i++) {
      color[i] = (int) Math.round(WHITE[i] + part * (full[i] - WHITE[i]));
    }
    line(
        "<rect x='%d' y='%d' width='%d' height='%d' fill='#%02x%02x%02x' stroke='#ddd'/>",
        x, y, CELL_WIDTH, CELL_HEIGHT, color[0], color[1], color[2]);
    String fill = ratio < 1 && part > 0.6 ? "#fff" : "#222";
    line(
        "<text x='%d' y='%d' text-anchor='middle' fill='%s'>%s</text>",
        x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2 + 4, fill, shown(ratio));
  }

  /** The line between the cells in which adaptation pays and the others. */
  private void border(PolicySweep.Grid grid, int left) {
    StringBuilder path = new StringBuilder();
    for (int row = 0; row < grid.rows().size(); row++) {
      for (int column = 0; column < grid.columns().size(); column++) {
        int x = left + column * CELL_WIDTH;
        int y = TOP + row * CELL_HEIGHT;
        boolean pays = pays(grid, row, column);
        if (column > 0 && pays != pays(grid, row, column - 1)) {
          path.append("M%d %dv%d".formatted(x, y, CELL_HEIGHT));
        }
        if (row > 0 && pays != pays(grid, row - 1, column)) {
          path.append("M%d %dh%d".formatted(x, y, CELL_WIDTH));
        }
      }
    }
    line("<path d='%s' fill='none' stroke='#222' stroke-width='3'/>", path);
  }

  /** Whether the figure is less than 1 as it is shown. */
  private static boolean pays(PolicySweep.Grid grid, int row, int column) {
    return Double.parseDouble(shown(grid.cells().get(row).get(column))) < 1;
  }

  private static String shown(double ratio) {
    return String.format(Locale.ROOT, "%.3f", ratio);
  }

  private void legend(int height) {
    int y = height - 16;
    swatch(LEFT, y, PAYS);
    text(LEFT + 18, y, "start", "below 1: adaptation pays");
    swatch(LEFT + 190, y, COSTS);
    text(LEFT + 208, y, "start", "above 1: it does not; the thick line parts the two");
  }

  private void swatch(int x, int y, int[] color) {
    line(
        "<rect x='%d' y='%d' width='12' height='12' fill='#%02x%02x%02x'/>",
        x, y - 10, color[0], color[1], color[2]);
  }

  private void text(int x, int y, String anchor, String text) {
    line("<text x='%d' y='%d' text-anchor='%s'>%s</text>", x, y, anchor, text);
  }

  private void line(String format, Object... arguments) {
    svg.append(String.format(Locale.ROOT, format, arguments)).append('\n');
  }
}
