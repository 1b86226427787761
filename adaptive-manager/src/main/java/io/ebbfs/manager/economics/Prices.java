package io.ebbfs.manager.economics;

/**
 * What the operator says things are worth, in bytes that are moved (read or written once).
 *
 * @param storage one stored byte for one day
 * @param reader one byte that a reader waits for, besides the move itself
 */
public record Prices(double storage, double reader) {
  /**
   * A byte stored for ten days costs as much as one move of it; the wait of a reader counts as much
   * as the move that the reader waits for.
   */
  public static final Prices DEFAULT = new Prices(0.1, 1);
}
