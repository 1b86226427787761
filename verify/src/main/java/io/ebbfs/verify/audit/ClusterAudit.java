package io.ebbfs.verify.audit;

import io.ebbfs.namenode.audit.MetadataChecker;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.ChunkProtos.BlockHealthProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifiedBlockProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.verify.cluster.DiskInventory;
import io.ebbfs.verify.cluster.VerifyCluster;
import io.ebbfs.verify.cluster.VerifyException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;

/**
 * Audits everything that a cluster at rest has stored, and collects what is wrong: files as a stock
 * client reads them, the rows of the metadata, block files, and parities computed anew.
 */
public final class ClusterAudit {
  private static final long ORPHANS_MILLIS = 20_000;
  private static final long REPORT_EVERY_NANOS = 2_000_000_000L;
  private static final int MAX_FINDINGS = 20;

  private final VerifyCluster cluster;
  private final long orphansMillis;
  private final List<String> wrong = new ArrayList<>();
  private final List<String> orphans = new ArrayList<>();
  private final List<String> underProtected = new ArrayList<>();

  public ClusterAudit(VerifyCluster cluster) {
    this(cluster, ORPHANS_MILLIS);
  }

  /** An audit that waits this long for the deletion of orphans. */
  public ClusterAudit(VerifyCluster cluster, long orphansMillis) {
    this.cluster = cluster;
    this.orphansMillis = orphansMillis;
  }

  /** The broken promises; empty if all hold. */
  public List<String> wrong() {
    return wrong;
  }

  /** Those of them that say how disks and metadata differ. */
  public List<String> orphans() {
    return orphans;
  }

  /** The under-protected stripes: they keep all promises, but one failure could hurt them. */
  public List<String> underProtected() {
    return underProtected;
  }

  /**
   * Audits everything.
   *
   * @param files the bytes that were written, by path
   */
  public ClusterAudit all(Map<String, byte[]> files) throws Exception {
    cluster.reconnect();
    files(files);
    awaitNoOrphans();
    try (StoreCopy copy = StoreCopy.of(cluster.directory())) {
      DiskInventory disks = DiskInventory.read(cluster.local());
      rows(copy);
      StripeAudit stripes = new StripeAudit(cluster.codes(), this::report);
      for (Row<StripeRow> stripe : copy.all(Tables.STRIPE)) {
        stripes.check(stripe.value(), disks);
      }
      blocks(copy, disks);
    }
    return this;
  }

  private void report(String format, Object... arguments) {
    if (wrong.size() < MAX_FINDINGS) {
      wrong.add(format.formatted(arguments));
    }
  }

  // ---- files ------------------------------------------------------------------------------------

  private void files(Map<String, byte[]> files) {
    files.forEach(
        (path, bytes) -> {
          try {
            byte[] read = cluster.read(path);
            if (!Arrays.equals(read, bytes)) {
              report(
                  "%s differs from byte %d on (%d of %d bytes)",
                  path, Arrays.mismatch(read, bytes), read.length, bytes.length);
            }
          } catch (IOException e) {
            report("%s cannot be read: %s", path, e);
          }
        });
  }

  // ---- orphans ----------------------------------------------------------------------------------

  /** Triggers block reports until disks and metadata have the same blocks, or time is up. */
  private void awaitNoOrphans() throws Exception {
    long[] nextReport = {0};
    try {
      VerifyCluster.await(
          "the same blocks on disks and in the metadata",
          orphansMillis,
          () -> {
            if (System.nanoTime() - nextReport[0] > 0) {
              cluster.triggerReports();
              nextReport[0] = System.nanoTime() + REPORT_EVERY_NANOS;
            }
            String blockCountMismatch = cluster.blockCountMismatch();
            return blockCountMismatch != null
                ? blockCountMismatch
                : ReplicaDifferences.between(cluster);
          });
    } catch (VerifyException e) {
      report("%s", e.getMessage());
      orphans.add(e.getMessage());
    }
  }

  // ---- rows -------------------------------------------------------------------------------------

  private void rows(StoreCopy copy) throws IOException {
    for (MetadataChecker.Finding finding :
        MetadataChecker.run(
            cluster.codes(), copy.store(), StoredClusterView.of(copy), MAX_FINDINGS)) {
      if (finding.severity() == MetadataChecker.Severity.WRONG) {
        report("%s", finding.message());
      } else {
        underProtected.add(finding.message());
      }
    }
  }

  // ---- blocks -----------------------------------------------------------------------------------

  /** Each server compares the data of all its blocks with their checksums. */
  private void blocks(StoreCopy copy, DiskInventory disks) throws IOException {
    Map<Integer, VerifyRequestProto.Builder> requests = new TreeMap<>();
    String pool = poolOf(copy);
    for (Row<ReplicaRow> row : copy.all(Tables.REPLICA)) {
      Integer server = disks.serverOf().get(Tables.replicaStorage(row.key()));
      requests
          .computeIfAbsent(server, s -> VerifyRequestProto.newBuilder())
          .addBlocks(
              ExtendedBlockProto.newBuilder()
                  .setPoolId(pool)
                  .setBlockId(row.key().firstLong())
                  .setGenerationStamp(row.value().getGenerationStamp())
                  .setNumBytes(row.value().getLengthBytes()));
    }
    for (Map.Entry<Integer, VerifyRequestProto.Builder> request : requests.entrySet()) {
      VerifyRequestProto asked = request.getValue().build();
      List<VerifiedBlockProto> answers = cluster.verify(request.getKey(), asked).getBlocksList();
      for (int i = 0; i < answers.size(); i++) {
        if (answers.get(i).getHealth() != BlockHealthProto.BLOCK_OK) {
          report(
              "block %d at server %d: %s %s",
              asked.getBlocks(i).getBlockId(),
              request.getKey(),
              answers.get(i).getHealth(),
              answers.get(i).getMessage());
        }
      }
    }
  }

  static String poolOf(StoreCopy copy) throws IOException {
    return copy.all(Tables.SETTING).stream()
        .map(row -> row.value().getValue())
        .filter(value -> value.startsWith("BP-"))
        .findFirst()
        .orElseThrow(() -> new IOException("no block pool id in the metadata"));
  }
}
