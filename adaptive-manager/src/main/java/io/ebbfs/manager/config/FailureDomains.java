package io.ebbfs.manager.config;

import io.ebbfs.coding.ErasureCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How many servers a code needs so that any one of them may be lost: found by asking the code
 * itself about greedy placements in several orders. Thread-safe; the answers are kept.
 */
public final class FailureDomains {
  private static final int ATTEMPTS = 200;
  private static final Map<String, Integer> FOUND = new ConcurrentHashMap<>();

  private FailureDomains() {}

  public static int minServers(ErasureCode code) {
    return FOUND.computeIfAbsent(code.name(), name -> search(code));
  }

  private static int search(ErasureCode code) {
    Random random = new Random(1);
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < code.size(); i++) {
      order.add(i);
    }
    for (int servers = ceil(code.size(), code.parityCount()); servers < code.size(); servers++) {
      for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (fits(code, servers, order)) {
          return servers;
        }
        java.util.Collections.shuffle(order, random);
      }
    }
    return code.size();
  }

  private static boolean fits(ErasureCode code, int servers, List<Integer> order) {
    List<List<Integer>> held = new ArrayList<>();
    for (int i = 0; i < servers; i++) {
      held.add(new ArrayList<>());
    }
    for (int position : order) {
      held.sort(java.util.Comparator.comparingInt(List::size));
      boolean placed = false;
      for (List<Integer> server : held) {
        server.add(position);
        if (code.decodes(server)) {
          placed = true;
          break;
        }
        server.remove(server.size() - 1);
      }
      if (!placed) {
        return false;
      }
    }
    return true;
  }

  private static int ceil(int a, int b) {
    return (a + b - 1) / b;
  }
}
