package io.ebbfs.namenode.placement;

import java.util.List;

/**
 * A block that is to become a data member of a stripe.
 *
 * @param fileId the file it belongs to
 * @param index its number within the file
 * @param replicas the uuids of the disks that hold a live replica
 */
public record StripeBlock(
    long blockId, long lengthBytes, long fileId, long index, List<String> replicas) {
  public StripeBlock {
    replicas = List.copyOf(replicas);
  }
}
