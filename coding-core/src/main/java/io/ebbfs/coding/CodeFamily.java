package io.ebbfs.coding;

/**
 * Two codes that data moves between without moving: only parities change.
 *
 * @param name "product", "lrc" or "rs"
 * @param fast the name of the code that repairs cheaply
 * @param compact the name of the code that stores cheaply
 * @param groupSize how many fast stripes make one compact stripe
 */
public record CodeFamily(String name, String fast, String compact, int groupSize) {
  public ErasureCode fastCode() {
    return Codes.byName(fast);
  }

  public ErasureCode compactCode() {
    return Codes.byName(compact);
  }
}
