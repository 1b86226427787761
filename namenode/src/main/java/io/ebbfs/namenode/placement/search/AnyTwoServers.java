package io.ebbfs.namenode.placement.search;

import io.ebbfs.coding.code.ErasureCode;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How many servers a code needs so that a full stripe survives the loss of any two. {@link
 * io.ebbfs.coding.tolerance.MinimumServers} says it for the loss of one. Thread-safe.
 */
public final class AnyTwoServers {
  private static final Map<ErasureCode, OptionalInt> KNOWN = new ConcurrentHashMap<>();

  private AnyTwoServers() {}

  /**
   * The fewest servers, with disks enough, for which a {@link ServerPattern} is known. More servers
   * do as well. Fewer might do too, because the search for patterns is not complete.
   *
   * @return empty for a code that does not survive the loss of any two blocks
   */
  public static OptionalInt needed(ErasureCode code) {
    return KNOWN.computeIfAbsent(code, AnyTwoServers::search);
  }

  /** Whether a stripe of this code survives the loss of any two of so many servers. */
  public static boolean survives(ErasureCode code, int servers) {
    OptionalInt needed = needed(code);
    return needed.isPresent() && servers >= needed.getAsInt();
  }

  private static OptionalInt search(ErasureCode code) {
    if (code.tolerance() < 2) {
      return OptionalInt.empty();
    }
    int servers = 2;
    while (servers < code.size() && ServerPattern.find(code, Optional.empty(), servers).isEmpty()) {
      servers++;
    }
    return OptionalInt.of(servers);
  }
}
