package io.ebbfs.coding;

/**
 * A block of one of the stripes that a plan is about.
 *
 * @param stripe index of the stripe: among the sources for an input, among the results for an
 *     output; 0 where there is one stripe only
 * @param position index of the position in the stripe's code
 */
public record BlockRef(int stripe, int position) implements Comparable<BlockRef> {
  @Override
  public int compareTo(BlockRef other) {
    int byStripe = Integer.compare(stripe, other.stripe);
    return byStripe != 0 ? byStripe : Integer.compare(position, other.position);
  }
}
