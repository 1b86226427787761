package io.ebbfs.workloads.experiment.report;

/**
 * A claim and what became of it.
 *
 * @param by who claims it
 * @param measured the numbers; "" if there are none
 * @param why the arithmetic or the condition behind the verdict; may be ""
 */
record Claim(By by, String text, String measured, Verdict verdict, String why) {
  /** Who claims something. */
  enum By {
    GOAL,
    PAPER
  }

  /** What became of a claim. */
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
    return new Claim(by, text, measured, holds ? Verdict.CONFIRMED : Verdict.REFUTED, why);
  }

  static Claim notMeasured(By by, String text, String measured, String why) {
    return new Claim(by, text, measured, Verdict.NOT_MEASURED, why);
  }
}
