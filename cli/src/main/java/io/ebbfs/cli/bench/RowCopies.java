package io.ebbfs.cli.bench;

import io.ebbfs.namenode.files.inodes.DirectoryRows;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.replicas.ReplicaRows;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.RocksDbStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ServerRow;
import io.ebbfs.protocol.proto.StoreProtos.StorageReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.StorageRow;
import io.ebbfs.workloads.metadata.CopiedTree;
import io.ebbfs.workloads.metadata.NewBlocks;
import io.ebbfs.workloads.metadata.StoreCopies;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * Copies files in the store of a namenode that does not run. Each copy has the rows that calls of
 * clients have written for the first file, with other ids, which come from the store's own
 * sequences.
 */
final class RowCopies implements StoreCopies {
  private static final long CACHE_BYTES = 128L << 20;
  private static final long LOCK_TIMEOUT_MILLIS = 10_000;

  /** A transaction has the rows of so many files, so that it fits into memory. */
  private static final int FILES_PER_TRANSACTION = 1000;

  @Override
  public long copy(Path data, CopiedTree tree, NewBlocks blocks) throws IOException {
    Path directory = data.resolve("metadata");
    try (RocksDbStore store = RocksDbStore.open(directory, LOCK_TIMEOUT_MILLIS, CACHE_BYTES)) {
      Filling filling = Filling.of(store, tree, blocks);
      filling.run();
      store.sync();
      return tree.files() * filling.bytesOfFile();
    }
  }

  /** A block of the first file, and the disks that hold it. */
  private record FirstBlock(BlockRow row, List<ReplicaRows.Replica> replicas) {}

  /** What the copies are made of. */
  private record Filling(
      MetadataStore store,
      IdGenerators ids,
      CopiedTree tree,
      NewBlocks made,
      Inode directory,
      Inode file,
      List<FirstBlock> blocks,
      Map<String, Long> storageNumbers) {

    static Filling of(MetadataStore store, CopiedTree tree, NewBlocks made) throws IOException {
      return store.transact(
          Inode.ROOT_ID,
          Durability.RELAXED,
          transaction -> {
            ResolvedPath first = PathResolver.resolve(transaction, tree.firstFile());
            Inode file = first.requireFile();
            return new Filling(
                store,
                IdGenerators.of(store),
                tree,
                made,
                first.parent().orElseThrow(),
                file,
                blocksOf(transaction, file),
                storageNumbers(store));
          });
    }

    private static List<FirstBlock> blocksOf(Transaction transaction, Inode file)
        throws IOException {
      List<FirstBlock> blocks = new ArrayList<>();
      for (Row<BlockRow> row : transaction.scan(Tables.BLOCK, file.id())) {
        long id = row.value().getBlockId();
        blocks.add(new FirstBlock(row.value(), ReplicaRows.of(transaction, file.id(), id)));
      }
      return blocks;
    }

    private static Map<String, Long> storageNumbers(MetadataStore store) throws IOException {
      Map<String, Long> numbers = new HashMap<>();
      for (Row<ServerRow> server : store.scanAll(Tables.SERVER, null, Integer.MAX_VALUE)) {
        for (StorageRow storage : server.value().getStoragesList()) {
          numbers.put(storage.getUuid(), storage.getNumber());
        }
      }
      return numbers;
    }

    void run() throws IOException {
      for (int number = 0; number < tree.directories(); number++) {
        long parent = number == 0 ? directory.id() : makeDirectory(number);
        int files = tree.filesIn(number);
        for (int from = number == 0 ? 1 : 0; from < files; from += FILES_PER_TRANSACTION) {
          copyFiles(parent, from, Math.min(files, from + FILES_PER_TRANSACTION));
        }
      }
    }

    /** Of the rows that lead to a file by its name and by its id. All names are equally long. */
    long bytesOfFile() {
      int name = file.key().rest().length;
      InodeNameRow row =
          InodeNameRow.newBuilder()
              .setParentId(file.parentId())
              .setName(ByteString.copyFrom(file.key().rest()))
              .build();
      return Long.BYTES
          + name
          + file.row().getSerializedSize()
          + Long.BYTES
          + row.getSerializedSize();
    }

    private long makeDirectory(int number) throws IOException {
      long id = ids.inodes().next();
      Key key = key(directory.parentId(), CopiedTree.directoryName(number));
      InodeRow row = directory.row().toBuilder().setId(id).build();
      store.transact(
          key.partition(),
          Durability.RELAXED,
          transaction -> DirectoryRows.put(transaction, key, row));
      return id;
    }

    private static Key key(long parentId, String name) {
      return Tables.inode(parentId, name.getBytes(StandardCharsets.US_ASCII));
    }

    /** The ids of a copy; the ids and stamps of its blocks in the order of the blocks. */
    private record NewFile(int number, long id, List<BlockRow> blocks) {}

    private void copyFiles(long parentId, int from, int to) throws IOException {
      List<NewFile> files = new ArrayList<>(to - from);
      for (int number = from; number < to; number++) {
        files.add(new NewFile(number, ids.inodes().next(), drawBlocks()));
      }
      store.transact(
          parentId,
          Durability.RELAXED,
          transaction -> {
            for (NewFile copy : files) {
              put(transaction, parentId, copy);
            }
            return null;
          });
      for (NewFile copy : files) {
        for (BlockRow block : copy.blocks()) {
          made.add(block.getBlockId(), block.getGenerationStamp());
        }
      }
    }

    private List<BlockRow> drawBlocks() throws IOException {
      List<BlockRow> rows = new ArrayList<>(blocks.size());
      for (FirstBlock block : blocks) {
        rows.add(
            block.row().toBuilder()
                .setBlockId(ids.blocks().next())
                .setGenerationStamp(ids.generationStamps().next())
                .build());
      }
      return rows;
    }

    private void put(Transaction transaction, long parentId, NewFile copy) {
      Key key = key(parentId, CopiedTree.fileName(copy.number()));
      DirectoryRows.put(transaction, key, file.row().toBuilder().setId(copy.id()).build());
      for (int index = 0; index < copy.blocks().size(); index++) {
        BlockRow block = copy.blocks().get(index);
        transaction.put(Tables.BLOCK, Tables.block(copy.id(), index), block);
        transaction.put(
            Tables.BLOCK_OWNER,
            Tables.blockOwner(block.getBlockId()),
            BlockOwnerRow.newBuilder().setOwnerId(copy.id()).setIndex(index).build());
        putReplicas(transaction, copy.id(), block, blocks.get(index).replicas());
      }
    }

    private void putReplicas(
        Transaction transaction, long ownerId, BlockRow block, List<ReplicaRows.Replica> first) {
      for (ReplicaRows.Replica replica : first) {
        transaction.put(
            Tables.REPLICA,
            Tables.replica(ownerId, block.getBlockId(), replica.storageUuid()),
            replica.row().toBuilder().setGenerationStamp(block.getGenerationStamp()).build());
        transaction.put(
            Tables.STORAGE_REPLICA,
            Tables.storageReplica(storageNumbers.get(replica.storageUuid()), block.getBlockId()),
            StorageReplicaRow.getDefaultInstance());
      }
    }
  }
}
