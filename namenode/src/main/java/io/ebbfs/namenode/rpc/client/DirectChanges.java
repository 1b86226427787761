package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.rpc.server.MethodHandler;
import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.protocol.proto.AclProtos.FsPermissionProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.DeleteRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.MkdirsRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.Rename2RequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.RenameRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.RenewLeaseRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.SetPermissionRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.SetReplicationRequestProto;

/**
 * Answers the calls of ClientProtocol that change the namespace and whose answer is yes, no, or
 * nothing, as {@link DirectCalls} does for calls that read. Thread-safe.
 */
final class DirectChanges {
  private static final byte[] NOTHING = {};

  private final FileServices files;
  private final CallContext context;

  DirectChanges(FileServices files, CallContext context) {
    this.files = files;
    this.context = context;
  }

  Map<String, MethodHandler> handlers() {
    return Map.of(
        "mkdirs", this::mkdirs,
        "delete", this::delete,
        "rename", this::rename,
        "rename2", this::rename2,
        "setPermission", this::setPermission,
        "setReplication", this::setReplication,
        "renewLease", this::renewLease);
  }

  private byte[] mkdirs(byte[] frame, int offset, int length) throws IOException {
    MkdirsRequestProto request = MkdirsRequestProto.parser().parseFrom(frame, offset, length);
    return ProtoBytes.answer(
        files
            .mkdirs()
            .mkdirs(
                context.caller(),
                request.getSrc(),
                CreateArguments.permission(
                    request.getMasked(), request.hasUnmasked() ? request.getUnmasked() : null),
                request.getCreateParent()));
  }

  private byte[] delete(byte[] frame, int offset, int length) throws IOException {
    DeleteRequestProto request = DeleteRequestProto.parser().parseFrom(frame, offset, length);
    return ProtoBytes.answer(
        files.deletions().delete(context.caller(), request.getSrc(), request.getRecursive()));
  }

  private byte[] rename(byte[] frame, int offset, int length) throws IOException {
    RenameRequestProto request = RenameRequestProto.parser().parseFrom(frame, offset, length);
    return ProtoBytes.answer(
        files.renames().rename(context.caller(), request.getSrc(), request.getDst()));
  }

  private byte[] rename2(byte[] frame, int offset, int length) throws IOException {
    Rename2RequestProto request = Rename2RequestProto.parser().parseFrom(frame, offset, length);
    files
        .renames()
        .rename2(context.caller(), request.getSrc(), request.getDst(), request.getOverwriteDest());
    return NOTHING;
  }

  private byte[] setPermission(byte[] frame, int offset, int length) throws IOException {
    SetPermissionRequestProto request =
        SetPermissionRequestProto.parser().parseFrom(frame, offset, length);
    files
        .attributes()
        .setPermission(context.caller(), request.getSrc(), permission(request.getPermission()));
    return NOTHING;
  }

  private static FsPermission permission(FsPermissionProto permission) {
    return new FsPermission((short) permission.getPerm());
  }

  private byte[] setReplication(byte[] frame, int offset, int length) throws IOException {
    SetReplicationRequestProto request =
        SetReplicationRequestProto.parser().parseFrom(frame, offset, length);
    return ProtoBytes.answer(
        files
            .replication()
            .set(context.caller(), request.getSrc(), (short) request.getReplication()));
  }

  private byte[] renewLease(byte[] frame, int offset, int length) throws IOException {
    files
        .leases()
        .renew(RenewLeaseRequestProto.parser().parseFrom(frame, offset, length).getClientName());
    return NOTHING;
  }
}
