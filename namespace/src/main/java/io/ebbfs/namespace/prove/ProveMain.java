package io.ebbfs.namespace.prove;

import io.ebbfs.coding.Codes;
import java.util.ArrayList;
import java.util.List;

/** {@code ./ebb prove placement|packing [--seed S] [CODE ...]}: prints figures. */
public final class ProveMain {
  private static final String USAGE = "usage: ebb prove placement|packing [--seed S] [CODE ...]";
  private static final List<String> CODES =
      List.of("PC(6x5)", "PC(2x5)", "LRC(12,2,2)", "LRC(12,6,2)", "RS(12,3)", "RS(6,3)");

  private ProveMain() {}

  public static void main(String[] arguments) {
    if (List.of(arguments).contains("--help")) {
      System.out.println(USAGE);
      return;
    }
    try {
      run(arguments);
    } catch (IllegalArgumentException e) {
      System.err.printf("ebb prove: %s%n%s%n", e.getMessage(), USAGE);
      System.exit(2);
    }
  }

  /**
   * Prints what is asked for.
   *
   * @throws IllegalArgumentException if it is nothing that there is: the message names it
   */
  static void run(String... arguments) {
    long seed = 1;
    List<String> codes = new ArrayList<>();
    for (int i = 1; i < arguments.length; i++) {
      if (arguments[i].equals("--seed") && i + 1 < arguments.length) {
        seed = seed(arguments[++i]);
      } else if (arguments[i].startsWith("-")) {
        throw new IllegalArgumentException("no option '%s'".formatted(arguments[i]));
      } else {
        codes.add(Codes.byName(arguments[i]).name());
      }
    }
    List<String> all = codes.isEmpty() ? CODES : codes;
    switch (arguments.length == 0 ? "" : arguments[0]) {
      case "placement" -> PlacementFigures.print(all, seed, System.out);
      case "packing" -> PackingFigures.print(all, seed, System.out);
      default -> throw new IllegalArgumentException("nothing to prove was named");
    }
  }

  private static long seed(String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("--seed '%s' is no integer".formatted(text), e);
    }
  }
}
