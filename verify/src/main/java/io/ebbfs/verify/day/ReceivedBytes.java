package io.ebbfs.verify.day;

import io.ebbfs.protocol.rpc.ChunkServerClient;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.process.BackgroundLoop;
import io.ebbfs.testbed.process.ProcessNames;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * The bytes that chunk servers have received from each other in the background: copies of replicas,
 * and sources and outputs of combines. The servers are asked twice a second, so that little is
 * missed of a server that is killed. Thread-safe.
 */
final class ReceivedBytes implements AutoCloseable {
  private static final long EVERY_MILLIS = 500;

  private final LocalCluster cluster;
  private final Map<Integer, ChunkServerClient> clients = new HashMap<>();
  private final CounterSum sum = new CounterSum();
  private final BackgroundLoop loop;

  ReceivedBytes(LocalCluster cluster) {
    this.cluster = cluster;
    this.loop =
        new BackgroundLoop(
            "day-received-bytes",
            () -> {
              while (true) {
                now();
                Thread.sleep(EVERY_MILLIS);
              }
            });
  }

  /** All bytes until now. */
  synchronized long now() {
    Map<String, ?> running = cluster.running();
    for (int server = 0; server < cluster.layout().servers(); server++) {
      if (running.containsKey(ProcessNames.server(server))) {
        ask(server);
      }
    }
    return sum.total();
  }

  private void ask(int server) {
    try {
      ChunkServerClient client = clients.get(server);
      if (client == null) {
        client = cluster.chunkServerClient(server);
        clients.put(server, client);
      }
      sum.take(server, client.status().getBackgroundBytesReceived());
    } catch (IOException e) {
      // It was killed, or has started again since the last call.
      ChunkServerClient broken = clients.remove(server);
      if (broken != null) {
        broken.close();
      }
    }
  }

  @Override
  public void close() {
    loop.close();
    synchronized (this) {
      clients.values().forEach(ChunkServerClient::close);
    }
  }
}
