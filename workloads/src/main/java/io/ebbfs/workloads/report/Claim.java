package io.ebbfs.workloads.report;

/**
 * A claim and its verdict.
 *
 * @param by the origin of the claim
 * @param measured the numbers; "" if there are none
 * @param verdict by the medians
 * @param atTheEdge whether another repetition than the median would give the other verdict
 * @param why the arithmetic or the condition behind the verdict; may be ""
 */
record Claim(By by, String text, String measured, Verdict verdict, boolean atTheEdge, String why) {
  /** The origin of a claim. */
  enum By {
    GOAL,
    PAPER
  }

  /** Whether a claim holds. */
  enum Verdict {
    CONFIRMED("confirmed"),
    REFUTED("refuted"),
    NOT_MEASURED("not measured here");

    private final String text;

    Verdict(String text) {
      this.text = text;
    }

    String text() {
      return text;
    }
  }

  static Claim judged(By by, String text, String measured, boolean holds, String why) {
    return new Claim(by, text, measured, holds ? Verdict.CONFIRMED : Verdict.REFUTED, false, why);
  }

  static Claim notMeasured(By by, String text, String measured, String why) {
    return new Claim(by, text, measured, Verdict.NOT_MEASURED, false, why);
  }

  /** The same claim, at the edge if so. */
  Claim atTheEdge(boolean edge) {
    return new Claim(by, text, measured, verdict, edge, why);
  }

  /** "refuted, at the edge". */
  String verdictText() {
    return atTheEdge ? verdict.text() + ", at the edge" : verdict.text();
  }
}
