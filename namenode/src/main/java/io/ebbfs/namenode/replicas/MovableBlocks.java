package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.replicas.ReplicaRows.Replica;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongPredicate;
import org.apache.hadoop.fs.StorageType;

/**
 * The replicas of a server that HDFS's balancer may move elsewhere. The balancer knows racks, and
 * no stripes: so members of stripes are left out (EbbFS places those itself), as are blocks that a
 * transition holds, that are being written, and whose replicas are not exactly as many as wanted.
 *
 * <p>A call reads pages of rows, each in a transaction of its own, and a bounded number of them.
 * The next call for the same server goes on where it ended. Thread-safe.
 */
public final class MovableBlocks {
  private static final int PAGE = 250;
  private static final int MOST_ROWS = 20_000;
  private static final int MOST_BLOCKS = 2_000;

  /** Rows that are read for some blocks of a disk. */
  private static final int ROWS_FOR_SOME = 1_000;

  /**
   * A block that may be moved.
   *
   * @param ownerId of the file that has it
   * @param places the disks of its live replicas
   */
  public record Movable(BlockRow block, long ownerId, List<Disk> places) {}

  private final MetadataStore store;
  private final DatanodeRegistry cluster;
  // The last block that was read, by storage number.
  private final Map<Long, Long> reached = new ConcurrentHashMap<>();
  // Each call begins with the next disk of its server.
  private final AtomicInteger calls = new AtomicInteger();

  MovableBlocks(MetadataStore store, DatanodeRegistry cluster) {
    this.store = store;
    this.cluster = cluster;
  }

  /**
   * Blocks of a server, until their lengths reach a sum or the limits of a call are reached.
   *
   * @param sumBytes the wanted sum of the lengths
   * @param leastBytes shorter blocks are left out
   * @param type of the disks to look at; null for any
   */
  public List<Movable> of(Server server, long sumBytes, long leastBytes, StorageType type)
      throws IOException {
    Search search = new Search(sumBytes, leastBytes, MOST_BLOCKS, MOST_ROWS, blockId -> true);
    List<Disk> disks =
        server.disks().stream()
            .filter(disk -> !disk.failed() && (type == null || disk.type() == type))
            .toList();
    int first = calls.getAndIncrement();
    for (int i = 0; i < disks.size() && !search.isDone(); i++) {
      search.readDisk(disks.get(Math.floorMod(first + i, disks.size())));
    }
    return search.found;
  }

  /**
   * What a look at a part of a disk has found.
   *
   * @param members of stripes that are on the disk, as many as blocks were asked for
   * @param atEnd whether the look came to the end of the disk; the next one begins at its start
   */
  record Some(List<Movable> blocks, List<StoredBlock> members, boolean atEnd) {}

  /**
   * Some blocks of one disk, as {@link #of} tells those of a server.
   *
   * @param wanted which blocks may be named as members of stripes
   */
  Some some(Disk disk, int mostBlocks, LongPredicate wanted) throws IOException {
    Search search = new Search(Long.MAX_VALUE, 0, mostBlocks, ROWS_FOR_SOME, wanted);
    search.readDisk(disk);
    return new Some(search.found, List.copyOf(search.members.values()), search.atEnd);
  }

  /** The same of all disks of the server. */
  public List<Movable> of(Server server, long sumBytes, long leastBytes) throws IOException {
    return of(server, sumBytes, leastBytes, null);
  }

  private final class Search {
    private final long sumBytes;
    private final long leastBytes;
    private final List<Movable> found = new ArrayList<>();
    private final Map<Long, StoredBlock> members = new LinkedHashMap<>();
    private long bytes;
    private int rows;
    private boolean atEnd;

    private final int mostBlocks;
    private final int mostRows;
    private final LongPredicate wantedMembers;

    Search(
        long sumBytes, long leastBytes, int mostBlocks, int mostRows, LongPredicate wantedMembers) {
      this.sumBytes = sumBytes;
      this.leastBytes = leastBytes;
      this.mostBlocks = mostBlocks;
      this.mostRows = mostRows;
      this.wantedMembers = wantedMembers;
    }

    boolean isDone() {
      return bytes >= sumBytes || rows >= mostRows || found.size() >= mostBlocks;
    }

    /** Reads the rows from where an earlier call has ended, and at the end of the disk the rest. */
    void readDisk(Disk disk) throws IOException {
      long begun = reached.getOrDefault(disk.storageNumber(), 0L);
      read(disk, begun, Long.MAX_VALUE);
      if (!isDone()) {
        atEnd = true;
        read(disk, 0, begun);
      }
    }

    /** Reads the rows of the blocks behind one, up to another. */
    private void read(Disk disk, long after, long last) throws IOException {
      long at = after;
      boolean isLast = false;
      while (!isDone() && !isLast) {
        List<Long> ids =
            StorageBlocks.page(store, disk.storageNumber(), at, PAGE).stream()
                .filter(id -> id <= last)
                .toList();
        rows += ids.size();
        if (!ids.isEmpty()) {
          at = take(disk, ids);
        }
        isLast = ids.size() < PAGE;
      }
      reached.put(disk.storageNumber(), at);
    }

    /** Takes the movable blocks among some; returns up to which block they were looked at. */
    private long take(Disk disk, List<Long> ids) throws IOException {
      List<Movable> movable =
          store.transactInBackground(
              disk.storageNumber(), transaction -> movable(transaction, disk, ids));
      for (Movable one : movable) {
        found.add(one);
        bytes += one.block().getLengthBytes();
        if (isDone()) {
          return one.block().getBlockId();
        }
      }
      return ids.get(ids.size() - 1);
    }

    private List<Movable> movable(Transaction transaction, Disk disk, List<Long> ids)
        throws IOException {
      List<Movable> movable = new ArrayList<>();
      for (StoredBlock stored : BlockLookup.find(transaction, ids).values()) {
        long blockId = stored.block().getBlockId();
        if (stored.striped() && members.size() < mostBlocks && wantedMembers.test(blockId)) {
          members.put(blockId, stored);
        }
        if (!stored.isOutput()
            && !stored.striped()
            && stored.block().getLengthBytes() >= leastBytes) {
          assess(BlockAssessment.of(transaction, cluster, stored), disk).ifPresent(movable::add);
        }
      }
      return movable;
    }

    private Optional<Movable> assess(BlockAssessment block, Disk disk) {
      List<String> places = block.live().stream().map(Replica::storageUuid).toList();
      boolean isMovable =
          block.settled()
              && !block.pinned()
              && block.excess().isEmpty()
              && block.counted().size() == block.wanted()
              && places.size() == block.wanted()
              && places.contains(disk.storageUuid());
      return isMovable
          ? Optional.of(
              new Movable(
                  block.block(),
                  block.stored().ownerId(),
                  places.stream().map(cluster::disk).flatMap(Optional::stream).toList()))
          : Optional.empty();
    }
  }
}
