package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.leader.LeaderTimes;
import io.ebbfs.namenode.leader.Leadership;
import io.ebbfs.protocol.proto.PeerProtos.ClusterViewProto;
import java.io.IOException;
import java.time.Clock;
import java.util.Random;
import org.apache.hadoop.ipc.StandbyException;

/**
 * One of several namenodes: takes part in the election by the namenode's own class, and plays the
 * role that it has, as SharedNamenode does. Used by one thread.
 */
final class SimPeer {
  /** Long enough that a leader can renew its leadership whenever the simulated time passes. */
  static final LeaderTimes TIMES = LeaderTimes.of(4_000);

  private final String name;
  private final SharedStore shared;
  private final SimWorld world;
  private final SimCluster servers;
  private final Clock timeOfDay;
  private final Clock clock;
  private final Random random;
  private final PlantedBug bug;
  private SharedStore.Client store;
  private Leadership leadership;
  private SimNamenode leader;
  private SimFollower follower;
  private boolean up;
  private boolean frozen;
  private int lives;
  private int freezes;

  SimPeer(
      int number,
      SharedStore shared,
      SimWorld world,
      SimCluster servers,
      Clock timeOfDay,
      Clock clock,
      Random random,
      PlantedBug bug) {
    name = "namenode-" + number;
    this.shared = shared;
    this.world = world;
    this.servers = servers;
    this.timeOfDay = timeOfDay;
    this.clock = clock;
    this.random = random;
    this.bug = bug;
  }

  /** The address, for the network and for people. */
  String name() {
    return name;
  }

  // ---- the process ------------------------------------------------------------------------------

  /** The process starts, as a standby. */
  void start() {
    lives++;
    up = true;
    store = shared.new Client();
    leadership =
        new Leadership(store, name + "-" + lives, name, TIMES, () -> clock.millis() * 1_000_000);
  }

  /** The process ends at once. */
  void die() {
    up = false;
    leader = null;
    follower = null;
    store.die();
  }

  /** The process gives the leadership up and ends. */
  void stop() throws IOException {
    leader = null;
    follower = null;
    try {
      leadership.resign();
    } finally {
      die();
    }
  }

  boolean isUp() {
    return up;
  }

  /** Whether the process runs. */
  boolean answers() {
    return up && !frozen;
  }

  /** How often the process has started. */
  int lives() {
    return lives;
  }

  /** How often the process was frozen. */
  int freezes() {
    return freezes;
  }

  /** The process is stopped in the middle of what it does. */
  void freeze() {
    frozen = true;
    freezes++;
  }

  /** The process goes on, and does not know that time has passed. */
  void thaw() {
    frozen = false;
  }

  SharedStore.Client store() {
    return store;
  }

  // ---- the role ---------------------------------------------------------------------------------

  Leadership leadership() {
    return leadership;
  }

  /** The part that leads; null if this namenode does not believe that it leads. */
  SimNamenode leader() {
    return leader;
  }

  /** The part that serves beside the leader; null if there is none. */
  SimFollower follower() {
    return follower;
  }

  /** Renews the leadership, or follows the leader, or takes over. */
  void turn() throws IOException {
    try {
      leadership.tick();
    } finally {
      playRole();
    }
  }

  private void playRole() throws IOException {
    if (leader != null && !leadership.holds() && bug != PlantedBug.OBEYS_FORMER_LEADERS) {
      leader = null;
    }
    if (leader == null && leadership.holds()) {
      Leadership mine = leadership;
      ClusterViewProto view =
          follower == null ? ClusterViewProto.getDefaultInstance() : follower.view();
      leader =
          new SimNamenode(
              store,
              timeOfDay,
              clock,
              world,
              servers,
              random.nextLong(),
              bug,
              new SimNamenode.Lead(() -> term(mine), view));
      follower = null;
    }
    if (leader == null && follower == null && leadership.otherLeader().isPresent()) {
      follower = new SimFollower(store, timeOfDay, clock, world, random.nextLong());
    }
  }

  private long term(Leadership of) throws StandbyException {
    if (!of.holds() && bug != PlantedBug.OBEYS_FORMER_LEADERS) {
      throw new StandbyException("this namenode has not renewed its leadership in time");
    }
    return of.term();
  }

  /** Refuses a call of a client if this namenode does not lead any more. */
  void requireTerm() throws StandbyException {
    term(leadership);
  }
}
