package io.ebbfs.namespace.transition;

/**
 * Limits of transitions.
 *
 * @param maxAttempts claims of one transition before it has failed for good
 * @param backOffMillis before the second attempt; doubled for each further one
 * @param maxBackOffMillis upper limit of the back-off
 * @param maxLeaseMillis longest lease that a claim may ask for
 * @param maxClaim most transitions in one claim
 * @param maxActive most transitions planned and running; further proposals are refused
 * @param maxFilesPerDecision most files in one decision
 * @param keepFinished transitions that are done, failed or dropped and still listed
 * @param hintsPerTick stripes with a hint that one tick checks
 * @param scanPerTick stripes that one tick checks without a hint
 * @param rewriteDeadShare share of dead bytes of a stripe's data from which it is written anew;
 *     more than 1 switches it off
 * @param verification what is checked before a commit
 * @param mendPlacements whether blocks are copied to better disks; violations are counted anyway
 */
public record TransitionSettings(
    int maxAttempts,
    long backOffMillis,
    long maxBackOffMillis,
    long maxLeaseMillis,
    int maxClaim,
    int maxActive,
    int maxFilesPerDecision,
    int keepFinished,
    int hintsPerTick,
    int scanPerTick,
    double rewriteDeadShare,
    Verification verification,
    boolean mendPlacements) {
  /** What is checked of written blocks before they are published. */
  public enum Verification {
    /** Every written block. */
    ON,
    /** Only what checksums prove: no data is read for it. */
    CHECKSUMS,
    OFF
  }

  public TransitionSettings {
    if (maxAttempts < 1 || maxClaim < 1 || maxActive < 1 || maxFilesPerDecision < 1) {
      throw new IllegalArgumentException(
          "limits of transitions must be at least 1: attempts %d, claim %d, active %d, files %d"
              .formatted(maxAttempts, maxClaim, maxActive, maxFilesPerDecision));
    }
  }

  public static TransitionSettings defaults() {
    return new TransitionSettings(
        6,
        1_000,
        60_000,
        600_000,
        256,
        100_000,
        10_000,
        10_000,
        1_000,
        50,
        0.33,
        Verification.ON,
        false);
  }

  /** The same, and misplaced blocks are moved, or not. */
  public TransitionSettings withMending(boolean on) {
    return with(rewriteDeadShare, verification, on);
  }

  /** The same with what an operator sets. */
  public TransitionSettings with(
      double newRewriteDeadShare, Verification newVerification, boolean newMendPlacements) {
    return new TransitionSettings(
        maxAttempts,
        backOffMillis,
        maxBackOffMillis,
        maxLeaseMillis,
        maxClaim,
        maxActive,
        maxFilesPerDecision,
        keepFinished,
        hintsPerTick,
        scanPerTick,
        newRewriteDeadShare,
        newVerification,
        newMendPlacements);
  }

  long backOffMillis(int attempt) {
    return Math.min(maxBackOffMillis, backOffMillis << Math.min(20, Math.max(0, attempt - 1)));
  }
}
