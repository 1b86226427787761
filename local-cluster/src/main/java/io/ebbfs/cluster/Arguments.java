package io.ebbfs.cluster;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Options of a command line: {@code --name value} or {@code --name=value}. */
public final class Arguments {
  private static final Map<Character, Long> UNITS =
      Map.of('k', 1L << 10, 'm', 1L << 20, 'g', 1L << 30);

  private final Map<String, String> values = new LinkedHashMap<>();

  private Arguments() {}

  /** Parses options; only the known ones are taken. */
  public static Arguments parse(List<String> arguments, List<String> known)
      throws ClusterException {
    Arguments parsed = new Arguments();
    for (int i = 0; i < arguments.size(); i++) {
      String argument = arguments.get(i);
      int equals = argument.indexOf('=');
      String name = equals < 0 ? argument : argument.substring(0, equals);
      if (!name.startsWith("--") || !known.contains(name.substring(2))) {
        throw new ClusterException(
            "unknown argument %s: the options are --%s"
                .formatted(argument, String.join(", --", known)));
      }
      if (equals < 0 && i + 1 == arguments.size()) {
        throw new ClusterException("option %s needs a value".formatted(name));
      }
      parsed.values.put(
          name.substring(2), equals < 0 ? arguments.get(++i) : argument.substring(equals + 1));
    }
    return parsed;
  }

  /** Whether the option was given. */
  public boolean has(String name) {
    return values.containsKey(name);
  }

  /** The option's text, or what is used without it. */
  public String text(String name, String otherwise) {
    return values.getOrDefault(name, otherwise);
  }

  /** The option as a number, or what is used without it. */
  public int number(String name, int otherwise) throws ClusterException {
    String value = values.get(name);
    if (value == null) {
      return otherwise;
    }
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw new ClusterException("--%s %s is not a whole number".formatted(name, value), e);
    }
  }

  /** The option as bytes, with an optional unit k, m or g; or what is used without it. */
  public long bytes(String name, long otherwise) throws ClusterException {
    String value = values.get(name);
    if (value == null) {
      return otherwise;
    }
    String lower = value.toLowerCase(Locale.ROOT).strip();
    try {
      Long unit = lower.isEmpty() ? null : UNITS.get(lower.charAt(lower.length() - 1));
      return unit == null
          ? Long.parseLong(lower)
          : Math.multiplyExact(Long.parseLong(lower.substring(0, lower.length() - 1)), unit);
    } catch (ArithmeticException | NumberFormatException e) {
      throw new ClusterException(
          "--%s %s is no number of bytes: write 1048576, 1024k or 1m".formatted(name, value), e);
    }
  }
}
