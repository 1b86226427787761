package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Hibernation;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Walks over the blocks of servers that begin to hibernate, until a walk finds that all of them
 * survive another loss while the server is away: then the server may be stopped (HDFS: from
 * ENTERING_MAINTENANCE to IN_MAINTENANCE). Ends hibernations whose time is over. A server that did
 * not come back by then is lost like any other: its disks are walked over.
 *
 * <p>The work of a tick is bounded. One thread calls {@link #tick} and {@link #endExpired}; the
 * other methods are thread-safe.
 */
final class HibernationMonitor {
  private static final Logger LOG = LoggerFactory.getLogger(HibernationMonitor.class);

  /** The walk over one server. */
  private static final class Walk {
    private final long startedMillis;
    private int disk;
    private long reached;
    private long blocks;
    private long unsafe;
    private Optional<String> stuck = Optional.empty();
    private volatile HibernationProgress progress = HibernationProgress.NONE;

    Walk(long startedMillis) {
      this.startedMillis = startedMillis;
    }

    void add(AbsenceCheck.Page page) {
      reached = page.reached();
      blocks += page.blocks();
      unsafe += page.unsafe();
      stuck = stuck.isPresent() ? stuck : page.why();
      if (page.atEnd()) {
        disk++;
        reached = 0;
      }
    }

    void begin() {
      disk = 0;
      blocks = 0;
      unsafe = 0;
      stuck = Optional.empty();
    }
  }

  private final DatanodeRegistry cluster;
  private final RedundancySettings settings;
  private final AbsenceCheck check;
  private final Consumer<Disk> lost;
  // By server. Only the thread of tick() changes the map and the walks.
  private final Map<String, Walk> walks = new ConcurrentHashMap<>();
  // The servers that hibernated at the last tick.
  private Set<String> hibernated = Set.of();

  /**
   * @param lost takes the disks of servers that do not come back in time
   */
  HibernationMonitor(
      DatanodeRegistry cluster,
      RedundancySettings settings,
      AbsenceCheck check,
      Consumer<Disk> lost) {
    this.cluster = cluster;
    this.settings = settings;
    this.check = check;
    this.lost = lost;
  }

  /** What is known of the blocks of a server; empty if the server does not begin to hibernate. */
  Optional<HibernationProgress> progress(String serverUuid) {
    return Optional.ofNullable(walks.get(serverUuid)).map(walk -> walk.progress);
  }

  /** Ends hibernations whose time is over, and hands on the disks of servers that are not back. */
  void endExpired() throws IOException {
    cluster.hibernations().endExpired();
    Set<String> now = new HashSet<>();
    cluster.allServers().stream()
        .filter(Server::isHibernating)
        .forEach(server -> now.add(server.uuid()));
    for (String uuid : hibernated) {
      if (!now.contains(uuid)) {
        cluster
            .server(uuid)
            .filter(server -> !server.live() && !server.isHibernating())
            .ifPresent(server -> server.disks().forEach(lost));
      }
    }
    hibernated = now;
  }

  /** Looks at no more than {@link RedundancySettings#blocksPerTick} blocks. */
  void tick() throws IOException {
    List<Server> entering =
        cluster.allServers().stream()
            .filter(server -> server.hibernation().filter(h -> !h.ready()).isPresent())
            .toList();
    walks.keySet().retainAll(entering.stream().map(Server::uuid).toList());
    for (Server server : entering) {
      walk(server, Math.max(1, settings.blocksPerTick() / entering.size()));
    }
  }

  private void walk(Server server, int most) throws IOException {
    Hibernation hibernation = server.hibernation().orElseThrow();
    Walk walk =
        walks.compute(
            server.uuid(),
            (uuid, before) ->
                before != null && before.startedMillis == hibernation.startedMillis()
                    ? before
                    : new Walk(hibernation.startedMillis()));
    int left = most;
    while (left > 0 && walk.disk < server.disks().size()) {
      AbsenceCheck.Page page = check.look(server.disks().get(walk.disk), walk.reached, left);
      walk.add(page);
      left -= Math.max(1, page.blocks());
    }
    if (walk.disk >= server.disks().size()) {
      end(server, walk);
    }
  }

  private void end(Server server, Walk walk) throws IOException {
    Optional<String> before = walk.progress.stuck();
    walk.progress = new HibernationProgress(walk.blocks, walk.unsafe, walk.stuck);
    walk.stuck
        .filter(why -> !before.equals(Optional.of(why)))
        .ifPresent(
            why -> LOG.warn("chunk server {} is not to be stopped yet: {}", server.name(), why));
    if (walk.unsafe == 0) {
      cluster.hibernations().ready(server.uuid(), walk.startedMillis);
    }
    walk.begin();
  }
}
