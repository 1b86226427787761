package io.ebbfs.cli.options;

import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A number of bytes with an optional unit k, m or g: {@code 64m}. */
public final class ByteCount implements ITypeConverter<Long> {
  private static final Map<Character, Long> UNITS =
      Map.of('k', 1L << 10, 'm', 1L << 20, 'g', 1L << 30);

  @Override
  public Long convert(String text) {
    String lower = text.toLowerCase(Locale.ROOT).strip();
    try {
      Long unit = lower.isEmpty() ? null : UNITS.get(lower.charAt(lower.length() - 1));
      return unit == null
          ? Long.parseLong(lower)
          : Math.multiplyExact(Long.parseLong(lower.substring(0, lower.length() - 1)), unit);
    } catch (ArithmeticException | NumberFormatException e) {
      throw new TypeConversionException(
          "'%s' is no number of bytes: write 1048576, 1024k or 1m".formatted(text));
    }
  }
}
