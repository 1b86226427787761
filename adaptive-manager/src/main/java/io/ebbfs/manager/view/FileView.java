package io.ebbfs.manager.view;

import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * A file as the namenode listed it. Sizes are bytes.
 *
 * @param modifiedMillis when it was written last, or when its blocks left stripes last, if that was
 *     later: from then on it gets write-cold
 * @param stripedBlocks blocks that are members of a stripe
 * @param replicatedBytes of the unencoded blocks: they are replicated and in no stripe
 * @param replicatedStoredBytes of all replicas of the unencoded blocks
 * @param transitionId the transition that encodes the unencoded blocks; 0 for none
 * @param replication how many replicas the file wants of each block outside of stripes; 0 if the
 *     namenode did not tell
 * @param pin of the file, or of the nearest directory above it that has one
 * @param groupStoredBytes of the block groups of a file that its client has encoded, parities
 *     included; 0 for other files
 */
public record FileView(
    long id,
    String path,
    String owner,
    String group,
    long lengthBytes,
    long modifiedMillis,
    boolean underConstruction,
    int blocks,
    int stripedBlocks,
    long storedBytes,
    long replicatedBytes,
    long replicatedStoredBytes,
    List<Long> stripeIds,
    long transitionId,
    int replication,
    Pin pin,
    long groupStoredBytes) {
  /** A block outside of stripes has no parities, so it needs a second replica. */
  private static final int FEWEST_REPLICAS = 2;

  /** The same file with another pin. */
  public FileView withPin(Pin other) {
    return new FileView(
        id,
        path,
        owner,
        group,
        lengthBytes,
        modifiedMillis,
        underConstruction,
        blocks,
        stripedBlocks,
        storedBytes,
        replicatedBytes,
        replicatedStoredBytes,
        stripeIds,
        transitionId,
        replication,
        other,
        groupStoredBytes);
  }

  /** Whether its client has encoded the file, in block groups. */
  public boolean isClientStriped() {
    return groupStoredBytes > 0;
  }

  /** Whether the blocks of the file that are in stripes are to leave them. */
  public boolean isLeaving() {
    return pin == Pin.REPLICAS && hasReplicasToLeave();
  }

  /**
   * Whether the file wants so many replicas that its blocks may be without parities. False if the
   * namenode did not tell: a namenode of a former version knows no releases, and refuses a whole
   * proposal with one.
   */
  public boolean hasReplicasToLeave() {
    return replication >= FEWEST_REPLICAS;
  }

  /** Whether the namenode told how many replicas the file wants. */
  public boolean isReplicationKnown() {
    return replication > 0;
  }

  /** The policy of the file; empty for none. */
  public Optional<PolicyRule> policyOf(PolicySet policies) {
    return policies.forFile(path, owner, group);
  }

  public int unencodedBlocks() {
    return blocks - stripedBlocks;
  }

  /**
   * Estimates the lengths of the unencoded blocks. Most often they are the last blocks of the file,
   * because it was appended to. After a release they may be any blocks; then each may be as long as
   * the longest one of the file.
   */
  public List<Long> unencodedLengths() {
    List<Long> last = new ArrayList<>();
    for (int i = stripedBlocks; i < blocks; i++) {
      last.add(blockLengthBytes(i));
    }
    long sum = last.stream().mapToLong(Long::longValue).sum();
    return sum == replicatedBytes
        ? last
        : Collections.nCopies(unencodedBlocks(), blockLengthBytes(0));
  }

  /**
   * Estimates the length of a block, since the listing tells only the length of the file. All
   * blocks but the last have the same length, which is taken to be a power of two if one fits.
   */
  public long blockLengthBytes(int index) {
    if (blocks <= 1) {
      return lengthBytes;
    }
    long least = (lengthBytes + blocks - 1) / blocks;
    long power = Long.highestOneBit(least);
    long full = power == least ? power : power << 1;
    if (full > (lengthBytes - 1) / (blocks - 1)) {
      full = least;
    }
    return index < blocks - 1 ? full : lengthBytes - full * (blocks - 1);
  }
}
