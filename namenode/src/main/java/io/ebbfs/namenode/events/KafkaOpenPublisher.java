package io.ebbfs.namenode.events;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.namenode.files.inodes.FsPath;
import io.ebbfs.namenode.files.io.OpenListener;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells Kafka how often files are opened: one event per file and second, with a count. A read never
 * waits for Kafka: the counts are in bounded memory. Opens that do not fit, or whose event is not
 * delivered in time, are counted and dropped. Without a broker the publisher keeps trying.
 * Thread-safe.
 */
public final class KafkaOpenPublisher implements OpenListener, AutoCloseable {
  /** The JSON of an event. The key of the Kafka record is the inode id in decimal. */
  private record OpenEvent(long inode, String path, long time, String client, long count) {}

  /** Counts events by name. */
  @FunctionalInterface
  public interface Counts {
    void add(String name, long amount);
  }

  static final String TOPIC = "ebbfs.opens";

  private static final Logger LOG = LoggerFactory.getLogger(KafkaOpenPublisher.class);
  private static final int MAX_FILES = 20_000;
  private static final long INTERVAL_MILLIS = 1_000;
  private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long PRODUCER_BYTES = 2 << 20;
  private static final int MAX_EVENT_BYTES = 64 << 10;
  private static final Duration CLOSE_WAIT = Duration.ofSeconds(3);
  private static final long WARN_INTERVAL_MILLIS = 60_000;

  private final ObjectMapper json = new ObjectMapper();
  private final Producer<byte[], byte[]> producer;
  private final Counts counts;
  private final OpenCounts opens = new OpenCounts(MAX_FILES);
  private final LongAdder opened = new LongAdder();
  private final Thread sender = new Thread(this::sendAll, "open-events");
  // Used by the sender alone.
  private boolean brokerIsSlow;
  private final AtomicLong lastWarned = new AtomicLong();
  private final CountDownLatch closing = new CountDownLatch(1);

  /**
   * @param brokers host:port of brokers, separated by commas; they need not run yet
   */
  public KafkaOpenPublisher(String brokers, Counts counts) {
    this.counts = counts;
    this.producer = producer(brokers);
    sender.setDaemon(true);
    sender.start();
  }

  private static Producer<byte[], byte[]> producer(String brokers) {
    Map<String, Object> settings =
        Map.of(
            ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers,
            ProducerConfig.CLIENT_ID_CONFIG, "ebbfs-namenode",
            ProducerConfig.BUFFER_MEMORY_CONFIG, PRODUCER_BYTES,
            ProducerConfig.MAX_REQUEST_SIZE_CONFIG, MAX_EVENT_BYTES * 2,
            ProducerConfig.LINGER_MS_CONFIG, 20,
            // With two, the first batch of a new partition could be refused for ever.
            ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 1,
            ProducerConfig.MAX_BLOCK_MS_CONFIG, 10_000,
            ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 60_000,
            ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 10_000,
            ProducerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 2_000);
    ByteArraySerializer bytes = new ByteArraySerializer();
    return new KafkaProducer<>(settings, bytes, bytes);
  }

  @Override
  public void opened(long inodeId, FsPath path, long timeMillis, String clientMachine) {
    opened.increment();
    if (!opens.add(inodeId, path, timeMillis, clientMachine)) {
      dropped("more than " + MAX_FILES + " files wait for Kafka", 1);
    }
  }

  private void sendAll() {
    try {
      while (!closing.await(INTERVAL_MILLIS, TimeUnit.MILLISECONDS)) {
        flush();
      }
      flush();
    } catch (InterruptedException e) {
      LOG.warn("The last counts of opened files are not sent: {}", e.toString());
    }
  }

  /** Sends the counts of the last interval. */
  private void flush() {
    counts.add("opens", opened.sumThenReset());
    brokerIsSlow = false;
    opens.drain(this::send);
  }

  private void send(OpenCounts.Opens file) {
    if (brokerIsSlow) {
      dropped("Kafka does not take events", file.count());
      return;
    }
    long started = System.nanoTime();
    try {
      byte[] value = json.writeValueAsBytes(event(file));
      if (value.length > MAX_EVENT_BYTES) {
        dropped("an event of " + value.length + " bytes is too long", file.count());
        return;
      }
      byte[] key = Long.toString(file.inode()).getBytes(StandardCharsets.UTF_8);
      producer.send(
          new ProducerRecord<>(TOPIC, key, value),
          (metadata, failure) -> {
            if (failure != null) {
              dropped(failure.toString(), file.count());
            }
          });
    } catch (JsonProcessingException | RuntimeException e) {
      dropped(e.toString(), file.count());
    }
    // A send may wait for a broker that does not answer. The sends after it, in the same interval,
    // would each wait as long, so their events are dropped.
    brokerIsSlow = System.nanoTime() - started > SLOW_NANOS;
  }

  private static OpenEvent event(OpenCounts.Opens file) {
    return new OpenEvent(
        file.inode(), file.path().toString(), file.timeMillis(), file.client(), file.count());
  }

  private void dropped(String why, long events) {
    counts.add("openEventsDropped", events);
    long now = System.currentTimeMillis();
    long last = lastWarned.get();
    if (now - last > WARN_INTERVAL_MILLIS && lastWarned.compareAndSet(last, now)) {
      LOG.warn(
          "Events about opened files are dropped ({}): the heat of files is underestimated meanwhile",
          why);
    }
  }

  /** Sends as many counts as it can within a few seconds. */
  @Override
  public void close() {
    closing.countDown();
    try {
      sender.join(CLOSE_WAIT.toMillis());
      // A send that waits for a broker fails now, and so do all that follow.
      producer.close(CLOSE_WAIT);
      sender.join(CLOSE_WAIT.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
