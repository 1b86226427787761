package io.ebbfs.namenode.rpc.datanode;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hdfs.protocol.proto.DatanodeProtocolProtos.HeartbeatRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.StorageReportProto;

/** Reads a figure of each disk from a field of StorageReportProto that HDFS does not have. */
final class DiskFigureReader {
  /** A larger figure is taken for this one: nobody believes a wild number. */
  private static final long MOST_HUNDREDTHS = 100L * 1_000_000;

  private DiskFigureReader() {}

  /**
   * The figures by the uuids of the disks.
   *
   * @param field of hundredths, as varints; the last one counts
   * @param notTold the figure of a disk without the field
   */
  static Map<String, Double> of(HeartbeatRequestProto heartbeat, int field, double notTold) {
    Map<String, Double> figures = new HashMap<>();
    for (StorageReportProto report : heartbeat.getReportsList()) {
      List<Long> values = report.getUnknownFields().getField(field).getVarintList();
      figures.put(
          report.getStorage().getStorageUuid(),
          values.isEmpty() ? notTold : figure(values.get(values.size() - 1)));
    }
    return figures;
  }

  private static double figure(long hundredths) {
    return Math.max(0, Math.min(MOST_HUNDREDTHS, hundredths)) / 100.0;
  }
}
