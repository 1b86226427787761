package io.ebbfs.verify.audit;

import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.verify.cluster.DiskInventory;
import io.ebbfs.verify.cluster.VerifyCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Compares the replica rows of the metadata with the block files on the disks, one by one. */
final class ReplicaDifferences {
  private ReplicaDifferences() {}

  /**
   * Every difference of replica rows and block files, for people.
   *
   * @return null if there is none
   */
  static String between(VerifyCluster cluster) throws IOException {
    List<String> differences = new ArrayList<>();
    DiskInventory disks;
    Map<String, Set<Long>> known = new TreeMap<>();
    try (StoreCopy copy = StoreCopy.of(cluster.directory())) {
      disks = DiskInventory.read(cluster.local());
      for (Row<ReplicaRow> row : copy.all(Tables.REPLICA)) {
        String storage = Tables.replicaStorage(row.key());
        long blockId = row.key().firstLong();
        known.computeIfAbsent(storage, s -> new TreeSet<>()).add(blockId);
        Path file = disks.byStorage().getOrDefault(storage, Map.of()).get(blockId);
        if (file == null
            || row.value().getState() != ReplicaStateProto.FINALIZED
            || sizeOf(file) != row.value().getLengthBytes()) {
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
    disks.strayFiles().forEach(file -> differences.add("stray file: " + file));
    return differences.isEmpty() ? null : String.join("; ", differences);
  }

  /** The size in bytes, or -1 if a running server has deleted the file since it was listed. */
  private static long sizeOf(Path file) throws IOException {
    try {
      return Files.size(file);
    } catch (NoSuchFileException e) {
      return -1;
    }
  }
}
