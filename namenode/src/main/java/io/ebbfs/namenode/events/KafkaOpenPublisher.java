package io.ebbfs.namenode.events;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.namenode.files.io.OpenListener;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends an event to Kafka for every opened file. A read never waits for Kafka: events queue in
 * bounded memory. An event that does not fit, or that is not delivered in time, is counted and
 * dropped. Without a broker the publisher keeps trying. Thread-safe.
 */
public final class KafkaOpenPublisher implements OpenListener, AutoCloseable {
  /** The JSON of an event. The key of the Kafka record is the inode id in decimal. */
  private record OpenEvent(long inode, String path, long time, String client) {}

  /** Counts events by name. */
  @FunctionalInterface
  public interface Counts {
    void add(String name, long amount);
  }

  static final String TOPIC = "ebbfs.opens";

  private static final Logger LOG = LoggerFactory.getLogger(KafkaOpenPublisher.class);
  private static final long QUEUE_BYTES = 2 << 20;
  private static final long PRODUCER_BYTES = 2 << 20;
  private static final int MAX_EVENT_BYTES = 64 << 10;
  private static final Duration CLOSE_WAIT = Duration.ofSeconds(3);
  private static final long WARN_INTERVAL_MILLIS = 60_000;

  private final ObjectMapper json = new ObjectMapper();
  private final Producer<byte[], byte[]> producer;
  private final Counts counts;
  private final BlockingQueue<ProducerRecord<byte[], byte[]>> queue = new LinkedBlockingQueue<>();
  private final AtomicLong queuedBytes = new AtomicLong();
  private final Thread sender = new Thread(this::sendAll, "open-events");
  private final AtomicLong lastWarned = new AtomicLong();
  private volatile boolean closed;

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
            ProducerConfig.MAX_BLOCK_MS_CONFIG, 10_000,
            ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 60_000,
            ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 10_000,
            ProducerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 2_000);
    ByteArraySerializer bytes = new ByteArraySerializer();
    return new KafkaProducer<>(settings, bytes, bytes);
  }

  @Override
  public void opened(long inodeId, String path, long timeMillis, String clientMachine) {
    counts.add("opens", 1);
    try {
      byte[] value =
          json.writeValueAsBytes(new OpenEvent(inodeId, path, timeMillis, clientMachine));
      byte[] key = Long.toString(inodeId).getBytes(StandardCharsets.UTF_8);
      if (value.length > MAX_EVENT_BYTES
          || queuedBytes.get() + value.length > QUEUE_BYTES
          || closed) {
        dropped("the queue is full", 1);
        return;
      }
      queuedBytes.addAndGet(value.length);
      queue.add(new ProducerRecord<>(TOPIC, key, value));
    } catch (JsonProcessingException e) {
      dropped(e.toString(), 1);
    }
  }

  private void sendAll() {
    while (!closed) {
      try {
        ProducerRecord<byte[], byte[]> event = queue.take();
        queuedBytes.addAndGet(-event.value().length);
        send(event);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void send(ProducerRecord<byte[], byte[]> event) {
    try {
      producer.send(
          event,
          (metadata, failure) -> {
            if (failure != null) {
              dropped(failure.toString(), 1);
            }
          });
    } catch (RuntimeException e) {
      dropped(e.toString(), 1);
    }
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

  /** Sends as many queued events as it can within a few seconds. */
  @Override
  public void close() {
    closed = true;
    sender.interrupt();
    try {
      sender.join(CLOSE_WAIT.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    int left = queue.size();
    if (left > 0) {
      dropped("the namenode stops", left);
    }
    producer.close(CLOSE_WAIT);
  }
}
