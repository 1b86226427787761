package io.ebbfs.namenode.rpc.audit;

import io.ebbfs.namenode.files.quotas.QuotaService;
import java.io.IOException;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.ClientNamenodeProtocol;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.CreateResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.CreateSnapshotResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.HdfsFileStatusProto;
import org.apache.hadoop.thirdparty.protobuf.CodedInputStream;
import org.apache.hadoop.thirdparty.protobuf.Descriptors.Descriptor;
import org.apache.hadoop.thirdparty.protobuf.Descriptors.FieldDescriptor;
import org.apache.hadoop.thirdparty.protobuf.DynamicMessage;

/** The methods of ClientProtocol that HDFS audits, and the lines that it writes. Pure functions. */
final class AuditedMethods {
  /** By the name of the method: the word that HDFS writes. */
  private static final Map<String, String> COMMANDS =
      Map.ofEntries(
          Map.entry("getBlockLocations", "open"),
          Map.entry("create", "create"),
          Map.entry("append", "append"),
          Map.entry("truncate", "truncate"),
          Map.entry("concat", "concat"),
          Map.entry("setReplication", "setReplication"),
          Map.entry("setPermission", "setPermission"),
          Map.entry("setOwner", "setOwner"),
          Map.entry("setTimes", "setTimes"),
          Map.entry("rename", "rename"),
          Map.entry("rename2", "rename"),
          Map.entry("delete", "delete"),
          Map.entry("mkdirs", "mkdirs"),
          Map.entry("getListing", "listStatus"),
          Map.entry("getFileInfo", "getfileinfo"),
          Map.entry("getFileLinkInfo", "getfileinfo"),
          Map.entry("getContentSummary", "contentSummary"),
          Map.entry("isFileClosed", "isFileClosed"),
          Map.entry("refreshNodes", "refreshNodes"),
          Map.entry("recoverLease", "recoverLease"),
          Map.entry("checkAccess", "checkAccess"),
          Map.entry("setQuota", "setQuota"),
          Map.entry("setStoragePolicy", "setStoragePolicy"),
          Map.entry("unsetStoragePolicy", "unsetStoragePolicy"),
          Map.entry("satisfyStoragePolicy", "satisfyStoragePolicy"),
          Map.entry("setXAttr", "setXAttr"),
          Map.entry("removeXAttr", "removeXAttr"),
          Map.entry("getXAttrs", "getXAttrs"),
          Map.entry("listXAttrs", "listXAttrs"),
          Map.entry("modifyAclEntries", "modifyAclEntries"),
          Map.entry("removeAclEntries", "removeAclEntries"),
          Map.entry("removeDefaultAcl", "removeDefaultAcl"),
          Map.entry("removeAcl", "removeAcl"),
          Map.entry("setAcl", "setAcl"),
          Map.entry("getAclStatus", "getAclStatus"),
          Map.entry("allowSnapshot", "allowSnapshot"),
          Map.entry("disallowSnapshot", "disallowSnapshot"),
          Map.entry("createSnapshot", "createSnapshot"),
          Map.entry("renameSnapshot", "renameSnapshot"),
          Map.entry("deleteSnapshot", "deleteSnapshot"),
          Map.entry("getSnapshotDiffReport", "computeSnapshotDiff"),
          Map.entry("getSnapshotDiffReportListing", "computeSnapshotDiff"),
          Map.entry("getSnapshottableDirListing", "listSnapshottableDirectory"),
          Map.entry("getSnapshotListing", "ListSnapshot"),
          Map.entry("setErasureCodingPolicy", "setErasureCodingPolicy"),
          Map.entry("unsetErasureCodingPolicy", "unsetErasureCodingPolicy"),
          Map.entry("getErasureCodingPolicy", "getErasureCodingPolicy"),
          Map.entry("enableErasureCodingPolicy", "enableErasureCodingPolicy"),
          Map.entry("disableErasureCodingPolicy", "disableErasureCodingPolicy"),
          Map.entry("setSafeMode", "safemode"),
          Map.entry("setBalancerBandwidth", "setBalancerBandwidth"),
          Map.entry("metaSave", "metaSave"),
          Map.entry("saveNamespace", "saveNamespace"));

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss,SSS", Locale.ROOT)
          .withZone(ZoneId.systemDefault());

  private static final String NONE = "null";

  private AuditedMethods() {}

  static boolean isAudited(String method) {
    return COMMANDS.containsKey(method);
  }

  /** Whether the line tells something of the answer of the method. */
  static boolean tellsAnswer(String method) {
    return method.equals("create") || method.equals("createSnapshot");
  }

  /** The line of a call, as the logger FSNamesystem.audit of HDFS writes it. */
  static String line(AuditedCall call) throws IOException {
    Descriptor type =
        ClientNamenodeProtocol.getDescriptor().findMethodByName(call.method()).getInputType();
    DynamicMessage request =
        DynamicMessage.parseFrom(
            type, CodedInputStream.newInstance(call.frame(), call.offset(), call.length()));
    return TIME.format(Instant.ofEpochMilli(call.millis()))
        + " INFO FSNamesystem.audit: allowed="
        + call.allowed()
        + "\tugi="
        + call.user().name()
        + " (auth:SIMPLE)\tip=/"
        + call.address().getHostAddress()
        + "\tcmd="
        + command(call.method(), request)
        + "\tsrc="
        + escaped(source(call.method(), request))
        + "\tdst="
        + escaped(destination(call, request))
        + "\tperm="
        + permissions(call)
        + "\tproto=rpc\n";
  }

  private static String command(String method, DynamicMessage request) {
    String command = COMMANDS.get(method);
    if (method.equals("setQuota")) {
      return QuotaService.operation(
          number(request, "namespaceQuota"), number(request, "storagespaceQuota"));
    }
    if (method.equals("setSafeMode")) {
      return text(request, "action").toLowerCase(Locale.ROOT);
    }
    return method.equals("rename2") ? command + " (options=[" + options(request) + "])" : command;
  }

  /** The path of a call; of a concat the list of the files that vanish. */
  private static String source(String method, DynamicMessage request) {
    return switch (method) {
      case "concat" ->
          String.valueOf(request.getField(request.getDescriptorForType().findFieldByName("srcs")));
      case "renameSnapshot" -> snapshot(request, "snapshotOldName");
      case "deleteSnapshot" -> snapshot(request, "snapshotName");
      case "getSnapshotDiffReport", "getSnapshotDiffReportListing" ->
          snapshot(request, "fromSnapshot");
      default -> text(request, "src", "path", "snapshotRoot", "ecPolicyName");
    };
  }

  private static String destination(AuditedCall call, DynamicMessage request) throws IOException {
    return switch (call.method()) {
      case "createSnapshot" ->
          call.answer() == null
              ? NONE
              : CreateSnapshotResponseProto.parseFrom(call.answer()).getSnapshotPath();
      case "renameSnapshot" -> snapshot(request, "snapshotNewName");
      case "getSnapshotDiffReport", "getSnapshotDiffReportListing" ->
          snapshot(request, "toSnapshot");
      default -> text(request, "dst", "trg");
    };
  }

  /** The path of the snapshot that a field names; of the directory itself if the name is empty. */
  private static String snapshot(DynamicMessage request, String field) {
    String name = text(request, field);
    String root = text(request, "snapshotRoot");
    return name.isEmpty() || name.equals(NONE) ? root : root + "/.snapshot/" + name;
  }

  private static long number(DynamicMessage request, String field) {
    return (Long) request.getField(request.getDescriptorForType().findFieldByName(field));
  }

  private static String options(DynamicMessage rename) {
    if (isSet(rename, "overwriteDest")) {
      return isSet(rename, "moveToTrash") ? "OVERWRITE, TO_TRASH" : "OVERWRITE";
    }
    return isSet(rename, "moveToTrash") ? "TO_TRASH" : "NONE";
  }

  private static boolean isSet(DynamicMessage request, String field) {
    FieldDescriptor descriptor = request.getDescriptorForType().findFieldByName(field);
    return descriptor != null && Boolean.TRUE.equals(request.getField(descriptor));
  }

  /** The first of these fields that the request has. */
  private static String text(DynamicMessage request, String... fields) {
    for (String field : fields) {
      FieldDescriptor descriptor = request.getDescriptorForType().findFieldByName(field);
      if (descriptor != null && request.hasField(descriptor)) {
        return String.valueOf(request.getField(descriptor));
      }
    }
    return NONE;
  }

  private static String permissions(AuditedCall call) throws IOException {
    if (call.answer() == null || !call.method().equals("create")) {
      return NONE;
    }
    HdfsFileStatusProto file = CreateResponseProto.parseFrom(call.answer()).getFs();
    return "%s:%s:%s"
        .formatted(
            file.getOwner(),
            file.getGroup(),
            new FsPermission((short) file.getPermission().getPerm()));
  }

  /** No name of a file can end a line or a field. */
  private static String escaped(String text) {
    StringBuilder out = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\\' || c == '"') {
        out.append('\\').append(c);
      } else if (c < ' ' || c > '~') {
        out.append("\\u%04X".formatted((int) c));
      } else {
        out.append(c);
      }
    }
    return out.toString();
  }
}
