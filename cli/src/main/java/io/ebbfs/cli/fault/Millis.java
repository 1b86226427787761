package io.ebbfs.cli.fault;

import io.ebbfs.common.config.Units;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A duration in milliseconds: {@code 10s}. */
final class Millis implements ITypeConverter<Long> {
  @Override
  public Long convert(String text) {
    return Units.durationMillis(text)
        .orElseThrow(
            () ->
                new TypeConversionException(
                    "'%s' is no duration: write 500ms, 10s or 1m".formatted(text)));
  }
}
