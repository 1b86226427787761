package io.ebbfs.verify.scale;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.SortedRows;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongConsumer;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * Makes the rows of some files of a {@link SyntheticNamespace}: of whole directories, or of a range
 * of the files of one directory. All ids rise from one directory to the next. Used by one thread.
 */
final class SyntheticPart {
  static final int FILES_PER_DIRECTORY = 1_000;
  private static final int REPLICAS = 3;
  private static final ErasureCode FAST = Codes.byName("PC(2x5)");
  private static final ErasureCode COMPACT = Codes.byName("PC(6x5)");

  /** So many disks further, the next part begins. */
  private static final int DISKS_BETWEEN_PARTS = 739;

  /**
   * Which files.
   *
   * @param parent the directory of the files, or of their directories
   * @param flat whether all files are in that directory
   * @param first the number of the first file
   */
  record Files(long parent, boolean flat, long first, long count) {}

  /** Hears of every replica. */
  interface Listener {
    void replica(int server, int disk, long blockId) throws IOException;
  }

  /** Chooses the next disk, of the next server: blocks of a stripe never share a server. */
  static final class Disks {
    private final int servers;
    private final int disks;
    private int next;

    Disks(int servers, int disks, int part) {
      this.servers = servers;
      this.disks = disks;
      this.next = (int) ((long) part * DISKS_BETWEEN_PARTS % ((long) servers * disks));
    }

    private void advance() {
      next = (next + 1) % (servers * disks);
    }

    private int server() {
      return next % servers;
    }

    private int disk() {
      return next / servers;
    }
  }

  private final Files files;
  private final long modifiedMillis;
  private final Disks disks;
  private long nextId;
  private long nextBlock;
  private SortedRows rows;
  private Listener listener;
  // Of the present thousand files. Owners are files and stripes, so the keys do not come in order.
  private final List<Row<BlockRow>> blocks = new ArrayList<>();
  private final List<Row<ReplicaRow>> replicas = new ArrayList<>();

  SyntheticPart(Files files, long firstId, long firstBlock, long modifiedMillis, Disks disks) {
    this.files = files;
    this.nextId = firstId;
    this.nextBlock = firstBlock;
    this.modifiedMillis = modifiedMillis;
    this.disks = disks;
  }

  /** More than the ids, and than the blocks, of so many files. */
  static long mostIds(long files) {
    return 2 * files + FILES_PER_DIRECTORY;
  }

  static Key key(long parent, String name) {
    return Tables.inode(parent, name.getBytes(StandardCharsets.UTF_8));
  }

  static InodeNameRow name(long parent, String name) {
    return InodeNameRow.newBuilder()
        .setParentId(parent)
        .setName(ByteString.copyFromUtf8(name))
        .build();
  }

  static InodeRow directory(long id, long modifiedMillis) {
    return InodeRow.newBuilder()
        .setId(id)
        .setKind(InodeKindProto.DIRECTORY)
        .setOwner("sim")
        .setGroup("sim")
        .setPermission(0755)
        .setModifiedMillis(modifiedMillis)
        .build();
  }

  /**
   * Writes all rows of the part, but those of disks and those that it returns.
   *
   * @param progress hears of more files that are written
   * @return the rows of the directories of the part in their parent
   */
  List<Row<InodeRow>> write(SortedRows rows, Listener listener, LongConsumer progress)
      throws IOException {
    this.rows = rows;
    this.listener = listener;
    List<Row<InodeRow>> directories = new ArrayList<>();
    for (long done = 0; done < files.count(); done += FILES_PER_DIRECTORY) {
      if (Thread.interrupted()) {
        throw new InterruptedIOException("interrupted while rows were written");
      }
      int count = (int) Math.min(FILES_PER_DIRECTORY, files.count() - done);
      if (files.flat()) {
        writeFiles(files.parent(), "f%08d", files.first() + done, count);
      } else {
        writeFiles(newDirectory(files.first() + done, directories), "f%03d", 0, count);
      }
      addSorted(Tables.BLOCK, blocks);
      addSorted(Tables.REPLICA, replicas);
      progress.accept(count);
    }
    return directories;
  }

  private long newDirectory(long firstFile, List<Row<InodeRow>> directories) throws IOException {
    long id = nextId++;
    String name = "d%06d".formatted(firstFile / FILES_PER_DIRECTORY);
    directories.add(new Row<>(key(files.parent(), name), directory(id, modifiedMillis)));
    rows.add(Tables.INODE_NAME, Tables.inodeName(id), name(files.parent(), name));
    return id;
  }

  private <V extends MessageLite> void addSorted(Table<V> table, List<Row<V>> some)
      throws IOException {
    some.sort(Comparator.comparing(Row::key));
    for (Row<V> row : some) {
      rows.add(table, row.key(), row.value());
    }
    some.clear();
  }

  /**
   * Files of a directory.
   *
   * @param first the number of the first of them in their names
   */
  private void writeFiles(long directory, String format, long first, int count) throws IOException {
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long id = nextId++;
      ids.add(id);
      String name = format.formatted(first + i);
      rows.add(Tables.INODE, key(directory, name), file(id));
      rows.add(Tables.INODE_NAME, Tables.inodeName(id), name(directory, name));
    }
    int encoded = count / 100 * 90;
    int inFast = encoded / 10 / FAST.dataCount() * FAST.dataCount();
    int next = 0;
    while (next < encoded) {
      ErasureCode code = next < inFast ? FAST : COMPACT;
      int data = Math.min(code.dataCount(), encoded - next);
      stripe(code, ids.subList(next, next + data));
      next += data;
    }
    for (long id : ids.subList(encoded, count)) {
      replicated(id);
    }
  }

  private InodeRow file(long id) {
    return InodeRow.newBuilder()
        .setId(id)
        .setKind(InodeKindProto.FILE)
        .setOwner("sim")
        .setGroup("sim")
        .setPermission(0644)
        .setModifiedMillis(modifiedMillis)
        .setBlockSizeBytes(SyntheticNamespace.BLOCK_BYTES)
        .setReplication(REPLICAS)
        .setLengthBytes(SyntheticNamespace.BLOCK_BYTES)
        .setBlocks(1)
        .build();
  }

  private void replicated(long file) throws IOException {
    long block = nextBlock++;
    block(file, 0, block, REPLICAS, 0, 0);
    for (int i = 0; i < REPLICAS; i++) {
      replica(file, block);
    }
  }

  private void stripe(ErasureCode code, List<Long> owners) throws IOException {
    long id = nextId++;
    StripeRow.Builder row =
        StripeRow.newBuilder()
            .setId(id)
            .setCode(code.name())
            .setUnitLengthBytes(SyntheticNamespace.BLOCK_BYTES)
            .setGeneration(1)
            .setPolicy(SyntheticNamespace.POLICY)
            .setCreatedMillis(modifiedMillis);
    for (int position = 0; position < code.size(); position++) {
      boolean parity = position >= code.dataCount();
      if (!parity && position >= owners.size()) {
        continue;
      }
      long block = nextBlock++;
      long owner = parity ? id : owners.get(position);
      int index = parity ? position : 0;
      block(owner, index, block, 1, id, position);
      replica(owner, block);
      row.addMembers(
          StripeMemberProto.newBuilder()
              .setPosition(position)
              .setBlockId(block)
              .setGenerationStamp(SyntheticNamespace.STAMP)
              .setLengthBytes(SyntheticNamespace.BLOCK_BYTES)
              .setOwnerId(owner)
              .setOwnerIndex(index));
    }
    rows.add(Tables.STRIPE, Tables.stripe(id), row.build());
  }

  private void block(long owner, int index, long block, int replication, long stripe, int position)
      throws IOException {
    BlockRow.Builder row =
        BlockRow.newBuilder()
            .setBlockId(block)
            .setGenerationStamp(SyntheticNamespace.STAMP)
            .setLengthBytes(SyntheticNamespace.BLOCK_BYTES)
            .setState(BlockStateProto.COMPLETE)
            .setReplication(replication);
    if (stripe != 0) {
      row.setStripeId(stripe).setStripePosition(position);
    }
    blocks.add(new Row<>(Tables.block(owner, index), row.build()));
    rows.add(
        Tables.BLOCK_OWNER,
        Tables.blockOwner(block),
        BlockOwnerRow.newBuilder().setOwnerId(owner).setIndex(index).build());
  }

  private void replica(long owner, long block) throws IOException {
    replicas.add(
        new Row<>(
            Tables.replica(owner, block, SyntheticNamespace.disk(disks.server(), disks.disk())),
            ReplicaRow.newBuilder()
                .setState(ReplicaStateProto.FINALIZED)
                .setGenerationStamp(SyntheticNamespace.STAMP)
                .setLengthBytes(SyntheticNamespace.BLOCK_BYTES)
                .build()));
    listener.replica(disks.server(), disks.disk(), block);
    disks.advance();
  }
}
