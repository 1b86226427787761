package io.ebbfs.verify.scale;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.ServerRow;
import io.ebbfs.protocol.proto.StoreProtos.StorageReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.StorageRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * Writes the rows of a namespace that nobody has stored: directories of a thousand files of one
 * block of 1 MiB, and one directory of any number of such files. Of a hundred files, 81 are in the
 * compact code, 9 in the fast code, and 10 have three replicas. The chunk servers that the rows
 * name exist in the rows only.
 */
final class SyntheticNamespace {
  static final String POLICY = "data";
  static final long BLOCK_BYTES = 1 << 20;
  static final long STAMP = 1_001;

  /** The directory of everything; the policy has this path. */
  static final String ROOT = "/data";

  /** The directory of many files. */
  static final String FLAT = "flat";

  private static final int FILES_PER_DIRECTORY = 1_000;
  private static final int REPLICAS = 3;

  private final MetadataStore store;
  private final IdGenerators ids;
  private final int servers;
  private final int disks;
  private final ErasureCode fast = Codes.byName("PC(2x5)");
  private final ErasureCode compact = Codes.byName("PC(6x5)");
  private final long modifiedMillis;
  private final Listener listener;
  private long root;
  private int nextDisk;

  /** Hears of every replica. */
  interface Listener {
    void replica(int server, int disk, long blockId) throws IOException;
  }

  SyntheticNamespace(
      MetadataStore store, int servers, int disks, long modifiedMillis, Listener listener) {
    this.listener = listener;
    this.store = store;
    this.ids = IdGenerators.of(store);
    this.servers = servers;
    this.disks = disks;
    this.modifiedMillis = modifiedMillis;
  }

  static String server(int number) {
    return "server-%05d".formatted(number);
  }

  static String disk(int server, int disk) {
    return "DS-%05d-%02d".formatted(server, disk);
  }

  /** The number of a disk in the rows. */
  static long diskNumber(int server, int disk, int disks) {
    return (long) server * disks + disk + 1;
  }

  private interface Rows {
    void write(Transaction transaction) throws IOException;
  }

  private void write(Rows rows) throws IOException {
    store.transact(
        0,
        Durability.RELAXED,
        transaction -> {
          rows.write(transaction);
          return null;
        });
  }

  /** Tells how many files are written, now and then. */
  interface Progress {
    void written(long files);
  }

  /**
   * Writes the rows.
   *
   * @param inOneDirectory so many of the files are in {@link #FLAT}, the others in directories of a
   *     thousand
   */
  void fill(long files, long inOneDirectory, Progress progress) throws IOException {
    for (int server = 0; server < servers; server++) {
      int number = server;
      write(t -> t.put(Tables.SERVER, Tables.named(server(number)), serverRow(number)));
    }
    root = ids.inodes().next();
    write(t -> directory(t, Inode.ROOT_ID, ROOT.substring(1), root));
    long spread = files - inOneDirectory;
    for (long done = 0; done < spread; done += FILES_PER_DIRECTORY) {
      long count = Math.min(FILES_PER_DIRECTORY, spread - done);
      String name = "d%06d".formatted(done / FILES_PER_DIRECTORY);
      write(t -> fillDirectory(t, newDirectory(t, name), "f%03d", 0, (int) count));
      progress.written(done + count);
    }
    fillFlat(inOneDirectory, done -> progress.written(spread + done));
  }

  private void fillFlat(long files, Progress progress) throws IOException {
    if (files == 0) {
      return;
    }
    long[] flat = {0};
    write(t -> flat[0] = newDirectory(t, FLAT));
    for (long done = 0; done < files; done += FILES_PER_DIRECTORY) {
      long first = done;
      long count = Math.min(FILES_PER_DIRECTORY, files - done);
      write(t -> fillDirectory(t, flat[0], "f%08d", first, (int) count));
      progress.written(done + count);
    }
  }

  private long newDirectory(Transaction transaction, String name) throws IOException {
    long directory = ids.inodes().next();
    directory(transaction, root, name, directory);
    return directory;
  }

  private ServerRow serverRow(int server) {
    ServerRow.Builder row =
        ServerRow.newBuilder()
            .setUuid(server(server))
            .setHostName("localhost")
            .setIpAddress("127.0.0.1")
            .setTransferPort(10_000 + server)
            .setInfoPort(0)
            .setIpcPort(20_000 + server)
            .setRack("/rack-" + server % 20);
    for (int disk = 0; disk < disks; disk++) {
      row.addStorages(
          StorageRow.newBuilder()
              .setUuid(disk(server, disk))
              .setNumber(diskNumber(server, disk, disks))
              .setFailed(false));
    }
    return row.build();
  }

  private void directory(Transaction transaction, long parent, String name, long id) {
    inode(
        transaction,
        parent,
        name,
        InodeRow.newBuilder()
            .setId(id)
            .setKind(InodeKindProto.DIRECTORY)
            .setOwner("sim")
            .setGroup("sim")
            .setPermission(0755)
            .setModifiedMillis(modifiedMillis)
            .build());
  }

  private static void inode(Transaction transaction, long parent, String name, InodeRow row) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    transaction.put(Tables.INODE, Tables.inode(parent, bytes), row);
    transaction.put(
        Tables.INODE_NAME,
        Tables.inodeName(row.getId()),
        InodeNameRow.newBuilder().setParentId(parent).setName(ByteString.copyFrom(bytes)).build());
  }

  /**
   * Files of a directory, as many as one transaction takes.
   *
   * @param first the number of the first of them
   */
  private void fillDirectory(
      Transaction transaction, long directory, String format, long first, int count)
      throws IOException {
    List<Long> files = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long id = ids.inodes().next();
      files.add(id);
      inode(
          transaction,
          directory,
          format.formatted(first + i),
          InodeRow.newBuilder()
              .setId(id)
              .setKind(InodeKindProto.FILE)
              .setOwner("sim")
              .setGroup("sim")
              .setPermission(0644)
              .setModifiedMillis(modifiedMillis)
              .setBlockSizeBytes(BLOCK_BYTES)
              .setReplication(REPLICAS)
              .setLengthBytes(BLOCK_BYTES)
              .setBlocks(1)
              .build());
    }
    int encoded = count / 100 * 90;
    int inFast = encoded / 10 / fast.dataCount() * fast.dataCount();
    int next = 0;
    while (next < encoded) {
      ErasureCode code = next < inFast ? fast : compact;
      int data = Math.min(code.dataCount(), encoded - next);
      stripe(transaction, code, files.subList(next, next + data));
      next += data;
    }
    for (long file : files.subList(encoded, count)) {
      replicated(transaction, file);
    }
  }

  private void replicated(Transaction transaction, long file) throws IOException {
    long block = ids.blocks().next();
    block(transaction, file, 0, block, REPLICAS, 0, 0);
    for (int i = 0; i < REPLICAS; i++) {
      replica(transaction, file, block);
    }
  }

  private void stripe(Transaction transaction, ErasureCode code, List<Long> files)
      throws IOException {
    long id = ids.inodes().next();
    StripeRow.Builder row =
        StripeRow.newBuilder()
            .setId(id)
            .setCode(code.name())
            .setUnitLengthBytes(BLOCK_BYTES)
            .setGeneration(1)
            .setPolicy(POLICY)
            .setCreatedMillis(modifiedMillis);
    for (int position = 0; position < code.size(); position++) {
      boolean parity = position >= code.dataCount();
      if (!parity && position >= files.size()) {
        continue;
      }
      long block = ids.blocks().next();
      long owner = parity ? id : files.get(position);
      int index = parity ? position : 0;
      block(transaction, owner, index, block, 1, id, position);
      replica(transaction, owner, block);
      row.addMembers(
          StripeMemberProto.newBuilder()
              .setPosition(position)
              .setBlockId(block)
              .setGenerationStamp(STAMP)
              .setLengthBytes(BLOCK_BYTES)
              .setOwnerId(owner)
              .setOwnerIndex(index));
    }
    transaction.put(Tables.STRIPE, Tables.stripe(id), row.build());
  }

  private static void block(
      Transaction transaction,
      long owner,
      int index,
      long block,
      int replication,
      long stripe,
      int position) {
    BlockRow.Builder row =
        BlockRow.newBuilder()
            .setBlockId(block)
            .setGenerationStamp(STAMP)
            .setLengthBytes(BLOCK_BYTES)
            .setState(BlockStateProto.COMPLETE)
            .setReplication(replication);
    if (stripe != 0) {
      row.setStripeId(stripe).setStripePosition(position);
    }
    transaction.put(Tables.BLOCK, Tables.block(owner, index), row.build());
    transaction.put(
        Tables.BLOCK_OWNER,
        Tables.blockOwner(block),
        BlockOwnerRow.newBuilder().setOwnerId(owner).setIndex(index).build());
  }

  /** On the next disk, of the next server: blocks of a stripe never share a server. */
  private void replica(Transaction transaction, long owner, long block) throws IOException {
    int server = nextDisk % servers;
    int disk = nextDisk / servers % disks;
    nextDisk = (nextDisk + 1) % (servers * disks);
    transaction.put(
        Tables.REPLICA,
        Tables.replica(owner, block, disk(server, disk)),
        ReplicaRow.newBuilder()
            .setState(ReplicaStateProto.FINALIZED)
            .setGenerationStamp(STAMP)
            .setLengthBytes(BLOCK_BYTES)
            .build());
    transaction.put(
        Tables.STORAGE_REPLICA,
        Tables.storageReplica(diskNumber(server, disk, disks), block),
        StorageReplicaRow.getDefaultInstance());
    listener.replica(server, disk, block);
  }
}
