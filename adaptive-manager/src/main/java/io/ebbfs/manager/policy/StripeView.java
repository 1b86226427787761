package io.ebbfs.manager.policy;

import java.util.List;
import java.util.Set;

/**
 * A stripe as the namenode listed it. Sizes are bytes as stored on disks.
 *
 * @param groupId stripes that will merge share it; 0 for none
 * @param transitionId the transition that holds the stripe; 0 for none
 */
public record StripeView(
    long id,
    String code,
    String policy,
    long unitLengthBytes,
    List<Member> members,
    long liveBytes,
    long deadBytes,
    long parityBytes,
    Set<Integer> lostPositions,
    long groupId,
    int groupSlot,
    long transitionId) {

  /** A block of the stripe; ownerId is the file's for live data. */
  public record Member(int position, long lengthBytes, long ownerId, boolean tombstone) {}

  public long storedBytes() {
    return liveBytes + deadBytes + parityBytes;
  }

  public boolean settled() {
    return transitionId == 0 && lostPositions.isEmpty();
  }
}
