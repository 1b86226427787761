package io.ebbfs.namespace.prove;

import java.util.ArrayList;
import java.util.List;

/** {@code ./ebb prove placement|packing [--seed S] [CODE ...]}: prints figures. */
public final class ProveMain {
  private static final String USAGE = "usage: ebb prove placement|packing [--seed S] [CODE ...]";
  private static final List<String> CODES =
      List.of("PC(6x5)", "PC(2x5)", "LRC(12,2,2)", "LRC(12,6,2)", "RS(12,3)", "RS(6,3)");

  private ProveMain() {}

  public static void main(String[] arguments) {
    long seed = 1;
    List<String> codes = new ArrayList<>();
    for (int i = 1; i < arguments.length; i++) {
      if (arguments[i].equals("--seed") && i + 1 < arguments.length) {
        seed = Long.parseLong(arguments[++i]);
      } else {
        codes.add(arguments[i]);
      }
    }
    String what = arguments.length == 0 ? "" : arguments[0];
    switch (what) {
      case "placement" -> PlacementFigures.print(codes.isEmpty() ? CODES : codes, seed, System.out);
      case "packing" -> PackingFigures.print(codes.isEmpty() ? CODES : codes, seed, System.out);
      default -> {
        System.err.println(USAGE);
        System.exit(2);
      }
    }
  }
}
