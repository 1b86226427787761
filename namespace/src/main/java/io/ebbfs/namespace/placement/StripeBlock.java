package io.ebbfs.namespace.placement;

import java.util.List;

/**
 * A block that is to become a data member of a stripe.
 *
 * @param fileId the file it belongs to
 * @param index its number in the file
 * @param replicas the storages that hold a live replica
 */
public record StripeBlock(
    long blockId, long lengthBytes, long fileId, long index, List<String> replicas) {
  public StripeBlock {
    replicas = List.copyOf(replicas);
  }
}
