package io.ebbfs.coding;

/**
 * Two codes that data moves between without moving: only parities change.
 *
 * @param name "product", "lrc", "rs", "rs-lrc" or one of a user's own
 * @param fast the name of the code that repairs cheaply
 * @param compact the name of the code that stores cheaply
 * @param groupSize how many fast stripes make one compact stripe
 */
public record CodeFamily(String name, String fast, String compact, int groupSize) {
  /** Whether this code is one of the two. */
  public boolean has(String codeName) {
    return fast.equals(codeName) || compact.equals(codeName);
  }

  public ErasureCode fastCode() {
    return Codes.byName(fast);
  }

  public ErasureCode compactCode() {
    return Codes.byName(compact);
  }
}
