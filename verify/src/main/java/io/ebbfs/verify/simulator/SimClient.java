package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.tree.DeleteService;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Target;
import io.ebbfs.namenode.replicas.BlockService.WriteRequest;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * Writes and deletes files. One transaction opens a file, and one closes it after the replicas of
 * all blocks have been reported. The namenode's own code deletes it.
 */
final class SimClient {
  private static final long ROOT = Inode.ROOT_ID;
  private static final int REPLICATION = 3;

  private final SimCluster cluster;
  private final Oracle oracle;
  private final Random random;

  SimClient(SimCluster cluster, Oracle oracle, Random random) {
    this.cluster = cluster;
    this.oracle = oracle;
    this.random = random;
  }

  /** The parts of the namenode that a client calls. */
  record Namenode(
      MetadataStore store,
      BlockService blocks,
      DeleteService deletions,
      Caller caller,
      IdGenerators ids,
      DatanodeProtocol datanodes) {}

  /** A block that the client is writing. */
  private record Written(BlockRow row, List<Target> targets) {}

  // ---- write ------------------------------------------------------------------------------------

  /** Writes a file; it is acknowledged when this returns. */
  void write(Namenode namenode, int blockCount, int maxLength) throws IOException {
    // On small disks the client asks for one byte, so that disks become full.
    boolean tight = cluster.isTight();
    List<Written> written = new ArrayList<>();
    for (int b = 0; b < blockCount; b++) {
      List<Target> targets = targets(namenode, tight ? 1 : maxLength);
      if (targets.isEmpty()) {
        return;
      }
      long length = random.nextInt(3) == 0 ? maxLength : 1 + random.nextInt(maxLength);
      BlockRow row =
          BlockRow.newBuilder()
              .setBlockId(namenode.ids().blocks().next())
              .setGenerationStamp(namenode.ids().generationStamps().next())
              .setLengthBytes(length)
              .setState(BlockStateProto.UNDER_CONSTRUCTION)
              .setReplication(REPLICATION)
              .build();
      written.add(new Written(row, targets));
    }
    long fileId = namenode.ids().inodes().next();
    putFile(namenode, fileId, written, false);
    if (!send(namenode, written)) {
      delete(namenode, fileId);
      return;
    }
    putFile(namenode, fileId, written, true);
    Map<Long, Long> lengths = new TreeMap<>();
    written.forEach(w -> lengths.put(w.row().getBlockId(), w.row().getLengthBytes()));
    oracle.acknowledge(fileId, lengths);
  }

  private List<Target> targets(Namenode namenode, int length) {
    try {
      List<Target> targets =
          namenode
              .blocks()
              .chooseTargets(new WriteRequest("/f", REPLICATION, length, "", Set.of(), Set.of()));
      boolean allUp = targets.stream().allMatch(t -> answers(t.server().uuid()));
      // With fewer replicas the next fault could lose the block before it is replicated.
      return allUp && targets.size() == REPLICATION ? targets : List.of();
    } catch (IOException e) {
      return List.of(); // There is no place now. A real client would try again.
    }
  }

  private boolean answers(String serverUuid) {
    SimServer server = cluster.server(serverUuid);
    return server != null && server.answers();
  }

  /** Returns false if a disk is full, or has failed and the namenode does not know it yet. */
  private boolean send(Namenode namenode, List<Written> written) throws IOException {
    for (Written block : written) {
      for (Target target : block.targets()) {
        SimServer server = cluster.server(target.server().uuid());
        SimDisk disk = server.disk(target.disk().storageUuid());
        if (disk == null || disk.hasFailed() || disk.free() < block.row().getLengthBytes()) {
          return false;
        }
        server.store(
            disk,
            cluster.write(
                block.row().getBlockId(),
                block.row().getGenerationStamp(),
                block.row().getLengthBytes()));
      }
    }
    for (Written block : written) {
      for (Target target : block.targets()) {
        cluster.server(target.server().uuid()).incrementalReport(namenode.datanodes());
      }
    }
    return true;
  }

  private static void putFile(
      Namenode namenode, long fileId, List<Written> written, boolean complete) throws IOException {
    byte[] name = ("file-" + fileId).getBytes(StandardCharsets.UTF_8);
    namenode
        .store()
        .transact(
            fileId,
            transaction -> {
              transaction.lock(List.of(RowLock.exclusive(Tables.INODE, Tables.inode(ROOT, name))));
              InodeRow.Builder inode =
                  InodeRow.newBuilder()
                      .setId(fileId)
                      .setKind(InodeKindProto.FILE)
                      .setOwner("sim")
                      .setGroup("sim")
                      .setPermission(0644)
                      .setModifiedMillis(0)
                      .setReplication(REPLICATION)
                      .setBlocks(written.size());
              if (!complete) {
                inode.getUnderConstructionBuilder().setClientName("sim").setClientMachine("");
              }
              transaction.put(Tables.INODE, Tables.inode(ROOT, name), inode.build());
              transaction.put(
                  Tables.INODE_NAME,
                  Tables.inodeName(fileId),
                  InodeNameRow.newBuilder()
                      .setParentId(ROOT)
                      .setName(ByteString.copyFrom(name))
                      .build());
              for (int index = 0; index < written.size(); index++) {
                BlockRow row =
                    written.get(index).row().toBuilder()
                        .setState(
                            complete
                                ? BlockStateProto.COMPLETE
                                : BlockStateProto.UNDER_CONSTRUCTION)
                        .build();
                transaction.put(Tables.BLOCK, Tables.block(fileId, index), row);
                transaction.put(
                    Tables.BLOCK_OWNER,
                    Tables.blockOwner(row.getBlockId()),
                    BlockOwnerRow.newBuilder().setOwnerId(fileId).setIndex(index).build());
              }
              return null;
            });
  }

  // ---- delete -----------------------------------------------------------------------------------

  /** Deletes a file; the reaper removes its rows later. */
  void delete(Namenode namenode, long fileId) throws IOException {
    oracle.forget(fileId);
    namenode.deletions().delete(namenode.caller(), "/file-" + fileId, false);
  }

  /** Deletes the files that were open when the namenode died. Stands in for lease recovery. */
  void removeUnfinished(Namenode namenode) throws IOException {
    for (Row<InodeRow> row : namenode.store().scanAll(Tables.INODE, null, Integer.MAX_VALUE)) {
      if (row.value().hasUnderConstruction()) {
        delete(namenode, row.value().getId());
      }
    }
  }
}
