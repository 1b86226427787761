package io.ebbfs.manager.economics;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.Conversion;
import io.ebbfs.coding.plan.Planner;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What the two codes of a family cost, and a conversion between them, per data block of full
 * stripes. Immutable.
 *
 * @param toCompact blocks read and written: 0.7 for the product codes
 * @param toFast blocks read and written: 1.43 for the product codes
 */
public record PairCost(CodeCost fast, CodeCost compact, double toCompact, double toFast) {
  private static final Map<CodeFamily, PairCost> KNOWN = new ConcurrentHashMap<>();

  /**
   * The costs of a family, planned once. Of a single code, a conversion costs nothing. Thread-safe.
   */
  public static PairCost of(CodeFamily family) {
    return KNOWN.computeIfAbsent(family, PairCost::planned);
  }

  private static PairCost planned(CodeFamily family) {
    CodeCost fast = CodeCost.of(family.fastCode());
    CodeCost compact = CodeCost.of(family.compactCode());
    if (family.isSingle()) {
      return new PairCost(fast, compact, 0, 0);
    }
    return new PairCost(
        fast,
        compact,
        movesPerDataBlock(family.fastCode(), family.compactCode()),
        movesPerDataBlock(family.compactCode(), family.fastCode()));
  }

  private static double movesPerDataBlock(ErasureCode from, ErasureCode to) {
    int stripes = Planner.stripes(from, to).orElseThrow()[0];
    Set<Integer> full =
        IntStream.range(0, from.size()).boxed().collect(Collectors.toUnmodifiableSet());
    Conversion conversion = Planner.convert(from, to, Collections.nCopies(stripes, full), Set.of());
    return (double) (conversion.reads() + conversion.writes()) / (stripes * from.dataCount());
  }

  /** Stored blocks that the fast code adds. */
  public double extraStored() {
    return fast.stored() - compact.stored();
  }

  /**
   * Moves for each block that a conversion to compact frees for the bound, if the data becomes fast
   * again when there is room: 5.3 for the product codes. Infinite if it frees nothing.
   */
  public double pricePerFreedByte() {
    return extraStored() <= 0 ? Double.POSITIVE_INFINITY : (toCompact + toFast) / extraStored();
  }

  /** Moves that the fast code saves for each time that all blocks of a stripe are lost once. */
  public double repairsSaved() {
    return compact.repairMoves() - fast.repairMoves();
  }

  /** Blocks that the fast code saves for each read of a block that is not there. */
  public double readsSaved() {
    return compact.degradedReads() - fast.degradedReads();
  }
}
