package io.ebbfs.namespace.placement;

import io.ebbfs.coding.ErasureCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/** How many servers a code needs so that any one, or any two, of them may be lost. Thread-safe. */
public final class MinimumServers {
  private static final int ATTEMPTS = 50;
  private static final Map<String, Integer> KNOWN = new ConcurrentHashMap<>();
  private static final Map<String, OptionalInt> ANY_TWO = new ConcurrentHashMap<>();

  private MinimumServers() {}

  /**
   * The fewest servers, with disks enough, on which a full stripe survives the loss of any one.
   * Found by search: a smaller number might do, this one does.
   */
  public static int of(ErasureCode code) {
    return KNOWN.computeIfAbsent(code.name(), name -> search(code));
  }

  /**
   * The fewest servers, with disks enough, on which a full stripe survives the loss of any two; on
   * more it does, too. Found by search: a smaller number might do, this one does. Empty for a code
   * that does not survive any two lost blocks.
   */
  public static OptionalInt ofAnyTwo(ErasureCode code) {
    return ANY_TWO.computeIfAbsent(code.name(), name -> searchForAnyTwo(code));
  }

  /** Whether a stripe of this code survives the loss of any two of so many servers. */
  public static boolean survivesAnyTwo(ErasureCode code, int servers) {
    OptionalInt needed = ofAnyTwo(code);
    return needed.isPresent() && servers >= needed.getAsInt();
  }

  private static OptionalInt searchForAnyTwo(ErasureCode code) {
    if (code.tolerance() < 2) {
      return OptionalInt.empty();
    }
    int servers = 2;
    while (servers < code.size() && Pattern.find(code, Optional.empty(), servers).isEmpty()) {
      servers++;
    }
    return OptionalInt.of(servers);
  }

  private static int search(ErasureCode code) {
    int servers = Math.max(2, (code.size() + code.parityCount() - 1) / code.parityCount());
    while (true) {
      Random random = new Random(servers);
      for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (spreads(code, servers, random)) {
          return servers;
        }
      }
      servers++;
    }
  }

  private static boolean spreads(ErasureCode code, int servers, Random random) {
    List<Integer> positions = new ArrayList<>(IntStream.range(0, code.size()).boxed().toList());
    Collections.shuffle(positions, random);
    List<List<Integer>> onServer = new ArrayList<>();
    for (int s = 0; s < servers; s++) {
      onServer.add(new ArrayList<>());
    }
    for (int position : positions) {
      onServer.sort(java.util.Comparator.comparingInt(List::size));
      boolean placed = false;
      for (int s = 0; s < servers && !placed; s++) {
        onServer.get(s).add(position);
        placed = code.decodes(onServer.get(s));
        if (!placed) {
          onServer.get(s).remove(onServer.get(s).size() - 1);
        }
      }
      if (!placed) {
        return false;
      }
    }
    return true;
  }
}
