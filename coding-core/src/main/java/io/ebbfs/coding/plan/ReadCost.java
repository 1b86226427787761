package io.ebbfs.coding.plan;

/** The cost of reading the block at a position: at least 1, in any unit. */
@FunctionalInterface
public interface ReadCost {
  /** Every block costs the same. */
  ReadCost UNIFORM = position -> 1;

  int of(int position);
}
