package io.ebbfs.namenode;

import io.ebbfs.common.http.PrometheusText;
import io.ebbfs.common.http.StatusServer;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ClusterView.DrainState;
import io.ebbfs.namenode.rpc.coding.CodingService;
import io.ebbfs.namenode.rpc.server.CallCounters;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ScanStatusProto;
import java.util.List;
import java.util.Optional;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a namenode says to supervisors and to Prometheus. Thread-safe.
 *
 * @param cluster the chunk servers
 * @param coding has the figures of the file system
 * @param calls the calls of clients and chunk servers
 * @param connections the number of connections
 * @param droppedAuditLines lines that the audit log lacks
 * @param freeBytes the space left for the metadata
 * @param loops the periodic work
 */
record NamenodeStatus(
    ClusterView cluster,
    CodingService coding,
    CallCounters calls,
    IntSupplier connections,
    LongSupplier droppedAuditLines,
    LongSupplier freeBytes,
    LoopMeter loops)
    implements StatusServer.State {
  private static final Logger LOG = LoggerFactory.getLogger(NamenodeStatus.class);
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double MILLIS_PER_SECOND = 1e3;

  @Override
  public Optional<String> notReady() {
    return cluster.inSafeMode() ? Optional.of("in safe mode") : Optional.empty();
  }

  @Override
  public String metrics() {
    PrometheusText text = new PrometheusText();
    process(text);
    servers(text);
    addCalls(text, calls);
    loops(text);
    try {
      files(text, coding.getCluster(null, GetClusterRequestProto.getDefaultInstance()));
    } catch (ServiceException e) {
      LOG.warn("the metrics lack the figures of the file system", e);
    }
    return text.withProcess().toString();
  }

  private void process(PrometheusText text) {
    text.gauge("ebbfs_namenode_safe_mode", "1 in safe mode, else 0", cluster.inSafeMode() ? 1 : 0);
    text.gauge("ebbfs_namenode_connections", "Connections of RPC", connections.getAsInt());
    text.gauge(
        "ebbfs_namenode_data_free_bytes", "Space left for the metadata", freeBytes.getAsLong());
    text.counter(
        "ebbfs_namenode_audit_dropped_total",
        "Lines that the audit log lacks, because it could not be written fast enough",
        droppedAuditLines.getAsLong());
  }

  private void loops(PrometheusText text) {
    text.family("ebbfs_namenode_loop_cpu_seconds_total", "counter", "CPU time of periodic work");
    loops
        .sums()
        .forEach(
            (name, sums) ->
                text.line(
                    "ebbfs_namenode_loop_cpu_seconds_total",
                    "loop",
                    name,
                    sums.cpuNanos() / NANOS_PER_SECOND));
    text.family("ebbfs_namenode_loop_rows_total", "counter", "Rows that periodic work has scanned");
    loops
        .sums()
        .forEach(
            (name, sums) -> text.line("ebbfs_namenode_loop_rows_total", "loop", name, sums.rows()));
  }

  private void servers(PrometheusText text) {
    int live = cluster.liveServers().size();
    long dead =
        cluster.allServers().stream()
            .filter(
                server ->
                    !server.live()
                        && server.drain() != DrainState.DRAINED
                        && !server.isHibernating())
            .count();
    text.family(
        "ebbfs_namenode_chunk_servers",
        "gauge",
        "Chunk servers by liveness; a drained or hibernating server that was stopped does not count"
            + " as dead");
    text.line("ebbfs_namenode_chunk_servers", "state", "live", live);
    text.line("ebbfs_namenode_chunk_servers", "state", "dead", dead);
    text.gauge(
        "ebbfs_namenode_draining_servers",
        "Chunk servers that are being drained",
        cluster.allServers().stream()
            .filter(server -> server.drain() == DrainState.DRAINING)
            .count());
    text.gauge(
        "ebbfs_namenode_failed_disks",
        "Disks of live chunk servers that have failed",
        cluster.liveServers().stream()
            .flatMap(server -> server.disks().stream())
            .filter(ClusterView.Disk::failed)
            .count());
  }

  /** The calls of clients and chunk servers by method. */
  static void addCalls(PrometheusText text, CallCounters calls) {
    text.family("ebbfs_namenode_calls_total", "counter", "Calls by method");
    calls
        .sums()
        .forEach(
            (name, sums) -> text.line("ebbfs_namenode_calls_total", "method", name, sums.calls()));
    text.family(
        "ebbfs_namenode_call_seconds_total",
        "counter",
        "Time of the handlers of these calls, without waits for threads and for the disk");
    calls
        .sums()
        .forEach(
            (name, sums) ->
                text.line(
                    "ebbfs_namenode_call_seconds_total",
                    "method",
                    name,
                    sums.nanos() / NANOS_PER_SECOND));
  }

  private static void files(PrometheusText text, GetClusterResponseProto figures) {
    text.gauge("ebbfs_namenode_files", "Files", figures.getFiles());
    text.gauge("ebbfs_namenode_logical_bytes", "Bytes of all files", figures.getLogicalBytes());
    text.gauge(
        "ebbfs_namenode_stored_bytes",
        "Bytes stored: replicas, encoded data and parities",
        figures.getStoredBytes());
    text.gauge(
        "ebbfs_namenode_under_replicated_blocks",
        "Blocks with too few replicas",
        figures.getUnderReplicatedBlocks());
    text.gauge(
        "ebbfs_namenode_missing_blocks",
        "Replicated blocks without a live replica",
        figures.getMissingBlocks());
    text.gauge(
        "ebbfs_namenode_unrecoverable_stripes",
        "Stripes that do not decode",
        figures.getUnrecoverableStripes());
    scans(text, figures.getScansList());
  }

  private static void scans(PrometheusText text, List<ScanStatusProto> scans) {
    text.family(
        "ebbfs_namenode_scan_visited_rows",
        "gauge",
        "Rows that the last pass of a scan has visited so far");
    scans.forEach(
        scan ->
            text.line(
                "ebbfs_namenode_scan_visited_rows", "scan", scan.getName(), scan.getVisited()));
    text.family("ebbfs_namenode_scan_rows", "gauge", "Rows of the last whole pass of a scan");
    scans.forEach(
        scan -> text.line("ebbfs_namenode_scan_rows", "scan", scan.getName(), scan.getRows()));
    text.family(
        "ebbfs_namenode_scan_completed_seconds",
        "gauge",
        "When the last whole pass of a scan ended, in seconds since 1970; 0 if none has");
    scans.forEach(
        scan ->
            text.line(
                "ebbfs_namenode_scan_completed_seconds",
                "scan",
                scan.getName(),
                scan.getCompletedMillis() / MILLIS_PER_SECOND));
  }
}
