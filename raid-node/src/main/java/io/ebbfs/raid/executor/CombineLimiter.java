package io.ebbfs.raid.executor;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * Limits the combines that run at once, in all and on each server. A combine waits for its server
 * first and holds no place of the overall limit meanwhile: combines on other servers run on.
 * Thread-safe.
 */
public final class CombineLimiter {
  private final Semaphore all;
  private final int perServer;
  private final Map<String, Semaphore> servers = new ConcurrentHashMap<>();

  public CombineLimiter(int combines, int perServer) {
    this.all = new Semaphore(combines);
    this.perServer = perServer;
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
