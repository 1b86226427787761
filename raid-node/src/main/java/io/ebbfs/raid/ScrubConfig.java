package io.ebbfs.raid;

import io.ebbfs.settings.Section;
import io.ebbfs.settings.Units;

/**
 * How the equations of stripes are scrubbed.
 *
 * @param periodMillis a pass over all stripes begins so long after the one before; 0 is no scrub
 * @param stripesPerSecond stripes checked in a second at most
 * @param decodeShare share of the stripes, 0 to 1, whose parities that are no plain XOR are
 *     computed anew from the data in one pass; another share in the next
 */
public record ScrubConfig(long periodMillis, int stripesPerSecond, double decodeShare) {
  /** What holds where the file says nothing. */
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
   * Whether it is a stripe's turn to have its parities computed anew. Every stripe has its turn
   * once in 1 / decodeShare passes.
   */
  boolean decodes(long stripeId, long pass) {
    if (decodeShare <= 0) {
      return false;
    }
    long passes = Math.max(1, Math.round(1 / decodeShare));
    return Math.floorMod(stripeId + pass, passes) == 0;
  }
}
