package io.ebbfs.manager.view;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A stripe as the namenode listed it. Sizes are bytes as stored on disks.
 *
 * @param deadBytes of deleted blocks that the parities still cover
 * @param groupId the same for all fast stripes that will merge into one compact stripe; 0 for none
 * @param createdMillis when the stripe was encoded or converted last
 * @param transitionId the transition that holds the stripe; 0 for none
 * @param pin FAST if one of its files is pinned fast, else COMPACT if one is pinned compact
 * @param leaving ids of files whose blocks are to leave the stripe: they are pinned to replicas
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
    long createdMillis,
    long transitionId,
    Pin pin,
    Set<Long> leaving) {

  /** A block of the stripe; ownerId is the id of the file if the data is live. */
  public record Member(int position, long lengthBytes, long ownerId, boolean tombstone) {
    /** Whether the member is live data: neither a parity nor a tombstone. */
    public boolean isOwnedByFile(long stripeId) {
      return !tombstone && ownerId != stripeId;
    }
  }

  /** The pin that a stripe has by the pins of its files. */
  public static Pin pinOf(Iterable<Pin> files) {
    Pin pin = Pin.NONE;
    for (Pin file : files) {
      if (file == Pin.FAST) {
        return Pin.FAST;
      }
      pin = file == Pin.COMPACT ? Pin.COMPACT : pin;
    }
    return pin;
  }

  /** The same stripe with the pins that it has by its files. */
  StripeView withPinsOf(Collection<FileView> files) {
    return withPins(
        pinOf(files.stream().map(FileView::pin).toList()),
        files.stream().filter(FileView::isLeaving).map(FileView::id).collect(Collectors.toSet()));
  }

  /** The same stripe with other pins. */
  public StripeView withPins(Pin other, Set<Long> leavingFiles) {
    return new StripeView(
        id,
        code,
        policy,
        unitLengthBytes,
        members,
        liveBytes,
        deadBytes,
        parityBytes,
        lostPositions,
        groupId,
        groupSlot,
        createdMillis,
        transitionId,
        other,
        leavingFiles);
  }

  /** The files that have data in the stripe. */
  public Set<Long> fileIds() {
    Set<Long> files = new HashSet<>();
    for (Member member : members) {
      if (member.isOwnedByFile(id)) {
        files.add(member.ownerId());
      }
    }
    return files;
  }

  public long storedBytes() {
    return liveBytes + deadBytes + parityBytes;
  }

  /**
   * The data lengths by position, deleted blocks included, because the parities still cover them.
   *
   * @param dataCount the data positions of the code
   */
  public Map<Integer, Long> dataLengths(int dataCount) {
    Map<Integer, Long> lengths = new TreeMap<>();
    for (Member member : members) {
      if (member.position() < dataCount) {
        lengths.put(member.position(), member.lengthBytes());
      }
    }
    return lengths;
  }

  /** The positions of deleted blocks. */
  public Set<Integer> tombstones() {
    return members.stream()
        .filter(Member::tombstone)
        .map(Member::position)
        .collect(Collectors.toSet());
  }

  /** The positions of the live blocks of all files. */
  public Set<Integer> livePositions() {
    return positionsOf(fileIds());
  }

  /** The positions of the live blocks of files. */
  public Set<Integer> positionsOf(Collection<Long> files) {
    return members.stream()
        .filter(member -> member.isOwnedByFile(id) && files.contains(member.ownerId()))
        .map(Member::position)
        .collect(Collectors.toSet());
  }

  /** Bytes of the live data blocks. */
  public List<Long> liveLengths() {
    return members.stream()
        .filter(member -> member.isOwnedByFile(id))
        .map(Member::lengthBytes)
        .toList();
  }

  /** Whether the stripe is whole and in no transition. */
  public boolean settled() {
    return transitionId == 0 && lostPositions.isEmpty();
  }
}
