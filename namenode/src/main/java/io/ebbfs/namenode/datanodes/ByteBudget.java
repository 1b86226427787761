package io.ebbfs.namenode.datanodes;

import java.time.Clock;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Bounds the bytes that background work of one kind moves in a second, at each chunk server and in
 * the cluster, by token buckets that hold the tokens of one second. A piece of work may begin while
 * no bucket that it needs is in debt. The piece takes the tokens of all its bytes when it begins,
 * so a large piece leaves a debt, and further pieces wait until the debt is paid. In T seconds a
 * bucket gives at most T + 1 times its rate, and the bytes of one piece.
 *
 * <p>An urgent piece may begin while the debt is below ten seconds' worth: it need not wait for the
 * debts of less urgent pieces, and its own bytes are paid like theirs. Thread-safe.
 */
public final class ByteBudget {
  private static final long URGENT_SECONDS = 10;
  private static final int MOST_IDLE_BUCKETS = 10_000;

  private final ByteRate rate;
  private final Clock clock;
  private final Map<String, Bucket> servers = new HashMap<>();
  private final Bucket cluster;

  /**
   * A budget with full buckets.
   *
   * @param clock a monotonic one
   */
  public ByteBudget(ByteRate rate, Clock clock) {
    this.rate = rate;
    this.clock = clock;
    this.cluster = new Bucket(rate.cluster());
  }

  /** Whether a piece of work in which these servers take part may begin. */
  public synchronized boolean allows(Set<String> serverUuids, boolean urgent) {
    return cluster.allows(urgent)
        && (rate.perServer() == 0
            || serverUuids.stream().allMatch(server -> allows(server, urgent)));
  }

  private boolean allows(String serverUuid, boolean urgent) {
    Bucket bucket = servers.get(serverUuid);
    return bucket == null || bucket.allows(urgent);
  }

  /**
   * Takes the tokens of a piece of work, if it may begin.
   *
   * @param byServer the bytes that each server reads, receives, sends and writes for it
   * @param bytes the bytes that are read and written for it
   * @return false if the piece has to wait; then nothing is taken
   */
  public synchronized boolean take(Map<String, Long> byServer, long bytes, boolean urgent) {
    if (!allows(byServer.keySet(), urgent)) {
      return false;
    }
    change(byServer, bytes, -1);
    forgetIdle();
    return true;
  }

  /** Gives back what was taken for a piece of work that did not begin. */
  public synchronized void giveBack(Map<String, Long> byServer, long bytes) {
    change(byServer, bytes, 1);
  }

  private void change(Map<String, Long> byServer, long bytes, int sign) {
    cluster.add(sign * bytes);
    if (rate.perServer() > 0) {
      byServer.forEach(
          (server, some) ->
              servers
                  .computeIfAbsent(server, uuid -> new Bucket(rate.perServer()))
                  .add(sign * some));
    }
  }

  private void forgetIdle() {
    if (servers.size() > MOST_IDLE_BUCKETS) {
      servers.values().removeIf(Bucket::isFull);
    }
  }

  private final class Bucket {
    private final long bytesPerSecond;
    private double tokens;
    private long filledMillis;

    Bucket(long bytesPerSecond) {
      this.bytesPerSecond = bytesPerSecond;
      this.tokens = bytesPerSecond;
      this.filledMillis = clock.millis();
    }

    boolean allows(boolean urgent) {
      fill();
      return tokens >= (urgent ? -URGENT_SECONDS * bytesPerSecond : 0);
    }

    boolean isFull() {
      fill();
      return tokens >= bytesPerSecond;
    }

    void add(long bytes) {
      if (bytesPerSecond > 0) {
        tokens = Math.min(bytesPerSecond, tokens + bytes);
      }
    }

    private void fill() {
      long now = clock.millis();
      tokens = Math.min(bytesPerSecond, tokens + (now - filledMillis) / 1000.0 * bytesPerSecond);
      filledMillis = now;
    }
  }
}
