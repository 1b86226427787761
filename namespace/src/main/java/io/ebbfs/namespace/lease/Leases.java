package io.ebbfs.namespace.lease;

import java.time.Clock;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * When clients last said that they are alive. In memory, as in HDFS: after a start every client
 * counts as renewed. Thread-safe.
 */
public final class Leases {
  /** The holder of files whose last block the namenode has under recovery. */
  public static final String RECOVERY_HOLDER = "EbbFS_NameNode";

  private static final int MAX_CLIENTS = 1_000_000;

  private final Clock clock;
  private final long softLimitMillis;
  private final long hardLimitMillis;
  private final long startedMillis;
  private final Map<String, Long> renewed = new ConcurrentHashMap<>();

  /**
   * @param softLimitMillis after it another client may take over
   * @param hardLimitMillis after it the namenode closes the file
   */
  public Leases(Clock clock, long softLimitMillis, long hardLimitMillis) {
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

  public boolean isPastSoftLimit(String clientName) {
    return silentMillis(clientName) > softLimitMillis;
  }

  public boolean isPastHardLimit(String clientName) {
    return silentMillis(clientName) > hardLimitMillis;
  }

  private long silentMillis(String clientName) {
    return clock.millis() - renewed.getOrDefault(clientName, startedMillis);
  }

  /** Forgets clients that hold nothing. */
  void retain(Collection<String> clientNames) {
    renewed
        .entrySet()
        .removeIf(
            client ->
                !clientNames.contains(client.getKey())
                    && clock.millis() - client.getValue() > hardLimitMillis);
  }
}
