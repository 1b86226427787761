package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.snapshots.SnapshotDifferences;
import io.ebbfs.namenode.files.snapshots.SnapshotService;
import io.ebbfs.namenode.rpc.coding.BlockCounts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.FsServerDefaults;
import org.apache.hadoop.hdfs.protocol.SnapshotDiffReport;
import org.apache.hadoop.hdfs.protocol.SnapshotDiffReportListing;
import org.apache.hadoop.hdfs.protocol.SnapshotStatus;
import org.apache.hadoop.hdfs.protocol.SnapshottableDirectoryStatus;

/** The calls of ClientProtocol about snapshots. */
abstract class SnapshotCalls extends ClusterCalls {
  final FileServices files;

  SnapshotCalls(
      DatanodeRegistry cluster,
      BlockCounts counts,
      FsServerDefaults defaults,
      CallContext context,
      OperatorServices operators,
      FileServices files) {
    super(cluster, counts, defaults, context, operators);
    this.files = files;
  }

  @Override
  public void allowSnapshot(String directory) throws IOException {
    files.snapshots().snapshots().allow(context.caller(), directory);
  }

  @Override
  public void disallowSnapshot(String directory) throws IOException {
    files.snapshots().snapshots().disallow(context.caller(), directory);
  }

  @Override
  public String createSnapshot(String directory, String name) throws IOException {
    return files.snapshots().snapshots().create(context.caller(), directory, name);
  }

  @Override
  public void deleteSnapshot(String directory, String name) throws IOException {
    files.snapshots().snapshots().delete(context.caller(), directory, name);
  }

  @Override
  public void renameSnapshot(String directory, String oldName, String newName) throws IOException {
    files.snapshots().snapshots().rename(context.caller(), directory, oldName, newName);
  }

  @Override
  public SnapshottableDirectoryStatus[] getSnapshottableDirListing() throws IOException {
    Optional<List<SnapshotService.Snapshottable>> found =
        files.snapshots().snapshots().listDirectories(context.caller());
    return found.isEmpty()
        ? null // the answer of HDFS
        : found.get().stream()
            .map(SnapshotConverter::directory)
            .toArray(SnapshottableDirectoryStatus[]::new);
  }

  @Override
  public SnapshotStatus[] getSnapshotListing(String directory) throws IOException {
    SnapshotService.Snapshots found =
        files.snapshots().snapshots().list(context.caller(), directory);
    byte[] path = found.path().toString().getBytes(StandardCharsets.UTF_8);
    return found.rows().stream()
        .map(row -> SnapshotConverter.snapshot(row, path))
        .toArray(SnapshotStatus[]::new);
  }

  @Override
  public SnapshotDiffReport getSnapshotDiffReport(String directory, String from, String to)
      throws IOException {
    return SnapshotConverter.report(compare(directory, from, to), from, to);
  }

  @Override
  public SnapshotDiffReportListing getSnapshotDiffReportListing(
      String directory, String from, String to, byte[] startPath, int index) throws IOException {
    return SnapshotConverter.page(compare(directory, from, to), startPath, index);
  }

  private SnapshotDifferences compare(String directory, String from, String to) throws IOException {
    Caller caller = context.caller();
    return operators
        .longCalls()
        .run(
            "getSnapshotDiffReport",
            () -> files.snapshots().diff().compare(caller, directory, from, to));
  }
}
