package io.ebbfs.namenode.files.leases;

import java.time.Clock;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Keeps the times when clients last renewed their leases. The times are in memory, as in HDFS: a
 * start of the namenode renews all leases. Thread-safe.
 */
public final class LeaseManager {
  /** The lease holder of a file whose last block is under recovery. */
  public static final String RECOVERY_HOLDER = "EbbFS_NameNode";

  private static final int MAX_CLIENTS = 1_000_000;

  private final Clock clock;
  private final long softLimitMillis;
  private final long hardLimitMillis;
  private final long startedMillis;
  private final Map<String, Long> renewed = new ConcurrentHashMap<>();

  /**
   * @param softLimitMillis another client may take over a file whose holder is silent for longer
   * @param hardLimitMillis the namenode closes a file whose holder is silent for longer
   */
  public LeaseManager(Clock clock, long softLimitMillis, long hardLimitMillis) {
    this.clock = clock;
    this.softLimitMillis = softLimitMillis;
    this.hardLimitMillis = hardLimitMillis;
    this.startedMillis = clock.millis();
  }

  public void renew(String clientName) {
    if (renewed.size() < MAX_CLIENTS || renewed.containsKey(clientName)) {
      renewed.put(clientName, clock.millis());
    }
  }

  /**
   * Whether the client was silent for the soft limit since it opened a file.
   *
   * @param openedMillis when it opened the file, perhaps at a namenode from which this one has not
   *     heard of the client yet
   */
  public boolean isPastSoftLimit(String clientName, long openedMillis) {
    return silentMillis(clientName, openedMillis) > softLimitMillis;
  }

  /** Whether the client was silent for the hard limit since it opened a file. */
  public boolean isPastHardLimit(String clientName, long openedMillis) {
    return silentMillis(clientName, openedMillis) > hardLimitMillis;
  }

  private long silentMillis(String clientName, long openedMillis) {
    long now = clock.millis();
    long heard = renewed.getOrDefault(clientName, startedMillis);
    // A time in the future was written before the time of day was set back.
    return now - (openedMillis > now ? heard : Math.max(heard, openedMillis));
  }

  /** Forgets silent clients, except for these, which hold files. */
  public void retain(Collection<String> clientNames) {
    renewed
        .entrySet()
        .removeIf(
            client ->
                !clientNames.contains(client.getKey())
                    && clock.millis() - client.getValue() > hardLimitMillis);
  }
}
