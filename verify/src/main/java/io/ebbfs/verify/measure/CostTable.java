package io.ebbfs.verify.measure;

/** Prints measured costs beside planned ones and counts how many are equal. */
final class CostTable {
  private static final String LINE = "%-24s %-26s %9s %9s %21s %21s  %s%n";

  private int compared;
  private int equal;

  void printHeader() {
    System.out.printf(LINE, "", "", "blk read", "written", "bytes read", "bytes written", "");
  }

  void compare(String code, String transition, TransitionCost measured, TransitionCost planned) {
    compared++;
    equal += measured.equals(planned) ? 1 : 0;
    System.out.printf(
        LINE,
        code,
        transition,
        measured.blocksRead() + " / " + planned.blocksRead(),
        measured.blocksWritten() + " / " + planned.blocksWritten(),
        measured.bytesRead() + " / " + planned.bytesRead(),
        measured.bytesWritten() + " / " + planned.bytesWritten(),
        measured.equals(planned) ? "equal" : "NOT");
  }

  void printSummary() {
    System.out.printf("%d compared, %d equal%n", compared, equal);
  }

  boolean allEqual() {
    return compared == equal;
  }
}
