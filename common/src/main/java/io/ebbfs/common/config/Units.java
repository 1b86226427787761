package io.ebbfs.common.config;

import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads and shows durations ("10s", "1.5h") and sizes ("64MiB", "10GB"). Pure functions. */
public final class Units {
  static final String DURATION_UNITS = "ms, s, m, h or d";
  static final String SIZE_UNITS = "B, KiB, MiB, GiB, TiB, KB, MB, GB or TB";

  private static final Pattern QUANTITY = Pattern.compile("(\\d+(?:\\.\\d+)?)\\s*([A-Za-z]+)");
  private static final Map<String, Long> MILLIS =
      Map.of("ms", 1L, "s", 1_000L, "m", 60_000L, "h", 3_600_000L, "d", 86_400_000L);
  private static final Map<String, Long> BYTES =
      Map.of(
          "B", 1L,
          "KiB", 1L << 10,
          "MiB", 1L << 20,
          "GiB", 1L << 30,
          "TiB", 1L << 40,
          "KB", 1_000L,
          "MB", 1_000_000L,
          "GB", 1_000_000_000L,
          "TB", 1_000_000_000_000L);

  private Units() {}

  /** Milliseconds, or empty if the text is not a duration with a unit ("0" needs none). */
  public static OptionalLong durationMillis(String text) {
    return quantity(text, MILLIS);
  }

  /** Bytes, or empty if the text is not a size with a unit ("0" needs none). */
  public static OptionalLong sizeBytes(String text) {
    return quantity(text, BYTES);
  }

  private static OptionalLong quantity(String text, Map<String, Long> units) {
    if (text.equals("0")) {
      return OptionalLong.of(0);
    }
    Matcher matcher = QUANTITY.matcher(text.trim());
    if (!matcher.matches() || !units.containsKey(matcher.group(2))) {
      return OptionalLong.empty();
    }
    double value = Double.parseDouble(matcher.group(1)) * units.get(matcher.group(2));
    return value > Long.MAX_VALUE / 2.0 ? OptionalLong.empty() : OptionalLong.of(Math.round(value));
  }

  /** "1.5 h", for people. */
  public static String showMillis(long millis) {
    if (millis < 1_000) {
      return millis + " ms";
    }
    double seconds = millis / 1_000.0;
    if (seconds < 120) {
      return trim(seconds) + " s";
    }
    if (seconds < 7_200) {
      return trim(seconds / 60) + " min";
    }
    return seconds < 172_800 ? trim(seconds / 3_600) + " h" : trim(seconds / 86_400) + " d";
  }

  /** "12.3 MiB", for people. */
  public static String showBytes(long bytes) {
    String[] units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = bytes;
    int unit = 0;
    while (Math.abs(value) >= 1024 && unit < units.length - 1) {
      value /= 1024;
      unit++;
    }
    return trim(value) + " " + units[unit];
  }

  private static String trim(double value) {
    String text = String.format(Locale.ROOT, "%.1f", value);
    return text.endsWith(".0") ? text.substring(0, text.length() - 2) : text;
  }
}
