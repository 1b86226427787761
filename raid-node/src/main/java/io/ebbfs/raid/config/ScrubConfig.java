package io.ebbfs.raid.config;

import io.ebbfs.common.config.Section;
import io.ebbfs.common.config.Units;

/**
 * The settings of the parity scrub.
 *
 * @param periodMillis from the begin of a pass over all stripes to the next; 0 is no scrub
 * @param stripesPerSecond most stripes checked in a second
 * @param decodeShare share of the stripes, 0 to 1, whose other parities than plain XOR are computed
 *     from the data in one pass. The next pass takes another share.
 */
public record ScrubConfig(long periodMillis, int stripesPerSecond, double decodeShare) {
  /** The values of keys that the file does not have. */
  public static final ScrubConfig DEFAULTS = new ScrubConfig(7 * 86_400_000L, 10, 0.1);

  private static final long LEAST_PERIOD_MILLIS = 100;
  private static final long MOST_PERIOD_MILLIS = 366L * 86_400_000L;

  static ScrubConfig of(Section section) {
    long period = section.durationMillis("period", DEFAULTS.periodMillis);
    if (period != 0 && (period < LEAST_PERIOD_MILLIS || period > MOST_PERIOD_MILLIS)) {
      section.problem(
          "period",
          "'scrub.period: %s' is out of range".formatted(Units.showMillis(period)),
          "choose from %s to %s, or 0 for no scrub"
              .formatted(
                  Units.showMillis(LEAST_PERIOD_MILLIS), Units.showMillis(MOST_PERIOD_MILLIS)));
      period = DEFAULTS.periodMillis;
    }
    ScrubConfig config =
        new ScrubConfig(
            period,
            section.integer("stripesPerSecond", DEFAULTS.stripesPerSecond, 1, 100_000),
            section.number("decodeShare", 0, 1).orElse(DEFAULTS.decodeShare));
    section.end();
    return config;
  }

  /**
   * Whether a pass computes the parities of a stripe. With a share of 0.1, each stripe has its turn
   * in one of ten passes.
   */
  public boolean decodes(long stripeId, long pass) {
    if (decodeShare <= 0) {
      return false;
    }
    long passes = Math.max(1, Math.round(1 / decodeShare));
    return Math.floorMod(stripeId + pass, passes) == 0;
  }
}
