package io.ebbfs.raid.executor;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * Limits the combines that this process runs at once, in all and on each server; the namenode
 * limits those of all raid-nodes together. A combine waits for its server first and holds no place
 * of the overall limit meanwhile: combines on other servers run on. Thread-safe.
 */
public final class CombineLimiter {
  private final Semaphore all;
  private final int perServer;
  private final Map<String, Semaphore> servers = new ConcurrentHashMap<>();

  /** Limits; 0 is no limit. */
  public CombineLimiter(int combines, int perServer) {
    this.all = new Semaphore(orMany(combines));
    this.perServer = orMany(perServer);
  }

  private static int orMany(int limit) {
    return limit == 0 ? Integer.MAX_VALUE : limit;
  }

  /** Waits until a combine may run on a server. The caller runs the result when it has ended. */
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
