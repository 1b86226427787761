package io.ebbfs.namenode.datanodes;

import io.ebbfs.namenode.datanodes.ClusterView.Server;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices dead chunk servers: servers whose last heartbeat is older than the time after which a
 * server counts as dead (HDFS: HeartbeatManager). For one thread, which calls {@link
 * #declareDeadServers} about once a second.
 */
public final class HeartbeatMonitor {
  private static final Logger LOG = LoggerFactory.getLogger(HeartbeatMonitor.class);

  private final DatanodeRegistry registry;
  private final Clock clock;
  private final long deadAfterMillis;
  private long lastCheckMillis;

  public HeartbeatMonitor(DatanodeRegistry registry, Clock clock, long deadAfterMillis) {
    this.registry = registry;
    this.clock = clock;
    this.deadAfterMillis = deadAfterMillis;
    this.lastCheckMillis = clock.millis();
  }

  /**
   * Declares servers dead and returns them, each once. After a stall of this process nobody is
   * declared dead: heartbeats that arrived during the stall are not yet read.
   */
  public List<Server> declareDeadServers() {
    long now = clock.millis();
    boolean stalled = now - lastCheckMillis > deadAfterMillis / 2;
    lastCheckMillis = now;
    return stalled ? List.of() : declareDeadBefore(now - deadAfterMillis);
  }

  private List<Server> declareDeadBefore(long deadlineMillis) {
    List<Server> died = new ArrayList<>();
    for (Server server : registry.liveServers()) {
      registry
          .declareDead(server.uuid(), deadlineMillis)
          .ifPresent(
              dead -> {
                LOG.warn(
                    "chunk server {} at {}:{} is dead: no heartbeat for {} ms",
                    dead.uuid(),
                    dead.ipAddress(),
                    dead.transferPort(),
                    clock.millis() - dead.lastHeartbeatMillis());
                died.add(dead);
              });
    }
    return died;
  }
}
