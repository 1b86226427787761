package io.ebbfs.namenode.rpc.datanode;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hdfs.protocol.proto.DatanodeProtocolProtos.HeartbeatRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.StorageReportProto;

/**
 * How many calls are queued at each disk of a chunk server, as a heartbeat says it in a field that
 * HDFS does not have.
 */
public final class QueuedCalls {
  /** The number of the field in StorageReportProto: hundredths of a call, a varint. */
  public static final int FIELD = 1060;

  /** More calls than this are taken for this many: nobody believes a wild number. */
  private static final long MOST_HUNDREDTHS = 100L * 1_000_000;

  private QueuedCalls() {}

  /**
   * By the uuids of the disks of the heartbeat; {@link Disk#NOT_TOLD} if it does not tell. A server
   * may go back to an older version, which does not.
   */
  public static Map<String, Double> of(HeartbeatRequestProto heartbeat) {
    Map<String, Double> calls = new HashMap<>();
    for (StorageReportProto report : heartbeat.getReportsList()) {
      List<Long> values = report.getUnknownFields().getField(FIELD).getVarintList();
      calls.put(
          report.getStorage().getStorageUuid(),
          values.isEmpty() ? Disk.NOT_TOLD : calls(values.get(values.size() - 1)));
    }
    return calls;
  }

  private static double calls(long hundredths) {
    return Math.max(0, Math.min(MOST_HUNDREDTHS, hundredths)) / 100.0;
  }
}
