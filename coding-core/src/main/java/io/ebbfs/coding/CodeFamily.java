package io.ebbfs.coding;

/**
 * Two codes that data moves between without moving: only parities change. Or one code alone, which
 * data is never converted from ({@link #single}).
 *
 * @param name "product", "lrc", "rs", "rs-lrc" or one of a user's own; of a single code, its name
 * @param fast the name of the code that repairs cheaply
 * @param compact the name of the code that stores cheaply
 * @param groupSize how many fast stripes make one compact stripe
 */
public record CodeFamily(String name, String fast, String compact, int groupSize) {
  /** One code that stands for both: what is encoded with it stays so. */
  public static CodeFamily single(ErasureCode code) {
    return new CodeFamily(code.name(), code.name(), code.name(), 1);
  }

  /** Whether this is one code alone. */
  public boolean isSingle() {
    return fast.equals(compact);
  }

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
