package io.ebbfs.namenode.rpc.client;

import java.util.Set;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.permission.FsCreateModes;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.protocol.proto.AclProtos.FsPermissionProto;
import org.apache.hadoop.io.erasurecode.ErasureCodeConstants;

/** What clients ask for when they make a file or directory. */
final class CreateArguments {
  private CreateArguments() {}

  /**
   * The permission that a client asks for.
   *
   * @param unmasked before the umask of the client; null from clients before Hadoop 3
   */
  static FsPermission permission(FsPermissionProto masked, FsPermissionProto unmasked) {
    FsPermission asked = new FsPermission((short) masked.getPerm());
    return unmasked == null
        ? asked
        : FsCreateModes.create(asked, new FsPermission((short) unmasked.getPerm()));
  }

  /**
   * Refuses a policy of HDFS's own erasure codes, and what contradicts itself.
   *
   * @param policy null or empty for none
   */
  static void check(Set<CreateFlag> flags, String policy) {
    if (policy == null || policy.isEmpty()) {
      return;
    }
    if (flags.contains(CreateFlag.SHOULD_REPLICATE)) {
      throw new HadoopIllegalArgumentException(
          "SHOULD_REPLICATE flag and ecPolicyName are exclusive parameters. Set both is not allowed!");
    }
    if (!policy.equals(ErasureCodeConstants.REPLICATION_POLICY_NAME)) {
      throw new HadoopIllegalArgumentException(
          "Policy '%s' does not match any enabled erasure coding policies: []. EbbFS encodes files by itself when they are no longer written: create the file without a policy"
              .formatted(policy));
    }
  }
}
