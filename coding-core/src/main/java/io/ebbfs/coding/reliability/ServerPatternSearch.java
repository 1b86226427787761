package io.ebbfs.coding.reliability;

import io.ebbfs.coding.code.ErasureCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/**
 * Searches how to deal the positions of a simulated stripe to servers. It deals them in turn, in
 * many random orders, and keeps the order in which the fewest servers and pairs of servers are
 * fatal.
 */
final class ServerPatternSearch {
  private static final int ORDERS = 300;

  private ServerPatternSearch() {}

  /** The server of each position, counted from the first server of the stripe. */
  static int[] search(ErasureCode code, int servers, Random random) {
    List<Integer> positions = new ArrayList<>();
    code.positions().forEach(position -> positions.add(position.index()));
    int[] best = null;
    long least = Long.MAX_VALUE;
    for (int attempt = 0; attempt < ORDERS && least > 0; attempt++) {
      int[] dealt = new int[code.size()];
      for (int i = 0; i < dealt.length; i++) {
        dealt[positions.get(i)] = i % servers;
      }
      long weakness = weakness(code, servers, dealt);
      if (weakness < least) {
        least = weakness;
        best = dealt;
      }
      Collections.shuffle(positions, random);
    }
    return best;
  }

  /** How many pairs of servers are fatal; a fatal server counts more than all pairs. */
  private static long weakness(ErasureCode code, int servers, int[] dealt) {
    long weakness = 0;
    for (int one = 0; one < servers; one++) {
      for (int other = one; other < servers; other++) {
        Set<Integer> lost = new TreeSet<>();
        for (int position = 0; position < dealt.length; position++) {
          if (dealt[position] == one || dealt[position] == other) {
            lost.add(position);
          }
        }
        int weight = one == other ? servers * servers : 1;
        weakness += code.decodes(lost) ? 0 : weight;
      }
    }
    return weakness;
  }
}
