package io.ebbfs.workloads.prove;

import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * What a proof is told.
 *
 * @param seed of all random choices; without one it is chosen and printed
 * @param only cases whose name contains all words of one of these; all if empty
 * @param directory where its clusters live; a temporary one if empty
 * @param quick a part that takes a minute
 */
record ProveOptions(long seed, List<String> only, Optional<Path> directory, boolean quick) {
  static ProveOptions parse(List<String> arguments) {
    long seed = System.nanoTime() % 1_000_000;
    List<String> only = List.of();
    Optional<Path> directory = Optional.empty();
    boolean quick = false;
    Iterator<String> left = arguments.iterator();
    while (left.hasNext()) {
      String argument = left.next();
      switch (argument) {
        case "--seed" -> seed = number(value(argument, left));
        case "--only" -> only = List.of(value(argument, left).split(","));
        case "--dir" -> directory = Optional.of(Path.of(value(argument, left)).toAbsolutePath());
        case "--quick" -> quick = true;
        default ->
            throw new ProveException(
                "unknown option '" + argument + "': choose from --seed, --only, --dir, --quick");
      }
    }
    return new ProveOptions(seed, only, directory, quick);
  }

  private static String value(String argument, Iterator<String> left) {
    if (!left.hasNext()) {
      throw new ProveException(argument + " needs a value");
    }
    return left.next();
  }

  private static long number(String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new ProveException("--seed '" + text + "' is not a number", e);
    }
  }
}
