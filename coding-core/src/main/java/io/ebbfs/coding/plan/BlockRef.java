package io.ebbfs.coding.plan;

/**
 * A block of one of the stripes of a plan.
 *
 * @param stripe for an input, the number of the source stripe; for an output, the number of the
 *     resulting stripe; 0 in a plan within one stripe
 * @param position index of the position in the code of the stripe
 */
public record BlockRef(int stripe, int position) implements Comparable<BlockRef> {
  @Override
  public int compareTo(BlockRef other) {
    int byStripe = Integer.compare(stripe, other.stripe);
    return byStripe != 0 ? byStripe : Integer.compare(position, other.position);
  }
}
