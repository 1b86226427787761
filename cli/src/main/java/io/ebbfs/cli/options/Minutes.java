package io.ebbfs.cli.options;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Minutes, perhaps with a fraction: {@code 0.5}. */
public final class Minutes implements ITypeConverter<Duration> {
  @Override
  public Duration convert(String text) {
    try {
      return Duration.ofMillis(Math.round(Double.parseDouble(text) * 60_000));
    } catch (NumberFormatException e) {
      throw new TypeConversionException("'%s' is not a number of minutes".formatted(text));
    }
  }
}
