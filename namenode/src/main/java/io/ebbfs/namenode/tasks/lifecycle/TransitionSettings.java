package io.ebbfs.namenode.tasks.lifecycle;

/**
 * Limits and switches of transitions.
 *
 * @param maxAttempts attempts of one transition; after the last it has failed for good
 * @param backOffMillis before the second attempt; doubled for each further one
 * @param maxBackOffMillis upper limit of the back-off
 * @param maxLeaseMillis longest lease that a claim may ask for
 * @param maxClaim most transitions in one claim
 * @param maxActive most transitions planned and running; further proposals are refused
 * @param maxFilesPerDecision most files in one decision
 * @param keepFinished how many finished transitions stay listed
 * @param hintsPerTick how many stripes with a hint one tick checks
 * @param scanPerTick how many further stripes one tick of the slow scan checks
 * @param rewriteDeadShare share of dead bytes in the data of a stripe from which the stripe is
 *     rewritten; a value above 1 switches rewriting off
 * @param verification which written blocks are verified before a commit
 * @param movesMisplaced whether misplaced stripes are re-placed; they are counted in any case
 * @param repairDelayMillis after a disk or server was lost, a repair waits this long for its
 *     return, unless the next failure would lose the stripe
 * @param replication how many replicas the blocks of a file get that leave its block groups
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
    boolean movesMisplaced,
    long repairDelayMillis,
    BackgroundLimits limits,
    int replication) {
  /** Which written blocks are verified before they are published. */
  public enum Verification {
    /** Every written block. */
    ON,
    /** Every written block that can be verified without reading data. */
    CHECKSUMS,
    /** None. */
    OFF
  }

  /** As in HDFS. */
  private static final int DEFAULT_REPLICATION = 3;

  public TransitionSettings {
    if (maxAttempts < 1 || maxClaim < 1 || maxActive < 1 || maxFilesPerDecision < 1) {
      throw new IllegalArgumentException(
          "limits of transitions must be at least 1: attempts %d, claim %d, active %d, files %d"
              .formatted(maxAttempts, maxClaim, maxActive, maxFilesPerDecision));
    }
  }

  /** The defaults: no repair waits, and nothing is limited. */
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
        false,
        0,
        BackgroundLimits.NONE,
        DEFAULT_REPLICATION);
  }

  /** Settings with which no repair waits, and without limits. */
  public TransitionSettings(
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
      boolean movesMisplaced) {
    this(
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
        rewriteDeadShare,
        verification,
        movesMisplaced,
        0,
        BackgroundLimits.NONE,
        DEFAULT_REPLICATION);
  }

  /** A copy with re-placement switched on or off. */
  public TransitionSettings withRePlacement(boolean on) {
    return with(rewriteDeadShare, verification, on);
  }

  /** A copy with the values that an operator sets. */
  public TransitionSettings with(
      double newRewriteDeadShare, Verification newVerification, boolean newMovesMisplaced) {
    return copy(
        newRewriteDeadShare,
        newVerification,
        newMovesMisplaced,
        repairDelayMillis,
        limits,
        replication);
  }

  /** A copy with another wait before a repair. */
  public TransitionSettings withRepairDelay(long millis) {
    return copy(rewriteDeadShare, verification, movesMisplaced, millis, limits, replication);
  }

  /**
   * Nobody waits for replicas that were lost at that time or before. Without a delay, replicas are
   * awaited only from servers that hibernate.
   */
  public long lostLongAgoMillis(long nowMillis) {
    return repairDelayMillis > 0 ? nowMillis - repairDelayMillis : Long.MAX_VALUE;
  }

  /** A copy with other limits. */
  public TransitionSettings withLimits(BackgroundLimits newLimits) {
    return copy(
        rewriteDeadShare, verification, movesMisplaced, repairDelayMillis, newLimits, replication);
  }

  /** A copy with another replication of what leaves block groups. */
  public TransitionSettings withReplication(int replicas) {
    return copy(
        rewriteDeadShare, verification, movesMisplaced, repairDelayMillis, limits, replicas);
  }

  private TransitionSettings copy(
      double newRewriteDeadShare,
      Verification newVerification,
      boolean newMovesMisplaced,
      long newRepairDelayMillis,
      BackgroundLimits newLimits,
      int newReplication) {
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
        newMovesMisplaced,
        newRepairDelayMillis,
        newLimits,
        newReplication);
  }

  long backOffMillis(int attempt) {
    return Math.min(maxBackOffMillis, backOffMillis << Math.min(20, Math.max(0, attempt - 1)));
  }
}
