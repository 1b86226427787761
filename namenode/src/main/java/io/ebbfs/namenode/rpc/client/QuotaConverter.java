package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.files.inodes.FsPath;
import io.ebbfs.namenode.files.tree.ContentSummaryService.Consumption;
import io.ebbfs.namenode.files.tree.ContentSummaryService.Summary;
import io.ebbfs.protocol.proto.StoreProtos.QuotaLimitsProto;
import io.ebbfs.protocol.proto.StoreProtos.TypeLimitProto;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.QuotaUsage;
import org.apache.hadoop.fs.StorageType;

/** Converts sums and limits to what HDFS clients read. */
final class QuotaConverter {
  /** HDFS's number for no limit. */
  private static final long NONE = -1;

  private QuotaConverter() {}

  static ContentSummary summary(String src, Summary summary, QuotaLimitsProto limits) {
    ContentSummary.Builder converted =
        new ContentSummary.Builder()
            .length(summary.lengthBytes())
            .fileCount(summary.files())
            .directoryCount(summary.directories())
            .spaceConsumed(summary.spaceBytes())
            .quota(names(src, limits))
            .spaceQuota(bytes(limits))
            .erasureCodingPolicy("Replicated");
    for (TypeLimitProto limit : limits.getTypesList()) {
      StorageType type = StorageType.valueOf(limit.getType());
      converted.typeQuota(type, limit.getBytes());
    }
    summary.typeBytes().forEach(converted::typeConsumed);
    return converted.build();
  }

  static QuotaUsage usage(String src, Consumption consumption) {
    QuotaLimitsProto limits = consumption.limits();
    QuotaUsage.Builder converted =
        new QuotaUsage.Builder()
            .fileAndDirectoryCount(consumption.names())
            .spaceConsumed(consumption.spaceBytes())
            .quota(names(src, limits))
            .spaceQuota(bytes(limits));
    for (TypeLimitProto limit : limits.getTypesList()) {
      StorageType type = StorageType.valueOf(limit.getType());
      converted.typeQuota(type, limit.getBytes());
    }
    consumption.typeBytes().forEach(converted::typeConsumed);
    return converted.build();
  }

  /** As in HDFS, the root always has a limit, which nobody reaches. */
  private static long names(String src, QuotaLimitsProto limits) {
    if (limits.hasNames()) {
      return limits.getNames();
    }
    return FsPath.parse(src).isRoot() ? Long.MAX_VALUE : NONE;
  }

  private static long bytes(QuotaLimitsProto limits) {
    return limits.hasBytes() ? limits.getBytes() : NONE;
  }
}
