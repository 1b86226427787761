package io.ebbfs.verify.scale;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.RocksDbStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.SortedRows;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ServerRow;
import io.ebbfs.protocol.proto.StoreProtos.StorageReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.StorageRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes the rows of a namespace that nobody has stored: directories of a thousand files of one
 * block of 1 MiB, and one directory of any number of such files. Of a hundred files, 81 are in the
 * compact code, 9 in the fast code, and 10 have three replicas. The chunk servers that the rows
 * name exist in the rows only.
 *
 * <p>Some threads write {@link SyntheticPart}s, whose keys do not overlap, as sorted files. The
 * rows of a disk belong to all parts, so they come at the end, from {@link ServerBlocks}. No memory
 * grows with the number of files.
 */
final class SyntheticNamespace {
  static final String POLICY = "data";
  static final long BLOCK_BYTES = 1 << 20;
  static final long STAMP = 1_001;

  /** Every replica was named by a full report before. */
  private static final StorageReplicaRow VERIFIED =
      StorageReplicaRow.newBuilder()
          .setVerifiedGenerationStamp(STAMP)
          .setVerifiedLengthBytes(BLOCK_BYTES)
          .build();

  /** The directory of everything; the policy has this path. */
  static final String ROOT = "/data";

  /** The directory of many files. */
  static final String FLAT = "flat";

  /** The store has few files if parts are large. */
  private static final int MOST_FILES_OF_A_PART = 1_000_000;

  /** For each thread, so that none waits for another one for long. */
  private static final int PARTS_PER_THREAD = 4;

  private static final int SERVERS_OF_A_PART = 20;

  private final RocksDbStore store;
  private final ServerBlocks serverBlocks;
  private final int servers;
  private final int disks;
  private final int threads;
  private final long modifiedMillis;
  private final IdGenerators ids;
  private final AtomicLong written = new AtomicLong();

  /** Hears how many files are written. Thread-safe. If it throws, the writing ends. */
  interface Progress {
    void written(long files);
  }

  /**
   * @param store without files
   * @param serverBlocks gets the blocks of all servers, and is closed then
   * @param modifiedMillis when the files were written
   */
  SyntheticNamespace(
      RocksDbStore store,
      ServerBlocks serverBlocks,
      int servers,
      int disks,
      int threads,
      long modifiedMillis) {
    this.store = store;
    this.serverBlocks = serverBlocks;
    this.servers = servers;
    this.disks = disks;
    this.threads = threads;
    this.modifiedMillis = modifiedMillis;
    this.ids = IdGenerators.of(store);
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

  /**
   * Writes the rows.
   *
   * @param inOneDirectory so many of the files are in {@link #FLAT}, the others in directories of a
   *     thousand
   */
  void fill(long files, long inOneDirectory, Progress progress) throws Exception {
    store.changes().open();
    writeServers();
    long root = newDirectory(Inode.ROOT_ID, ROOT.substring(1));
    long flat = inOneDirectory > 0 ? newDirectory(root, FLAT) : 0;
    List<SyntheticPart> parts = new ArrayList<>();
    addParts(parts, root, false, files - inOneDirectory);
    addParts(parts, flat, true, inOneDirectory);
    sideBySide(parts.stream().map(part -> fileRows(part, progress)).toList());
    serverBlocks.close();
    List<Callable<Void>> rest = new ArrayList<>();
    for (int server = 0; server < servers; server += SERVERS_OF_A_PART) {
      rest.add(diskRows(server, Math.min(servers, server + SERVERS_OF_A_PART)));
    }
    sideBySide(rest);
    store.changes().fold();
  }

  private void writeServers() throws IOException {
    store.transact(
        0,
        Durability.RELAXED,
        transaction -> {
          for (int server = 0; server < servers; server++) {
            transaction.put(Tables.SERVER, Tables.named(server(server)), serverRow(server));
          }
          return null;
        });
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

  private long newDirectory(long parent, String name) throws IOException {
    long id = ids.inodes().next();
    store.transact(
        parent,
        Durability.RELAXED,
        transaction -> {
          transaction.put(
              Tables.INODE,
              SyntheticPart.key(parent, name),
              SyntheticPart.directory(id, modifiedMillis));
          transaction.put(
              Tables.INODE_NAME, Tables.inodeName(id), SyntheticPart.name(parent, name));
          return null;
        });
    return id;
  }

  /** Divides files of a directory into parts, which get ids that nobody else uses. */
  private void addParts(List<SyntheticPart> parts, long parent, boolean flat, long files)
      throws IOException {
    long directories = -Math.floorDiv(-files, SyntheticPart.FILES_PER_DIRECTORY);
    long some = -Math.floorDiv(-directories, (long) threads * PARTS_PER_THREAD);
    long size = Math.min(some * SyntheticPart.FILES_PER_DIRECTORY, MOST_FILES_OF_A_PART);
    for (long first = 0; first < files; first += size) {
      long count = Math.min(size, files - first);
      parts.add(
          new SyntheticPart(
              new SyntheticPart.Files(parent, flat, first, count),
              firstOf(ids.inodes(), SyntheticPart.mostIds(count)),
              firstOf(ids.blocks(), SyntheticPart.mostIds(count)),
              modifiedMillis,
              new SyntheticPart.Disks(servers, disks, parts.size())));
    }
  }

  /** The first of some consecutive ids, which the sequence gives to nobody else. */
  private static long firstOf(IdGenerator sequence, long count) throws IOException {
    long first = sequence.next();
    sequence.skip(count);
    return first;
  }

  private Callable<Void> fileRows(SyntheticPart part, Progress progress) {
    return () -> {
      List<Row<InodeRow>> directories;
      try (SortedRows rows = store.sortedRows()) {
        directories =
            part.write(rows, serverBlocks::add, more -> progress.written(written.addAndGet(more)));
        rows.finish();
      }
      store.transact(
          0,
          Durability.RELAXED,
          transaction -> {
            directories.forEach(row -> transaction.put(Tables.INODE, row.key(), row.value()));
            return null;
          });
      return null;
    };
  }

  private Callable<Void> diskRows(int fromServer, int toServer) {
    return () -> {
      try (SortedRows rows = store.sortedRows()) {
        for (int server = fromServer; server < toServer; server++) {
          List<List<Long>> blocks = serverBlocks.read(server);
          for (int disk = 0; disk < disks; disk++) {
            long number = diskNumber(server, disk, disks);
            for (long block : blocks.get(disk)) {
              rows.add(Tables.STORAGE_REPLICA, Tables.storageReplica(number, block), VERIFIED);
            }
          }
        }
        rows.finish();
      }
      return null;
    };
  }

  /** Does all work in some threads. The first failure ends the work. */
  private void sideBySide(List<Callable<Void>> work) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      ExecutorCompletionService<Void> running = new ExecutorCompletionService<>(pool);
      work.forEach(running::submit);
      for (int i = 0; i < work.size(); i++) {
        running.take().get();
      }
    } catch (ExecutionException e) {
      throw new IOException("rows cannot be written: " + e.getCause().getMessage(), e.getCause());
    } finally {
      pool.shutdownNow();
      pool.awaitTermination(1, TimeUnit.MINUTES);
    }
  }
}
