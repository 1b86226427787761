package io.ebbfs.namenode.rpc.datanode;

import java.util.Map;
import org.apache.hadoop.hdfs.protocol.proto.DatanodeProtocolProtos.HeartbeatRequestProto;

/**
 * How many calls of each disk of a chunk server have failed lately, as a heartbeat says it in a
 * field that HDFS does not have. The server halves the count every ten minutes.
 */
public final class RecentErrors {
  /** The number of the field in StorageReportProto: hundredths of an error, a varint. */
  public static final int FIELD = 1061;

  private RecentErrors() {}

  /** By the uuids of the disks of the heartbeat; 0 if it does not tell, as of an older server. */
  public static Map<String, Double> of(HeartbeatRequestProto heartbeat) {
    return DiskFigureReader.of(heartbeat, FIELD, 0);
  }
}
