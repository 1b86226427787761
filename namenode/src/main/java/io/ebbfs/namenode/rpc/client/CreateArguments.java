package io.ebbfs.namenode.rpc.client;

import java.util.Set;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.permission.FsCreateModes;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.protocol.proto.AclProtos.FsPermissionProto;

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
   * Refuses what contradicts itself.
   *
   * @param policy of erasure coding; null or empty for none
   */
  static void check(Set<CreateFlag> flags, String policy) {
    if (policy == null || policy.isEmpty()) {
      return;
    }
    if (flags.contains(CreateFlag.SHOULD_REPLICATE)) {
      throw new HadoopIllegalArgumentException(
          "SHOULD_REPLICATE flag and ecPolicyName are exclusive parameters. Set both is not"
              + " allowed!");
    }
  }
}
