package io.ebbfs.workloads.prove;

import io.ebbfs.cluster.ClusterException;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.Gf256;
import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.coding.MetadataCheck;
import io.ebbfs.namespace.store.Row;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.protocol.proto.ChunkProtos.BlockHealthProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifiedBlockProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.ServerRow;
import io.ebbfs.protocol.proto.StoreProtos.StorageRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;

/**
 * Looks at everything that a cluster at rest has stored: files as a stock client reads them, rows,
 * block files, and parities computed anew by a third implementation. What is wrong is collected.
 */
final class Audit {
  private static final long ORPHANS_MILLIS = 20_000;
  private static final long REPORT_EVERY_NANOS = 2_000_000_000L;
  private static final int MAX_FINDINGS = 20;

  private final ProvingCluster cluster;
  private final long orphansMillis;
  private final List<String> wrong = new ArrayList<>();
  private final List<String> weak = new ArrayList<>();

  Audit(ProvingCluster cluster) {
    this(cluster, ORPHANS_MILLIS);
  }

  /** An audit that waits so long for what is too much to go. */
  Audit(ProvingCluster cluster, long orphansMillis) {
    this.cluster = cluster;
    this.orphansMillis = orphansMillis;
  }

  /** What contradicts a promise. */
  List<String> wrong() {
    return wrong;
  }

  /** What keeps the promises and is not as good as it should be. */
  List<String> weak() {
    return weak;
  }

  /** Everything; the files as they were written. */
  Audit all(Map<String, byte[]> files) throws Exception {
    cluster.reconnect();
    files(files);
    awaitNoOrphans();
    try (StoreCopy copy = StoreCopy.of(cluster.directory())) {
      Disks disks = Disks.read(cluster.local());
      rows(copy);
      for (Row<StripeRow> stripe : copy.all(Tables.STRIPE)) {
        stripe(stripe.value(), disks);
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

  /** Reports are made until disks and metadata have the same blocks, or time is up. */
  private void awaitNoOrphans() throws Exception {
    long[] nextReport = {0};
    try {
      ProvingCluster.await(
          "the same blocks on disks and in the metadata",
          orphansMillis,
          () -> {
            if (System.nanoTime() - nextReport[0] > 0) {
              cluster.triggerReports();
              nextReport[0] = System.nanoTime() + REPORT_EVERY_NANOS;
            }
            String imbalance = cluster.imbalance();
            return imbalance != null ? imbalance : difference();
          });
    } catch (ProveException e) {
      report("%s", e.getMessage());
    }
  }

  /** How replica rows and files differ, one by one; null if they do not. */
  private String difference() throws IOException {
    List<String> differences = new ArrayList<>();
    Disks disks;
    Map<String, Set<Long>> known = new TreeMap<>();
    try (StoreCopy copy = StoreCopy.of(cluster.directory())) {
      disks = Disks.read(cluster.local());
      for (Row<ReplicaRow> row : copy.all(Tables.REPLICA)) {
        String storage = Tables.replicaStorage(row.key());
        long blockId = row.key().firstLong();
        known.computeIfAbsent(storage, s -> new TreeSet<>()).add(blockId);
        Path file = disks.byStorage().getOrDefault(storage, Map.of()).get(blockId);
        if (file == null
            || row.value().getState() != ReplicaStateProto.FINALIZED
            || Files.size(file) != row.value().getLengthBytes()) {
          differences.add(
              "block %d on disk %s is %s in the metadata and in file %s"
                  .formatted(blockId, storage, row.value(), file));
        }
      }
    } catch (ClusterException e) {
      throw new IOException(e);
    }
    disks
        .byStorage()
        .forEach(
            (storage, blocks) ->
                blocks.forEach(
                    (blockId, file) -> {
                      if (!known.getOrDefault(storage, Set.of()).contains(blockId)) {
                        differences.add("block %d is an orphan: %s".formatted(blockId, file));
                      }
                    }));
    disks.loose().forEach(file -> differences.add("left over: " + file));
    return differences.isEmpty() ? null : String.join("; ", differences);
  }

  // ---- rows -------------------------------------------------------------------------------------

  private void rows(StoreCopy copy) throws IOException {
    for (MetadataCheck.Finding finding :
        MetadataCheck.run(copy.store(), view(copy), MAX_FINDINGS)) {
      if (finding.severity() == MetadataCheck.Severity.WRONG) {
        report("%s", finding.message());
      } else {
        weak.add(finding.message());
      }
    }
  }

  /** The servers as the rows have them; all are live when a cluster is at rest. */
  private static ClusterView view(StoreCopy copy) throws IOException {
    List<ClusterView.Server> servers = new ArrayList<>();
    for (Row<ServerRow> row : copy.all(Tables.SERVER)) {
      ServerRow server = row.value();
      List<ClusterView.Disk> disks = new ArrayList<>();
      for (StorageRow storage : server.getStoragesList()) {
        disks.add(
            new ClusterView.Disk(
                storage.getUuid(), storage.getNumber(), server.getUuid(), false, 0, 0, 0));
      }
      servers.add(
          new ClusterView.Server(
              server.getUuid(),
              server.getHostName(),
              server.getIpAddress(),
              server.getTransferPort(),
              0,
              server.getIpcPort(),
              server.getRack(),
              true,
              0,
              0,
              disks));
    }
    return new ClusterView() {
      @Override
      public List<Server> liveServers() {
        return servers;
      }

      @Override
      public Optional<Server> server(String uuid) {
        return servers.stream().filter(s -> s.uuid().equals(uuid)).findFirst();
      }

      @Override
      public Optional<Disk> disk(String uuid) {
        return servers.stream()
            .flatMap(s -> s.disks().stream())
            .filter(d -> d.storageUuid().equals(uuid))
            .findFirst();
      }

      @Override
      public boolean inSafeMode() {
        return false;
      }
    };
  }

  // ---- stripes ----------------------------------------------------------------------------------

  /** Reads every member from its disk and computes every parity out of the data. */
  private void stripe(StripeRow row, Disks disks) throws IOException {
    ErasureCode code = Codes.byName(row.getCode());
    Map<Integer, byte[]> bytes = new HashMap<>();
    for (StripeMemberProto member : row.getMembersList()) {
      List<Path> files = new ArrayList<>();
      disks
          .byStorage()
          .values()
          .forEach(
              blocks -> Optional.ofNullable(blocks.get(member.getBlockId())).ifPresent(files::add));
      if (files.size() != 1) {
        report(
            "stripe %d: position %d (block %d) has %d replicas: %s",
            row.getId(), member.getPosition(), member.getBlockId(), files.size(), files);
      }
      if (!files.isEmpty()) {
        bytes.put(member.getPosition(), Files.readAllBytes(files.get(0)));
      }
    }
    if (bytes.size() < row.getMembersCount()) {
      return;
    }
    for (int position : bytes.keySet()) {
      if (position >= code.dataCount()) {
        byte[] parity = parity(code, position, bytes, bytes.get(position).length);
        int differs = Arrays.mismatch(parity, bytes.get(position));
        if (differs >= 0) {
          report(
              "stripe %d in %s: %s does not follow from the data at byte %d",
              row.getId(), code, code.position(position).name(), differs);
        }
      }
    }
  }

  private static byte[] parity(
      ErasureCode code, int position, Map<Integer, byte[]> bytes, int length) {
    byte[] sum = new byte[length];
    for (int d = 0; d < code.dataCount(); d++) {
      int coefficient = code.generator().get(position, d);
      if (coefficient != 0 && bytes.containsKey(d)) {
        Gf256.addMultiple(sum, coefficient, Arrays.copyOf(bytes.get(d), length));
      }
    }
    return sum;
  }

  /** Each server compares the data of all its blocks with their checksums. */
  private void blocks(StoreCopy copy, Disks disks) throws IOException {
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
