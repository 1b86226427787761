package io.ebbfs.namenode.replicas;

import static java.util.stream.Collectors.toSet;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.DrainState;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.replicas.OpenBlockFinder.OpenBlock;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Walks again and again over the blocks of the servers that are drained, until none of them needs
 * the server any more (HDFS: DatanodeAdminManager). Each walk has the blocks that need the server
 * copied or moved, and counts them. The work of a tick is bounded, and follows the blocks of these
 * servers alone. The state of a drain is a row; what this class knows besides is counted anew after
 * a restart.
 *
 * <p>A replica that a client still writes has no row of its own. A walk that finds no block goes on
 * over the files that are open for writing, and counts the blocks whose pipelines use the server.
 *
 * <p>A server is drained after two walks in a row that find nothing: what was being written while
 * the first of them ran is seen by the second.
 *
 * <p>One thread calls {@link #tick}; {@link #progress} is thread-safe.
 */
final class DrainMonitor {
  private static final Logger LOG = LoggerFactory.getLogger(DrainMonitor.class);
  private static final int PAGE = 500;
  private static final int WALKS_WITHOUT_FINDING = 2;

  /** The speed is that of the last so many milliseconds. */
  private static final long SPEED_MILLIS = 300_000;

  private static final int MAX_SAMPLES = 100;

  /** What a walk learns about a replica on a server that is drained. */
  enum Need {
    /** The replica is not good, or its block has enough other replicas. */
    NONE,
    /** The block needs more replicas elsewhere; it has one. */
    ELSEWHERE_TOO,
    /** No other server has the block. */
    ONLY_HERE,
    /** A client writes the block to the server, or no server that stays has what it has written. */
    OPEN
  }

  /** What is done with the blocks. */
  interface Blocks {
    /** Finds out whether the block needs its replica on this disk, and has the block helped. */
    Found look(StoredBlock block, Disk disk) throws IOException;

    /** Why a block that needs its replica cannot be helped now; empty if it can. */
    Optional<String> whyStuck(long blockId) throws IOException;
  }

  /** A replica as a walk found it. */
  record Found(Need need, boolean good, long lengthBytes) {}

  /** The bytes left at a time. */
  private record Sample(long atMillis, long bytesLeft) {}

  /** What a walk has counted so far. */
  private static final class Count {
    private long blocks;
    private long left;
    private long bytesLeft;
    private long onlyHere;
    private long openLeft;
    private long beingWritten;
    private Optional<String> stuck = Optional.empty();

    /** Whether the rows of replicas have named no block that needs the server. */
    boolean isClean() {
      return left == beingWritten;
    }

    /** A block that a client writes to the server, and that has no row of a replica there. */
    void addBeingWritten(OpenBlock open) {
      beingWritten++;
      add(new Found(Need.OPEN, true, open.block().getLengthBytes()));
      if (stuck.isEmpty()) {
        stuck =
            Optional.of(
                "block %d is being written to the server: the drain goes on once the block is full or its file %d is closed"
                    .formatted(open.block().getBlockId(), open.fileId()));
      }
    }

    void add(Found found) {
      blocks += found.good() ? 1 : 0;
      if (found.need() != Need.NONE) {
        left++;
        bytesLeft += found.lengthBytes();
        onlyHere += found.need() == Need.ONLY_HERE ? 1 : 0;
        openLeft += found.need() == Need.OPEN ? 1 : 0;
      }
    }
  }

  /** The walks over one server. */
  private static final class Walk {
    private final Deque<Sample> samples = new ArrayDeque<>();
    private Count count = new Count();
    private int disk;
    private long reached;
    // The last open file that was looked at; null before the first.
    private Key reachedFile;
    // When the drain began over whose blocks this walk goes; 0 before the walk begins.
    private long startedMillis;
    private boolean begun;
    private int withoutFinding;
    private boolean counted;
    private volatile DrainProgress progress = progress(new Count());

    private DrainProgress progress(Count of) {
      Sample first = samples.peekFirst();
      Sample last = samples.peekLast();
      long millis = first == null ? 0 : last.atMillis() - first.atMillis();
      long speed =
          millis == 0 ? 0 : Math.max(0, (first.bytesLeft() - last.bytesLeft()) * 1_000 / millis);
      OptionalLong seconds =
          !counted || speed == 0 && of.bytesLeft > 0
              ? OptionalLong.empty()
              : OptionalLong.of(speed == 0 ? 0 : of.bytesLeft / speed);
      return new DrainProgress(
          counted,
          of.blocks,
          of.left,
          of.bytesLeft,
          of.onlyHere,
          of.openLeft,
          speed,
          seconds,
          of.stuck);
    }

    private void sample(long now) {
      samples.addLast(new Sample(now, count.bytesLeft));
      while (samples.size() > 2
          && (now - samples.peekFirst().atMillis() > SPEED_MILLIS
              || samples.size() > MAX_SAMPLES)) {
        samples.removeFirst();
      }
    }
  }

  private final MetadataStore store;
  private final DatanodeRegistry cluster;
  private final Clock clock;
  private final RedundancySettings settings;
  private final Blocks blocks;
  // By server. Only the thread of tick() changes the map and the walks.
  private final Map<String, Walk> walks = new ConcurrentHashMap<>();

  DrainMonitor(
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

  /** How far the drain of a server is; empty if the server is not being drained. */
  Optional<DrainProgress> progress(String serverUuid) {
    return Optional.ofNullable(walks.get(serverUuid)).map(walk -> walk.progress);
  }

  /** Looks at no more than {@link RedundancySettings#blocksPerTick} blocks. */
  void tick() throws IOException {
    List<Server> draining =
        cluster.allServers().stream().filter(s -> s.drain() == DrainState.DRAINING).toList();
    walks.keySet().retainAll(draining.stream().map(Server::uuid).toList());
    for (Server server : draining) {
      walk(
          server,
          walks.computeIfAbsent(server.uuid(), uuid -> new Walk()),
          Math.max(1, settings.blocksPerTick() / draining.size()));
    }
  }

  /** Goes on with the walk over a server, at most to its end. */
  private void walk(Server server, Walk walk, int most) throws IOException {
    begin(server, walk);
    int left = most;
    while (left > 0 && walk.disk < server.disks().size()) {
      Disk disk = server.disks().get(walk.disk);
      int size = Math.min(PAGE, left);
      List<Long> page = StorageBlocks.page(store, disk.storageNumber(), walk.reached, size);
      look(walk, disk, page);
      left -= Math.max(1, page.size());
      if (page.size() < size) {
        walk.disk++;
        walk.reached = 0;
      } else {
        walk.reached = page.get(page.size() - 1);
      }
    }
    boolean allDisks = walk.disk >= server.disks().size();
    if (allDisks && (!walk.count.isClean() || walkOpenFiles(server, walk, left))) {
      end(server, walk);
    } else if (!walk.counted) {
      walk.progress = walk.progress(walk.count);
    }
  }

  /** A drain that has begun anew is not ended by walks over the drain before it. */
  private void begin(Server server, Walk walk) throws IOException {
    if (walk.begun) {
      return;
    }
    long started = cluster.drainStartedMillis(server.uuid());
    if (started != walk.startedMillis) {
      walk.startedMillis = started;
      walk.withoutFinding = 0;
    }
    walk.begun = true;
  }

  /** Goes on over the open files, and says whether there are no more. */
  private boolean walkOpenFiles(Server server, Walk walk, int most) throws IOException {
    Set<String> disks = server.disks().stream().map(Disk::storageUuid).collect(toSet());
    int left = most;
    while (left > 0) {
      int size = Math.min(PAGE, left);
      OpenBlockFinder.Page page = OpenBlockFinder.find(store, walk.reachedFile, size, disks);
      page.blocks().forEach(walk.count::addBeingWritten);
      if (page.files() < size) {
        return true;
      }
      walk.reachedFile = page.reached();
      left -= size;
    }
    return false;
  }

  private void look(Walk walk, Disk disk, List<Long> ids) throws IOException {
    if (ids.isEmpty()) {
      return;
    }
    Map<Long, StoredBlock> known =
        store.transact(disk.storageNumber(), Durability.RELAXED, t -> BlockLookup.find(t, ids));
    for (long id : ids) {
      StoredBlock stored = known.get(id);
      if (stored == null || stored.isOutput()) {
        continue; // it belongs to nothing, or its transition has not published it
      }
      Found found = blocks.look(stored, disk);
      walk.count.add(found);
      if (found.need() != Need.NONE && walk.count.stuck.isEmpty()) {
        walk.count.stuck = blocks.whyStuck(id);
      }
    }
  }

  private void end(Server server, Walk walk) throws IOException {
    long now = clock.millis();
    Optional<String> before = walk.progress.stuck();
    walk.counted = true;
    walk.sample(now);
    walk.progress = walk.progress(walk.count);
    walk.progress
        .stuck()
        .filter(why -> !before.equals(Optional.of(why)))
        .ifPresent(why -> LOG.warn("The drain of server {} cannot end: {}", server.uuid(), why));
    walk.withoutFinding = walk.count.left == 0 && isKnown(server) ? walk.withoutFinding + 1 : 0;
    walk.count = new Count();
    walk.disk = 0;
    walk.reached = 0;
    walk.reachedFile = null;
    walk.begun = false;
    if (walk.withoutFinding >= WALKS_WITHOUT_FINDING) {
      cluster.finishDrain(server.uuid(), walk.startedMillis);
    }
  }

  /** Whether the rows of a server are complete: a live one has reported all of its disks. */
  private boolean isKnown(Server server) {
    return !server.live()
        || server.disks().stream()
            .map(disk -> cluster.disk(disk.storageUuid()).orElse(disk))
            .allMatch(disk -> disk.failed() || cluster.hasReported(disk.storageUuid()));
  }
}
