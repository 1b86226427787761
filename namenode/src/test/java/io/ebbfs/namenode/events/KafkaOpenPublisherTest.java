package io.ebbfs.namenode.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.files.inodes.FsPath;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Without a broker; with one it is tested by the system tests. */
class KafkaOpenPublisherTest {
  private static final int EVENTS = 40_000;

  private final Map<String, Long> counts = new ConcurrentHashMap<>();

  @Test
  void withoutABrokerEventsAreDroppedInBoundedMemoryAndNobodyWaits() throws Exception {
    // Somebody who listens and never says a word.
    try (ServerSocket mute = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      String broker = "127.0.0.1:" + mute.getLocalPort();
      KafkaOpenPublisher publisher =
          new KafkaOpenPublisher(broker, (name, amount) -> counts.merge(name, amount, Long::sum));
      long started = System.nanoTime();
      for (int i = 0; i < EVENTS; i++) {
        publisher.opened(i, FsPath.parse("/a/path/of/ordinary/length/" + i), 1, "127.0.0.1");
      }
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started);
      // One wait for the broker alone would take 10 s.
      assertThat(millis).isLessThan(9_000);
      // The counts of 20,000 files have room.
      assertThat(counts.get("openEventsDropped")).isBetween(10_000L, 35_000L);

      publisher.close();
      assertThat(counts.get("openEventsDropped")).isGreaterThan(EVENTS - 200L);
      assertThat(counts.get("opens")).isEqualTo(EVENTS);
      publisher.opened(1, FsPath.parse("/late"), 1, "127.0.0.1");
    }
  }
}
