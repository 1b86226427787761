package io.ebbfs.namenode.datanodes;

import java.time.Clock;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Lets a limited number of servers send full block reports at the same time (HDFS:
 * BlockReportLeaseManager). A server asks for a lease with a heartbeat, and sends its report once
 * it has one. A lease ends with the report, or after some minutes. Thread-safe.
 */
public final class ReportLeases {
  /** The answer to a server that has to ask again. */
  public static final long NONE = 0;

  private static final long EXPIRY_MILLIS = 300_000;

  private record Lease(long id, long sinceMillis) {}

  private final Clock clock;
  private final int limit;
  private final Predicate<String> live;
  private final Map<String, Lease> held = new HashMap<>();
  private long lastId;

  /**
   * @param limit leases at the same time, at least 1
   * @param live whether a server is in service; the lease of a dead one ends
   */
  public ReportLeases(Clock clock, int limit, Predicate<String> live) {
    this.clock = clock;
    this.limit = limit;
    this.live = live;
    // Another process gave out other ids.
    this.lastId = clock.millis();
  }

  /**
   * A new lease for the server, instead of the one that it may have; {@link #NONE} if none is free.
   */
  public synchronized long request(String serverUuid) {
    expire();
    if (!held.containsKey(serverUuid) && held.size() >= limit) {
      return NONE;
    }
    held.put(serverUuid, new Lease(++lastId, clock.millis()));
    return lastId;
  }

  /**
   * Begins to take a report. A server that has no valid lease gets one if one is free: it may have
   * registered at another process of the namenode.
   *
   * @return whether the report may be taken now; it takes the whole time of a lease at most
   */
  public synchronized boolean begin(String serverUuid, long leaseId) {
    expire();
    Lease lease = held.get(serverUuid);
    if (lease != null && lease.id() == leaseId) {
      held.put(serverUuid, new Lease(leaseId, clock.millis()));
      return true;
    }
    return request(serverUuid) != NONE;
  }

  /** The server has sent its whole report, or has registered anew. */
  public synchronized void end(String serverUuid) {
    held.remove(serverUuid);
  }

  private void expire() {
    held.entrySet()
        .removeIf(
            lease ->
                clock.millis() - lease.getValue().sinceMillis() > EXPIRY_MILLIS
                    || !live.test(lease.getKey()));
  }
}
