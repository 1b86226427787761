package io.ebbfs.manager.view;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.Reclaim;
import java.util.OptionalDouble;

/**
 * How cheaply a stripe frees space that does not serve live data: deleted blocks, and parities of
 * positions without a block. Stateless.
 */
public final class Wear {
  /** The most bytes that are moved for each byte freed. */
  public static final double MOST_PRICE = 50;

  private Wear() {}

  /**
   * The bytes moved for each byte freed, by a subtraction or by a rewrite among many stripes,
   * whichever is cheaper. Empty if neither frees enough for what it moves.
   */
  public static OptionalDouble price(StripeView stripe, ErasureCode code) {
    double rewrite = rewrite(stripe, code).price();
    double price =
        stripe.tombstones().isEmpty() ? rewrite : Math.min(rewrite, subtract(stripe, code).price());
    return price > MOST_PRICE ? OptionalDouble.empty() : OptionalDouble.of(price);
  }

  /** The subtraction of all deleted blocks of a stripe. */
  public static Reclaim subtract(StripeView stripe, ErasureCode code) {
    return Reclaim.subtract(code, stripe.dataLengths(code.dataCount()), stripe.tombstones());
  }

  /** The share of the stripe in a rewrite of many. */
  public static Reclaim rewrite(StripeView stripe, ErasureCode code) {
    return Reclaim.rewriteAmongMany(
        code,
        stripe.liveLengths().size(),
        stripe.liveBytes(),
        stripe.deadBytes(),
        stripe.parityBytes());
  }
}
