package io.ebbfs.coding.code;

/**
 * A fast and a compact code. A conversion between the two leaves every data block where it is and
 * writes parities only. Example: three stripes of PC(2x5) become one stripe of PC(6x5). A single
 * code, which is never converted, is a family too ({@link #single}). Immutable and thread safe.
 *
 * @param name "product", "lrc", "rs", "rs-lrc" or a name of the user's own; the name of the code if
 *     the family is a single code
 * @param fastCode repairs cheaply
 * @param compactCode stores cheaply
 */
public record CodeFamily(String name, ErasureCode fastCode, ErasureCode compactCode) {
  /** A family of one code, which is both the fast and the compact code. */
  public static CodeFamily single(ErasureCode code) {
    return new CodeFamily(code.name(), code, code);
  }

  /** Whether this family has one code only. */
  public boolean isSingle() {
    return fastCode.equals(compactCode);
  }

  /** The name of the fast code. */
  public String fast() {
    return fastCode.name();
  }

  /** The name of the compact code. */
  public String compact() {
    return compactCode.name();
  }

  /** How many fast stripes make one compact stripe: 3 for PC(2x5) and PC(6x5). */
  public int groupSize() {
    return compactCode.dataCount() / fastCode.dataCount();
  }

  /** Whether the code of this name is the fast or the compact code. */
  public boolean has(String codeName) {
    return fast().equals(codeName) || compact().equals(codeName);
  }

  @Override
  public String toString() {
    return name + " (" + fast() + " -> " + compact() + ")";
  }
}
