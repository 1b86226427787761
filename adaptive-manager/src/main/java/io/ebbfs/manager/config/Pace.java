package io.ebbfs.manager.config;

import java.time.Instant;
import java.time.ZoneId;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * When data may be converted because of its heat. What the storage bound asks for is converted at
 * any time.
 *
 * @param minimumStayMillis how long a stripe keeps its code at least
 * @param bytesPerDay most logical bytes that are converted within 24 hours, those for the bound
 *     included; empty for no limit
 * @param hours of the day, by the clock of the manager's machine; empty for all
 */
public record Pace(long minimumStayMillis, OptionalLong bytesPerDay, Optional<Hours> hours) {
  /** No limit. */
  public static final Pace FREE = new Pace(0, OptionalLong.empty(), Optional.empty());

  /**
   * Hours of the day.
   *
   * @param from the first hour, 0 to 23
   * @param to the hour after the last one, 0 to 24; before {@code from} if midnight lies between
   */
  public record Hours(int from, int to) {
    boolean contains(long millis, ZoneId zone) {
      int hour = Instant.ofEpochMilli(millis).atZone(zone).getHour();
      return from < to ? hour >= from && hour < to : hour >= from || hour < to;
    }

    @Override
    public String toString() {
      return from + "-" + to;
    }
  }

  /** Whether this is an hour in which data may be converted. */
  public boolean isOpenAt(long millis, ZoneId zone) {
    return hours.isEmpty() || hours.get().contains(millis, zone);
  }

  /** Logical bytes that may still be converted, after so many within the last 24 hours. */
  public long bytesLeft(long converted) {
    return bytesPerDay.isPresent()
        ? Math.max(0, bytesPerDay.getAsLong() - converted)
        : Long.MAX_VALUE;
  }
}
