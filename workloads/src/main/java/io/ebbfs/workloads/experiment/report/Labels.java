package io.ebbfs.workloads.experiment.report;

import java.util.ArrayList;
import java.util.List;

/** Finds a place for each label beside its point where nothing is yet. Not thread safe. */
final class Labels {
  private static final double LETTER = 7;
  private static final double BOLD = 7.8;
  private static final double HEIGHT = 14;

  /** A place that is taken. */
  private record Box(double left, double top, double right, double bottom) {
    boolean touches(Box other) {
      return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
    }
  }

  private final int left;
  private final int width;
  private final int height;
  private final List<Box> taken = new ArrayList<>();

  /** Labels stay right of {@code left}, where the axis has its numbers. */
  Labels(int left, int width, int height) {
    this.left = left;
    this.width = width;
    this.height = height;
  }

  void occupy(double x, double y) {
    taken.add(new Box(x - 6, y - 6, x + 6, y + 6));
  }

  /** Tries nearer places first; a label that finds none is left out: the table has it. */
  boolean place(Svg svg, double x, double y, String attributes, String text, String look) {
    double length = text.length() * (look.equals("strong") ? BOLD : LETTER);
    for (double away = 0; away <= 48; away += 8) {
      double[][] starts = {
        {x + 9 + away / 2, y + 4},
        {x - 9 - away / 2 - length, y + 4},
        {x - length / 2, y - 11 - away},
        {x - length / 2, y + 20 + away},
        {x + 9, y - 8 - away},
        {x + 9, y + 14 + away},
        {x - 9 - length, y - 8 - away},
        {x - 9 - length, y + 14 + away},
      };
      for (double[] start : starts) {
        Box box = new Box(start[0], start[1] - HEIGHT + 3, start[0] + length, start[1] + 3);
        if (isFree(box)) {
          taken.add(box);
          svg.add(
              "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" %s>%s</text>",
              start[0], start[1], look, attributes, Html.escape(text));
          return true;
        }
      }
    }
    return false;
  }

  private boolean isFree(Box box) {
    return box.left >= left
        && box.right <= width
        && box.top >= 0
        && box.bottom <= height
        && taken.stream().noneMatch(box::touches);
  }
}
