package io.ebbfs.manager.heat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.manager.config.HalfLives;
import io.ebbfs.manager.economics.ReadCounts;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Counting against a real broker. */
@Tag("process")
class ReadCounterTest {
  private static final String TOPIC = "ebbfs.opens";
  private static final long NEVER = TimeUnit.DAYS.toMillis(10_000);

  @TempDir Path directory;

  @Test
  void eachEventCountsOnceThroughRestartsOfEitherSide() throws Exception {
    try (TestBroker broker = new TestBroker(directory.resolve("kafka"))) {
      // Kafka is away at first, and the manager works on.
      Counting first = new Counting(broker.address());
      await(() -> first.consumer.status().problem().contains(broker.address()));
      broker.start();
      produce(broker, 500, true);
      await(() -> first.consumer.status().events() == 500);
      await(() -> first.consumer.status().malformed() == 2);
      assertThat(first.total()).isCloseTo(500, within(0.01));

      // Stopped in the middle of a stream: the counts and their offsets were written together.
      produce(broker, 3_000, false);
      first.close();
      Counting second = new Counting(broker.address());
      await(() -> second.total() > 3_499.9);

      broker.kill();
      await(() -> !second.consumer.status().connected());
      broker.start();
      produce(broker, 100, false);
      await(() -> second.total() > 3_599.9);
      await(() -> second.consumer.status().connected());
      assertThat(second.total()).isCloseTo(3_600, within(0.1));
      assertThat(second.heat().mostRead(100)).hasSize(10);
      second.close();
    }
  }

  /** A store and the consumer that counts into it. */
  private final class Counting {
    final ManagerStore store = ManagerStore.open(directory.resolve("store"));
    final ReadCounter consumer;

    Counting(String servers) throws Exception {
      consumer =
          new ReadCounter(servers, TOPIC, new HalfLives(NEVER, NEVER), store, Clock.systemUTC());
      consumer.start();
    }

    double total() {
      return heat().all();
    }

    ReadCounts heat() {
      return store.counts(System.currentTimeMillis(), new HalfLives(NEVER, NEVER)).heat();
    }

    void close() {
      consumer.close();
      store.close();
    }
  }

  private static void produce(TestBroker broker, int events, boolean withMalformed)
      throws Exception {
    Map<String, Object> settings =
        Map.of(
            "bootstrap.servers",
            broker.address(),
            "max.block.ms",
            120_000,
            "max.in.flight.requests.per.connection",
            1); // as the namenode's
    List<Future<?>> sent = new ArrayList<>();
    try (KafkaProducer<String, byte[]> producer =
        new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer())) {
      for (int i = 0; i < events; i++) {
        int inode = 1 + i % 10;
        sent.add(
            send(
                producer,
                Integer.toString(inode),
                "{\"inode\":"
                    + inode
                    + ",\"path\":\"/a/b\",\"time\":"
                    + System.currentTimeMillis()
                    + ",\"client\":\"c\",\"more\":1}"));
      }
      if (withMalformed) {
        sent.add(send(producer, "x", "not JSON"));
        sent.add(send(producer, "1", "{\"inode\":-1}"));
      }
      producer.flush();
      // An event that the broker did not take must fail here, not as a count that is too small.
      for (Future<?> event : sent) {
        event.get();
      }
    }
  }

  private static Future<?> send(KafkaProducer<String, byte[]> producer, String key, String value) {
    return producer.send(new ProducerRecord<>(TOPIC, key, value.getBytes(StandardCharsets.UTF_8)));
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }
}
