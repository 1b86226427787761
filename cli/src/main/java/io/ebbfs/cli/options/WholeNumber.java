package io.ebbfs.cli.options;

import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Whole numbers, with a message for people in place of the parser's. */
public final class WholeNumber {
  private WholeNumber() {}

  /** Uses these messages for every number of a command and of its subcommands. */
  public static void register(CommandLine command) {
    command.registerConverter(int.class, converter(Integer::valueOf));
    command.registerConverter(Integer.class, converter(Integer::valueOf));
    command.registerConverter(long.class, converter(Long::valueOf));
    command.registerConverter(Long.class, converter(Long::valueOf));
  }

  private static <T extends Number> ITypeConverter<T> converter(Function<String, T> parse) {
    return text -> {
      try {
        return parse.apply(text);
      } catch (NumberFormatException e) {
        throw new TypeConversionException("'%s' is not a whole number".formatted(text));
      }
    };
  }
}
