package io.ebbfs.namenode.files.trash;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.ResolverStyle;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The names of checkpoints of the trash: the time in a time zone as {@code yyMMddHHmmss}, and for
 * further checkpoints of the same second {@code -1}, {@code -2} and so on behind it, as HDFS names
 * them. HDFS takes any name that begins with a time for a checkpoint; here such a name is none.
 * Immutable.
 */
final class CheckpointNames {
  private static final Pattern NAME = Pattern.compile("(\\d{12})(-\\d{1,4})?");

  private final DateTimeFormatter format;

  CheckpointNames(ZoneId zone) {
    format =
        DateTimeFormatter.ofPattern("uuMMddHHmmss", Locale.ROOT)
            .withResolverStyle(ResolverStyle.STRICT)
            .withZone(zone);
  }

  /** The name of a checkpoint that is made at a time. */
  String of(long millis) {
    return format.format(Instant.ofEpochMilli(millis));
  }

  /**
   * When a checkpoint was made; empty if the name is not that of a checkpoint. Of two times with
   * the same name, at the end of summer time, the later one: no checkpoint is deleted too early.
   */
  OptionalLong millisOf(String name) {
    Matcher matcher = NAME.matcher(name);
    if (!matcher.matches()) {
      return OptionalLong.empty();
    }
    try {
      ZonedDateTime time = ZonedDateTime.from(format.parse(matcher.group(1)));
      return OptionalLong.of(time.withLaterOffsetAtOverlap().toInstant().toEpochMilli());
    } catch (DateTimeException e) {
      return OptionalLong.empty(); // digits that are no time, such as a month 13
    }
  }
}
