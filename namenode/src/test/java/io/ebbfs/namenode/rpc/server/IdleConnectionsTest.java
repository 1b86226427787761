package io.ebbfs.namenode.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.Await;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ten thousand connections that do nothing, from another process. */
@Tag("process")
@Timeout(180)
class IdleConnectionsTest {
  private static final int CONNECTIONS = 10_000;
  private static final long MOST_BYTES_EACH = 20 << 10;

  @Test
  void tenThousandIdleConnectionsTakeLittleMemoryAndNoThread() throws Exception {
    ServerLimits limits = ServerLimits.DEFAULT.withConnections(16_000, 16_000, 20_000);
    try (ServerFixture server = ServerFixture.start(4, limits, path -> new byte[0])) {
      assertServes(server);
      int threads = Thread.activeCount();
      long before = heldBytes();
      Process clients = clients(server.address().getPort());
      try {
        BufferedReader out = clients.inputReader();
        assertThat(out.readLine()).isEqualTo("open");
        Await.until("all are connected", () -> server.connections() == CONNECTIONS);
        assertServes(server);
        assertThat((heldBytes() - before) / CONNECTIONS).isLessThan(MOST_BYTES_EACH);
        assertThat(Thread.activeCount()).isLessThanOrEqualTo(threads);
      } finally {
        clients.destroy();
      }
      Await.until("all are gone", () -> server.connections() == 0);
      assertThat(server.bytesInFlight()).isZero();
    }
  }

  private static void assertServes(ServerFixture server) throws IOException {
    try (WireClient client = server.connect()) {
      client.send(WireClient.call(1, "getFileInfo", "/")).read();
    }
  }

  private static Process clients(int port) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-cp",
            System.getProperty("java.class.path"),
            IdleClients.class.getName(),
            Integer.toString(port),
            Integer.toString(CONNECTIONS))
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** What the server itself holds: on the heap once garbage is collected, and in buffers. */
  private static long heldBytes() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed()
        + PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();
  }
}
