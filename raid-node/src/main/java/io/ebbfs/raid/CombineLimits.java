package io.ebbfs.raid;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * How many combines run at once, over all servers and on each. What waits for a busy server leaves
 * the others to those that wait for them, so that no link idles while there is work for it.
 * Thread-safe.
 */
public final class CombineLimits {
  private final Semaphore all;
  private final int perServer;
  private final Map<String, Semaphore> servers = new ConcurrentHashMap<>();

  public CombineLimits(int combines, int perServer) {
    this.all = new Semaphore(combines);
    this.perServer = perServer;
  }

  /** Waits for its turn on a server; what it returns ends it. */
  Runnable acquire(String serverUuid) throws InterruptedException {
    Semaphore server = servers.computeIfAbsent(serverUuid, id -> new Semaphore(perServer, true));
    server.acquire();
    try {
      all.acquire();
    } catch (InterruptedException e) {
      server.release();
      throw e;
    }
    return () -> {
      all.release();
      server.release();
    };
  }
}
