package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.LostDiskPassProto;
import io.ebbfs.protocol.proto.StoreProtos.LostDiskRow;
import java.io.IOException;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Walks over the blocks of disks that went out of service, so that every block on them is examined.
 * A walk has two passes over the disk's replica rows. The first begins at once and looks for what
 * the next failure would lose. The second begins when the disk did not come back for {@link
 * RedundancySettings#repairDelayMillis}, and its server does not hibernate, and examines
 * everything. First passes go before second passes.
 *
 * <p>A row tells how far each walk is, so a restart goes on from there. A block is done when
 * nothing about it is left to do that only this process knows: its stripe was checked (a repair is
 * a row by itself), or it has enough replicas again. A walk waits while there is no room for hints
 * about stripes. A replicated block for which there is no room is left out, and the pass comes back
 * to it. So memory is bounded, whatever the disks hold. A pass at whose end no block gets done any
 * more leaves the rest to the slow scan, so a walk ends though nothing can be replicated.
 *
 * <p>One thread calls {@link #tick}; the other methods are thread-safe.
 */
final class LostDiskWalker {
  private static final Logger LOG = LoggerFactory.getLogger(LostDiskWalker.class);
  private static final int PAGE = 500;

  /** After this time a pass comes back to what found no room. */
  private static final long COME_BACK_MILLIS = 2_000;

  /** Blocks that cannot be helped for this long are left to the slow scan. */
  private static final long STUCK_MILLIS = 600_000;

  /** What became of a block. */
  enum Outcome {
    EXAMINED,
    /** There is no room for it now: the walk goes on with the next block and comes back. */
    LEFT_OUT,
    /** There is no room for it now: the walk waits. */
    WAITS
  }

  /** What is done with the blocks. */
  interface Blocks {
    /**
     * Examines a block that has lost a replica, or has its stripe checked.
     *
     * @param onlyAtRisk act only if the next failure would lose the block
     */
    Outcome examine(StoredBlock block, boolean onlyAtRisk) throws IOException;

    /** Whether something about an examined block is left to do that only this process knows. */
    boolean isOpen(long blockId, OptionalLong stripeId);
  }

  /** The walk over one disk. */
  private static final class Walk {
    private final Disk disk;
    private final TreeMap<Long, OptionalLong> open = new TreeMap<>();
    // Blocks of the first pass that were not done when the second one began.
    private final TreeMap<Long, OptionalLong> stillAtRisk = new TreeMap<>();
    private LostDiskRow row;
    private LostDiskRow stored;
    private long reached;
    private OptionalLong leftOutFrom = OptionalLong.empty();
    private long leftOut;
    private boolean atEnd;
    // When a row was read, or a block was done.
    private long busyMillis;
    // The fewest blocks that were not done at the end of this pass, and since when.
    private long fewestToDo = Long.MAX_VALUE;
    private long fewestSinceMillis;

    Walk(Disk disk, LostDiskRow row) {
      this.disk = disk;
      this.row = row;
      this.stored = row;
      this.reached = row.getDoneBlockId();
    }

    boolean isIn(LostDiskPassProto pass) {
      return row.getPass() == pass;
    }

    /** Everything up to this block is done. */
    long done() {
      long done = open.isEmpty() ? reached : Math.min(reached, open.firstKey() - 1);
      return leftOutFrom.isPresent() ? Math.min(done, leftOutFrom.getAsLong() - 1) : done;
    }

    long toDo() {
      return open.size() + leftOut;
    }

    void leaveOut(long blockId) {
      leftOut++;
      if (leftOutFrom.isEmpty()) {
        leftOutFrom = OptionalLong.of(blockId);
      }
    }

    void comeBack() {
      readFrom(leftOutFrom.orElseThrow() - 1);
    }

    void beginPass(LostDiskPassProto pass) {
      open.clear();
      readFrom(0);
      fewestToDo = Long.MAX_VALUE;
      row = row.toBuilder().setPass(pass).clearDoneBlockId().build();
    }

    private void readFrom(long afterBlockId) {
      reached = afterBlockId;
      leftOutFrom = OptionalLong.empty();
      leftOut = 0;
      atEnd = false;
    }
  }

  private final MetadataStore store;
  private final DatanodeRegistry cluster;
  private final Clock clock;
  private final RedundancySettings settings;
  private final Blocks blocks;
  // Disks whose walk is to begin: from the start (true), or where an earlier process was.
  private final Map<String, Boolean> begins = new ConcurrentHashMap<>();
  // By storage uuid. Only the thread of tick() changes the map and the walks.
  private final Map<String, Walk> walks = new ConcurrentHashMap<>();
  private volatile long examined;
  private boolean loaded;

  LostDiskWalker(
      MetadataStore store,
      DatanodeRegistry cluster,
      Clock clock,
      RedundancySettings settings,
      Blocks blocks) {
    this.store = store;
    this.cluster = cluster;
    this.clock = clock;
    this.settings = settings;
    this.blocks = blocks;
  }

  /** A disk has just gone out of service: its blocks are examined from the start. */
  void walk(Disk disk) {
    begins.put(disk.storageUuid(), true);
  }

  /** A disk is out of service after a restart: the walk goes on where it was. */
  void resume(Disk disk) {
    begins.putIfAbsent(disk.storageUuid(), false);
  }

  /** Whether the walk over the disk has not ended. */
  boolean isToWalk(Disk disk) {
    Walk walk = walks.get(disk.storageUuid());
    return begins.containsKey(disk.storageUuid())
        || (walk != null && !walk.isIn(LostDiskPassProto.WALKED));
  }

  /** The disks whose walk has not ended. */
  int toWalk() {
    return (int)
        walks.values().stream().filter(walk -> !walk.isIn(LostDiskPassProto.WALKED)).count();
  }

  /** The blocks that walks which have not ended have examined. */
  long examined() {
    return examined;
  }

  /** Examines at most {@link RedundancySettings#blocksPerTick} blocks. */
  void tick() throws IOException {
    load();
    begin();
    forgetDisksInService();
    int room = settings.blocksPerTick();
    for (LostDiskPassProto pass :
        List.of(LostDiskPassProto.AT_RISK, LostDiskPassProto.EVERYTHING)) {
      for (Walk walk : walks.values()) {
        if (room > 0 && walk.isIn(pass) && isDue(walk)) {
          room -= read(walk, room);
        }
        if (walk.isIn(pass)) {
          close(walk);
        }
      }
    }
    for (Walk walk : walks.values()) {
      store(walk);
    }
    examined =
        walks.values().stream()
            .filter(walk -> !walk.isIn(LostDiskPassProto.WALKED))
            .mapToLong(walk -> walk.row.getExamined())
            .sum();
  }

  private void load() throws IOException {
    if (loaded) {
      return;
    }
    store.eachRow(
        Tables.LOST_DISK,
        (key, row) ->
            cluster
                .disk(row.getStorageUuid())
                .ifPresent(disk -> walks.put(disk.storageUuid(), new Walk(disk, row))));
    loaded = true;
  }

  private void begin() throws IOException {
    for (Map.Entry<String, Boolean> entry : List.copyOf(begins.entrySet())) {
      Optional<Disk> disk = cluster.disk(entry.getKey());
      if (disk.isPresent() && (entry.getValue() || !walks.containsKey(entry.getKey()))) {
        LostDiskRow row =
            LostDiskRow.newBuilder()
                .setStorageUuid(entry.getKey())
                .setPass(LostDiskPassProto.AT_RISK)
                .setExamined(0)
                .build();
        put(disk.get(), row);
        walks.put(entry.getKey(), new Walk(disk.get(), row));
      }
      begins.remove(entry.getKey(), entry.getValue());
    }
  }

  private void forgetDisksInService() throws IOException {
    for (Walk walk : walks.values()) {
      if (cluster.isLive(walk.disk.storageUuid())) {
        LOG.info("disk {} is in service again", walk.disk.storageUuid());
        change(walk.disk, Optional.empty());
        walks.remove(walk.disk.storageUuid());
      }
    }
  }

  private boolean isDue(Walk walk) {
    return !walk.atEnd
        && (walk.isIn(LostDiskPassProto.AT_RISK)
            || !cluster.isAwaited(walk.disk.storageUuid())
                && clock.millis() - cluster.lostSinceMillis(walk.disk.storageUuid())
                    >= settings.repairDelayMillis());
  }

  /** Reads on; returns how many rows were read. */
  private int read(Walk walk, int most) throws IOException {
    int read = 0;
    boolean waits = false;
    while (read < most && !walk.atEnd && !waits) {
      int size = Math.min(PAGE, most - read);
      List<Long> ids = StorageBlocks.page(store, walk.disk.storageNumber(), walk.reached, size);
      int examined = examine(walk, ids);
      waits = examined < ids.size();
      read += ids.size();
      walk.atEnd = !waits && ids.size() < size;
      walk.busyMillis = clock.millis();
      walk.row = walk.row.toBuilder().setExamined(walk.row.getExamined() + examined).build();
    }
    return read;
  }

  /** Returns how many of the blocks were examined before the walk has to wait. */
  private int examine(Walk walk, List<Long> ids) throws IOException {
    boolean onlyAtRisk = walk.isIn(LostDiskPassProto.AT_RISK);
    Map<Long, StoredBlock> known =
        ids.isEmpty()
            ? new LinkedHashMap<>()
            : store.transact(
                walk.disk.storageNumber(), Durability.RELAXED, t -> BlockLookup.find(t, ids));
    int examined = 0;
    for (long id : ids) {
      StoredBlock stored = known.get(id);
      if (stored != null && !stored.isOutput()) {
        Outcome outcome =
            onlyAtRisk || stored.striped() || countOpen() < settings.queueLimit()
                ? blocks.examine(stored, onlyAtRisk)
                : Outcome.LEFT_OUT;
        if (outcome == Outcome.WAITS) {
          return examined;
        } else if (outcome == Outcome.LEFT_OUT) {
          walk.leaveOut(id);
        } else if (stored.striped()) {
          walk.open.put(id, OptionalLong.of(stored.block().getStripeId()));
        } else if (!onlyAtRisk) {
          walk.open.put(id, OptionalLong.empty());
        }
      }
      walk.reached = id;
      examined++;
    }
    return examined;
  }

  private int countOpen() {
    return walks.values().stream().mapToInt(walk -> walk.open.size()).sum();
  }

  /** Forgets the blocks that are done; returns whether there were any. */
  private boolean forgetDone(Map<Long, OptionalLong> open) {
    return open.entrySet().removeIf(one -> !blocks.isOpen(one.getKey(), one.getValue()));
  }

  /** Comes back to what was left out, or ends the pass, after its last block. */
  private void close(Walk walk) {
    long now = clock.millis();
    if (forgetDone(walk.open)) {
      walk.busyMillis = now;
    }
    if (!walk.atEnd) {
      return;
    }
    if (walk.toDo() < walk.fewestToDo) {
      walk.fewestToDo = walk.toDo();
      walk.fewestSinceMillis = now;
    }
    boolean isFirst = walk.isIn(LostDiskPassProto.AT_RISK);
    boolean nothingLeft = walk.leftOut == 0 && (isFirst || walk.open.isEmpty());
    if (nothingLeft || now - walk.fewestSinceMillis >= STUCK_MILLIS) {
      endPass(walk);
    } else if (walk.leftOut > 0
        && (walk.open.isEmpty() || now - walk.busyMillis >= COME_BACK_MILLIS)) {
      walk.comeBack();
    }
  }

  /**
   * Stores how far the walk is. A second pass is not stored before the first one is done, though it
   * has begun.
   */
  private void store(Walk walk) throws IOException {
    forgetDone(walk.stillAtRisk);
    if (!walk.isIn(LostDiskPassProto.WALKED) && walk.row.getDoneBlockId() != walk.done()) {
      walk.row = walk.row.toBuilder().setDoneBlockId(walk.done()).build();
    }
    boolean moved =
        walk.row.getDoneBlockId() != walk.stored.getDoneBlockId()
            || walk.row.getPass() != walk.stored.getPass();
    if (moved && walk.stillAtRisk.isEmpty()) {
      put(walk.disk, walk.row);
      walk.stored = walk.row;
    }
  }

  private void endPass(Walk walk) {
    boolean wasLast = walk.isIn(LostDiskPassProto.EVERYTHING);
    if (!wasLast) {
      walk.stillAtRisk.putAll(walk.open);
    } else if (walk.toDo() > 0) {
      LOG.info(
          "{} blocks of lost disk {} cannot be replicated now; the slow scan comes back to them",
          walk.toDo(),
          walk.disk.storageUuid());
    }
    walk.beginPass(wasLast ? LostDiskPassProto.WALKED : LostDiskPassProto.EVERYTHING);
    if (wasLast) {
      LOG.info(
          "all blocks of lost disk {} were examined, {} in two passes",
          walk.disk.storageUuid(),
          walk.row.getExamined());
    }
  }

  private void put(Disk disk, LostDiskRow row) throws IOException {
    change(disk, Optional.of(row));
  }

  private void change(Disk disk, Optional<LostDiskRow> row) throws IOException {
    Key key = Tables.lostDisk(disk.storageNumber());
    store.transact(
        disk.storageNumber(),
        Durability.RELAXED,
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.LOST_DISK, key)));
          row.ifPresentOrElse(
              value -> transaction.put(Tables.LOST_DISK, key, value),
              () -> transaction.delete(Tables.LOST_DISK, key));
          return null;
        });
  }
}
