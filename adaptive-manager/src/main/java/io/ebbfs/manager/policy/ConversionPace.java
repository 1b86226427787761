package io.ebbfs.manager.policy;

import io.ebbfs.common.config.Units;
import io.ebbfs.manager.config.Pace;
import java.time.ZoneId;
import java.util.Optional;

/**
 * Tells whether the pace of a policy lets data be converted for its heat now, and what the data
 * waits for otherwise. It counts what the run takes from the budget of the day. Sizes are logical
 * bytes. Not thread-safe.
 */
final class ConversionPace {
  private final Pace pace;
  private final long nowMillis;
  private final boolean isOpen;
  private long bytesLeft;

  ConversionPace(PolicyView view) {
    this.pace = view.rule().pace();
    this.nowMillis = view.snapshot().nowMillis();
    this.isOpen = pace.isOpenAt(nowMillis, ZoneId.systemDefault());
    this.bytesLeft =
        pace.bytesLeft(
            view.snapshot().experience().convertedBytes().getOrDefault(view.rule().name(), 0L));
  }

  /**
   * What stripes wait for, whatever is left of the budget; empty if they may be converted now.
   *
   * @param createdMillis when the youngest of them was encoded or converted last
   */
  Optional<String> hold(long createdMillis) {
    long stayEnds = createdMillis + pace.minimumStayMillis();
    if (nowMillis < stayEnds) {
      return Optional.of(
          "the end of its stay in %s (minimumStay)"
              .formatted(Units.showMillis(stayEnds - nowMillis)));
    }
    return isOpen
        ? Optional.empty()
        : Optional.of("its hours, %s (conversionHours)".formatted(pace.hours().orElseThrow()));
  }

  /**
   * Whether the budget of the day has so many bytes left. Stripes that are larger than the whole
   * budget are converted alone, while nothing else counts.
   */
  boolean hasLeft(long bytes) {
    return bytes <= bytesLeft || bytesLeft == pace.bytesLeft(0);
  }

  /** What data waits for if the budget of the day has not enough left. */
  String budget() {
    return "the budget: %s of %s are left within 24 hours (conversionBytesPerDay)"
        .formatted(
            Units.showBytes(Math.max(0, bytesLeft)),
            Units.showBytes(pace.bytesPerDay().orElse(Long.MAX_VALUE)));
  }

  void take(long bytes) {
    bytesLeft -= bytes;
  }
}
