package io.ebbfs.namenode.rpc.datanode;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import java.util.Map;
import org.apache.hadoop.hdfs.protocol.proto.DatanodeProtocolProtos.HeartbeatRequestProto;

/**
 * How many calls are queued at each disk of a chunk server, as a heartbeat says it in a field that
 * HDFS does not have.
 */
public final class QueuedCalls {
  /** The number of the field in StorageReportProto: hundredths of a call, a varint. */
  public static final int FIELD = 1060;

  private QueuedCalls() {}

  /**
   * By the uuids of the disks of the heartbeat; {@link Disk#NOT_TOLD} if it does not tell. A server
   * may go back to an older version, which does not.
   */
  public static Map<String, Double> of(HeartbeatRequestProto heartbeat) {
    return DiskFigureReader.of(heartbeat, FIELD, Disk.NOT_TOLD);
  }
}
