package io.ebbfs.coding;

/** What it costs to read the block at a position: at least 1; any unit. */
@FunctionalInterface
public interface ReadCost {
  /** Every block costs the same. */
  ReadCost UNIFORM = position -> 1;

  int of(int position);
}
