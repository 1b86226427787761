package io.ebbfs.namenode.files.inodes;

import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.util.List;
import java.util.OptionalInt;
import org.apache.hadoop.io.erasurecode.ErasureCodeConstants;

/** Which erasure coding policy holds for a path. Stateless. */
public final class InodePolicies {
  private InodePolicies() {}

  /**
   * The policy that holds below the deepest of these directories: its own, or that of the nearest
   * one above. Empty if none of them has a policy; 0 for replication.
   */
  public static OptionalInt inherited(List<Inode> fromRoot) {
    for (int i = fromRoot.size() - 1; i >= 0; i--) {
      InodeRow row = fromRoot.get(i).row();
      if (fromRoot.get(i).isDirectory() && row.hasEcPolicyId()) {
        return OptionalInt.of(row.getEcPolicyId());
      }
    }
    return OptionalInt.empty();
  }

  /** The last of these inodes as clients see it: a directory with the policy that it inherits. */
  public static Inode shown(List<Inode> fromRoot) {
    Inode last = fromRoot.get(fromRoot.size() - 1);
    return last.isFile() ? last : shown(last, inherited(fromRoot));
  }

  /** An entry of a directory as clients see it. */
  public static Inode shown(Inode entry, OptionalInt inherited) {
    if (entry.isFile() || entry.row().hasEcPolicyId() || inherited.isEmpty()) {
      return entry;
    }
    return entry.with(entry.row().toBuilder().setEcPolicyId(inherited.getAsInt()).build());
  }

  /** Whether clients write the file, or files in the directory, in block groups. */
  public static boolean isErasureCoded(InodeRow row) {
    return row.hasEcPolicyId() && row.getEcPolicyId() != ErasureCodeConstants.REPLICATION_POLICY_ID;
  }
}
