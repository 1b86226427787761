package io.ebbfs.namenode.datanodes;

import io.ebbfs.namenode.datanodes.ClusterView.Hibernation;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.protocol.proto.StoreProtos.HibernationProto;
import io.ebbfs.protocol.proto.StoreProtos.ServerRow;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Begins and ends the hibernations of servers (HDFS: maintenance). A hibernation is part of the
 * server's row, so it outlives restarts and changes of the leader.
 *
 * <p>The end is a time of day in the row. The clock of this process is steady from its start on,
 * but the clocks of two processes may differ: a process therefore ends a hibernation at the latest
 * after its whole length, counted from the moment at which the process saw it first. Thread-safe.
 */
public final class Hibernations {
  private static final Logger LOG = LoggerFactory.getLogger(Hibernations.class);

  /** A hibernation as this process saw it first. */
  private record Seen(long startedMillis, long untilMillis, long latestMillis) {}

  private final DatanodeRegistry registry;
  private final Clock clock;
  // By server.
  private final Map<String, Seen> seen = new ConcurrentHashMap<>();

  Hibernations(DatanodeRegistry registry, Clock clock) {
    this.registry = registry;
    this.clock = clock;
  }

  static Optional<Hibernation> of(ServerRow row) {
    if (!row.hasHibernation()) {
      return Optional.empty();
    }
    HibernationProto proto = row.getHibernation();
    return Optional.of(
        new Hibernation(
            proto.getStartedMillis(), proto.getUntilMillis(), proto.getByFile(), proto.getReady()));
  }

  /** When a server that begins to hibernate now will be an ordinary one again. */
  public long endOf(long forMillis) {
    long now = clock.millis();
    return forMillis > Long.MAX_VALUE - now ? Long.MAX_VALUE : now + forMillis;
  }

  /**
   * Lets a server hibernate. A server that hibernates already gets the new end.
   *
   * @throws IOException if no server has this uuid
   */
  public void start(String serverUuid, long untilMillis) throws IOException {
    registry.changeRow(serverUuid, row -> begin(row, untilMillis, false));
    LOG.info("chunk server {} hibernates from now on", serverUuid);
  }

  private void begin(ServerRow.Builder row, long untilMillis, boolean byFile) {
    boolean ready = row.getHibernation().getReady();
    row.setHibernation(
        HibernationProto.newBuilder()
            .setStartedMillis(clock.millis())
            .setUntilMillis(untilMillis)
            .setByFile(byFile)
            .setReady(ready));
  }

  /**
   * Wakes a server.
   *
   * @return whether it did hibernate
   * @throws IOException if no server has this uuid
   */
  public boolean end(String serverUuid) throws IOException {
    boolean hibernated = registry.server(serverUuid).filter(Server::isHibernating).isPresent();
    registry.changeRow(serverUuid, ServerRow.Builder::clearHibernation);
    if (hibernated) {
      LOG.info("chunk server {} does not hibernate any more", serverUuid);
    }
    return hibernated;
  }

  /** The blocks of a server survive another loss while the server is away. */
  public void ready(String serverUuid, long startedMillis) throws IOException {
    registry.changeRow(
        serverUuid,
        row -> {
          if (row.hasHibernation() && row.getHibernation().getStartedMillis() == startedMillis) {
            row.getHibernationBuilder().setReady(true);
          }
        });
    LOG.info("chunk server {} may be stopped until its hibernation ends", serverUuid);
  }

  /** Ends the hibernations whose time is over. */
  public void endExpired() throws IOException {
    List<Server> hibernating =
        registry.allServers().stream().filter(Server::isHibernating).toList();
    seen.keySet().retainAll(hibernating.stream().map(Server::uuid).toList());
    for (Server server : hibernating) {
      Hibernation hibernation = server.hibernation().orElseThrow();
      if (clock.millis() >= latestMillis(server.uuid(), hibernation)) {
        LOG.info("the hibernation of chunk server {} is over", server.uuid());
        registry.changeRow(server.uuid(), row -> clear(row, hibernation));
      }
    }
  }

  private long latestMillis(String serverUuid, Hibernation hibernation) {
    Seen known =
        seen.compute(
            serverUuid,
            (uuid, before) ->
                before != null
                        && before.startedMillis() == hibernation.startedMillis()
                        && before.untilMillis() == hibernation.untilMillis()
                    ? before
                    : firstSeen(hibernation));
    return known.latestMillis();
  }

  private Seen firstSeen(Hibernation hibernation) {
    long length = Math.max(0, hibernation.untilMillis() - hibernation.startedMillis());
    return new Seen(
        hibernation.startedMillis(),
        hibernation.untilMillis(),
        Math.min(hibernation.untilMillis(), endOf(length)));
  }

  /** Another hibernation may have begun since this process has read the row. */
  private static void clear(ServerRow.Builder row, Hibernation over) {
    if (row.hasHibernation()
        && row.getHibernation().getStartedMillis() == over.startedMillis()
        && row.getHibernation().getUntilMillis() == over.untilMillis()) {
      row.clearHibernation();
    }
  }

  /**
   * Makes a row agree with the file of hosts.
   *
   * @param untilMillis when the hibernation ends that the file asks for; empty if it asks for none
   */
  void applyFile(ServerRow.Builder row, Optional<Long> untilMillis) {
    boolean byFile = row.hasHibernation() && row.getHibernation().getByFile();
    Optional<Long> wanted = untilMillis.filter(until -> until > clock.millis());
    if (wanted.isEmpty() && byFile) {
      row.clearHibernation();
    } else if (wanted.isPresent()
        && !(byFile && row.getHibernation().getUntilMillis() == wanted.get())) {
      begin(row, wanted.get(), true);
    }
  }
}
