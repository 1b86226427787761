package io.ebbfs.manager.api;

import io.javalin.http.Context;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Reads and checks the parameters of a request. */
final class Query {
  private final Context context;

  Query(Context context) {
    this.context = context;
  }

  Optional<String> text(String name) {
    return Optional.ofNullable(context.queryParam(name)).filter(value -> !value.isEmpty());
  }

  /**
   * Refuses what an order would otherwise ignore: a misspelled dryRun must not execute the order.
   *
   * @param known the parameters that the route reads
   * @param readsBody whether the route reads the body of the request
   */
  void requireOnly(List<Route.Parameter> known, boolean readsBody) {
    List<String> names = known.stream().map(Route.Parameter::name).toList();
    context
        .queryParamMap()
        .forEach(
            (name, values) -> {
              if (!names.contains(name)) {
                throw new ApiException(
                    400,
                    "there is no parameter '" + name + "'; nothing was done",
                    names.isEmpty() ? "leave it out" : "write only " + String.join(", ", names));
              }
              if (values.size() > 1) {
                throw new ApiException(
                    400,
                    "'" + name + "' is given more than once; nothing was done",
                    "give it once");
              }
            });
    if (!readsBody && !context.body().isEmpty()) {
      throw new ApiException(
          400,
          "the request has a body, which would be ignored; nothing was done",
          "write parameters into the address, after '?'");
    }
  }

  /** False if the parameter is absent. A parameter without a value is refused. */
  boolean flag(String name) {
    String value = Optional.ofNullable(context.queryParam(name)).orElse("false");
    if (!value.equals("true") && !value.equals("false")) {
      throw new ApiException(
          400, "'" + name + "=" + value + "' is not a flag", "write true or false");
    }
    return value.equals("true");
  }

  long number(String name, long otherwise, long least, long most) {
    Optional<String> text = text(name);
    if (text.isEmpty()) {
      return otherwise;
    }
    try {
      long value = Long.parseLong(text.get());
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      // It is refused below, like a number out of range.
    }
    throw new ApiException(
        400,
        "'" + name + "=" + text.get() + "' is not a number in range",
        "write a whole number from " + least + " to " + most);
  }

  /** A number that must be given. */
  double decimal(String name, double least, double most) {
    String text = text(name).orElse("");
    try {
      double value = Double.parseDouble(text);
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      // It is refused below, like a number out of range.
    }
    throw new ApiException(
        400,
        "'" + name + "=" + text + "' is not a number in range",
        "write a number from " + least + " to " + most);
  }

  <E extends Enum<E>> Optional<E> oneOf(String name, Class<E> type) {
    Optional<String> text = text(name);
    if (text.isEmpty()) {
      return Optional.empty();
    }
    for (E value : type.getEnumConstants()) {
      if (value.name().equals(text.get().toUpperCase(Locale.ROOT))) {
        return Optional.of(value);
      }
    }
    throw new ApiException(
        400,
        "'" + name + "=" + text.get() + "' is unknown",
        "write one of " + Arrays.toString(type.getEnumConstants()));
  }

  /** The body of the request; empty if it has none. */
  String body() {
    return context.body();
  }

  /** The cursor of an earlier answer; null if absent. */
  byte[] cursor() {
    try {
      return text("cursor").map(Base64.getUrlDecoder()::decode).orElse(null);
    } catch (IllegalArgumentException e) {
      throw new ApiException(
          400, "the cursor is damaged", "pass 'nextCursor' of the previous page, unchanged");
    }
  }

  static String encode(byte[] cursor) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(cursor);
  }
}
