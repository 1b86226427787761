package io.ebbfs.coding.tolerance;

import io.ebbfs.coding.code.ErasureCode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The fewest servers on which a full stripe survives the loss of any one server. Racks are counted
 * in the same way. Example: RS(6,3) needs 3 servers, each with three of its nine blocks.
 *
 * <p>A server may be lost if its blocks decode from the others, that is, if their columns of the
 * parity check matrix are linearly independent. So the question is into how few independent sets
 * the columns can be divided, and the answer is exact: matroid partition by augmenting paths (J.
 * Edmonds, "Minimum partition of a matroid into independent subsets", 1965).
 *
 * <p>Pure and thread safe. The answers are kept.
 */
public final class MinimumServers {
  private static final Map<ErasureCode, Integer> KNOWN = new ConcurrentHashMap<>();
  private static final int NONE = -1;

  private final ErasureCode code;
  // The positions on each server; the loss of each server decodes.
  private final List<List<Integer>> servers = new ArrayList<>();
  private final int[] serverOf;

  private MinimumServers(ErasureCode code) {
    this.code = code;
    this.serverOf = new int[code.size()];
    Arrays.fill(serverOf, NONE);
  }

  /** The fewest servers, each with a disk for every block that it holds. */
  public static int of(ErasureCode code) {
    return KNOWN.computeIfAbsent(code, c -> divide(c).size());
  }

  /**
   * Positions for each of the fewest servers, such that the loss of any one server decodes. An
   * example of a placement; other placements on as many servers may be better in other respects.
   */
  static List<List<Integer>> divide(ErasureCode code) {
    MinimumServers division = new MinimumServers(code);
    int least = (code.size() + code.parityCount() - 1) / code.parityCount();
    for (int s = 0; s < least; s++) {
      division.servers.add(new ArrayList<>());
    }
    for (int position = 0; position < code.size(); position++) {
      if (!division.add(position)) {
        division.servers.add(new ArrayList<>());
        division.put(position, division.servers.size() - 1);
      }
    }
    return division.servers;
  }

  /**
   * Finds a server for one position more. Where every server is full, a position may push another
   * one to the next server; the shortest such chain keeps every server decodable.
   *
   * @return false if these servers cannot hold the positions so far and this one
   */
  private boolean add(int position) {
    int[] pushedBy = new int[code.size()];
    Arrays.fill(pushedBy, NONE);
    pushedBy[position] = position;
    Deque<Integer> homeless = new ArrayDeque<>(List.of(position));
    while (!homeless.isEmpty()) {
      int next = homeless.remove();
      for (int server : emptiestFirst()) {
        if (server == serverOf[next]) {
          continue;
        }
        if (decodes(server, next, NONE)) {
          move(next, server, pushedBy);
          return true;
        }
        for (int other : servers.get(server)) {
          if (pushedBy[other] == NONE && decodes(server, next, other)) {
            pushedBy[other] = next;
            homeless.add(other);
          }
        }
      }
    }
    return false;
  }

  /** Moves a position to a server that has room, and each position before it to its old server. */
  private void move(int last, int server, int[] pushedBy) {
    int position = last;
    int to = server;
    while (true) {
      int from = serverOf[position];
      put(position, to);
      if (pushedBy[position] == position) {
        return;
      }
      position = pushedBy[position];
      to = from;
    }
  }

  private void put(int position, int server) {
    if (serverOf[position] != NONE) {
      servers.get(serverOf[position]).remove(Integer.valueOf(position));
    }
    servers.get(server).add(position);
    serverOf[position] = server;
  }

  private List<Integer> emptiestFirst() {
    List<Integer> order = new ArrayList<>();
    for (int server = 0; server < servers.size(); server++) {
      order.add(server);
    }
    order.sort(Comparator.comparingInt(server -> servers.get(server).size()));
    return order;
  }

  /** Whether the loss of a server decodes that holds one position more and perhaps one less. */
  private boolean decodes(int server, int more, int less) {
    int[] lost = new int[servers.get(server).size() + 1];
    int count = 0;
    for (int position : servers.get(server)) {
      if (position != less) {
        lost[count++] = position;
      }
    }
    lost[count++] = more;
    return code.decodes(lost, count);
  }
}
