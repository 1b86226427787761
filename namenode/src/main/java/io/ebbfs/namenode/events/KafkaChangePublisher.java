package io.ebbfs.namenode.events;

import io.ebbfs.namenode.store.ChangePublisher;
import io.ebbfs.namenode.store.ChangedIds;
import io.ebbfs.protocol.proto.CodingProtos.ChangesProto;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes the change stream in one partition of a Kafka topic, so that records stay in their
 * order. A publication waits for at most 5 s, and before the first one the topic is set, for at
 * most 8 s. After one that has failed, none is tried for 10 s. Thread-safe.
 */
public final class KafkaChangePublisher implements ChangePublisher, AutoCloseable {
  public static final String TOPIC = "ebbfs.changes";

  private static final Logger LOG = LoggerFactory.getLogger(KafkaChangePublisher.class);
  private static final int PARTITION = 0;
  private static final int IDS_OF_A_RECORD = 5_000;
  private static final long PRODUCER_BYTES = 4 << 20;
  private static final int WAIT_MILLIS = 5_000;
  private static final int METADATA_WAIT_MILLIS = 4_000;
  private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final Duration CLOSE_WAIT = Duration.ofSeconds(3);
  private static final long WARN_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final Producer<byte[], byte[]> producer;
  private final ChangeTopic topic;
  private final AtomicLong restsUntil = new AtomicLong(System.nanoTime());
  private final AtomicLong lastWarned = new AtomicLong(System.nanoTime() - WARN_INTERVAL_NANOS);

  /**
   * @param brokers host:port of brokers, separated by commas; they need not run yet
   */
  public KafkaChangePublisher(String brokers) {
    this.producer = producer(brokers);
    this.topic = new ChangeTopic(brokers, TOPIC);
  }

  private static Producer<byte[], byte[]> producer(String brokers) {
    Map<String, Object> settings =
        Map.of(
            ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
            brokers,
            ProducerConfig.CLIENT_ID_CONFIG,
            "ebbfs-namenode-changes",
            ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
            true,
            // A new partition takes whatever batch comes first. With a second batch on its way, the
            // first one could be refused for ever: "out of order sequence number".
            ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION,
            1,
            ProducerConfig.BUFFER_MEMORY_CONFIG,
            PRODUCER_BYTES,
            ProducerConfig.MAX_BLOCK_MS_CONFIG,
            METADATA_WAIT_MILLIS,
            ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
            WAIT_MILLIS,
            ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG,
            WAIT_MILLIS,
            ProducerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG,
            1_000,
            ProducerConfig.LINGER_MS_CONFIG,
            0);
    ByteArraySerializer bytes = new ByteArraySerializer();
    return new KafkaProducer<>(settings, bytes, bytes);
  }

  @Override
  public boolean publish(ChangedIds ids) throws InterruptedIOException {
    if (rests()) {
      return false;
    }
    try {
      topic.ensure();
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(WAIT_MILLIS);
      List<Future<RecordMetadata>> sent = new ArrayList<>();
      for (ChangesProto record : records(ids)) {
        Future<RecordMetadata> one = producer.send(asRecord(record));
        sent.add(one);
        // Each send may wait for a broker; the first that fails ends the publication.
        if (one.isDone()) {
          one.get();
        }
        if (System.nanoTime() - deadline > 0) {
          throw new TimeoutException();
        }
      }
      for (Future<RecordMetadata> one : sent) {
        one.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
      }
      return true;
    } catch (InterruptedException | InterruptException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while changes were published");
    } catch (ExecutionException e) {
      rest(e.getCause());
    } catch (TimeoutException e) {
      rest("no acknowledgement within " + WAIT_MILLIS + " ms");
    } catch (RuntimeException e) { // of the producer: no broker found, closed
      rest(e);
    }
    return false;
  }

  @Override
  public void publishMark(String mark) {
    if (rests()) {
      return;
    }
    try {
      topic.ensure();
      producer.send(
          asRecord(ChangesProto.newBuilder().setMark(mark).build()),
          (metadata, failure) -> {
            if (failure != null) {
              rest(failure);
            }
          });
    } catch (InterruptedException | InterruptException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      rest(e.getCause());
    } catch (RuntimeException e) {
      rest(e);
    }
  }

  private static ProducerRecord<byte[], byte[]> asRecord(ChangesProto changes) {
    return new ProducerRecord<>(TOPIC, PARTITION, null, changes.toByteArray());
  }

  private static List<ChangesProto> records(ChangedIds ids) {
    Records records = new Records();
    for (long id : ids.files()) {
      records.next().addFileIds(id);
    }
    for (long id : ids.directories()) {
      records.next().addDirectoryIds(id);
    }
    for (long id : ids.stripes()) {
      records.next().addStripeIds(id);
    }
    for (long id : ids.pinned()) {
      records.next().addPinnedIds(id);
    }
    return records.all();
  }

  /** Records that are filled one after the other. */
  private static final class Records {
    private final List<ChangesProto> full = new ArrayList<>();
    private ChangesProto.Builder open = ChangesProto.newBuilder();
    private int ids;

    /** The record with room for one more id. */
    ChangesProto.Builder next() {
      if (ids == IDS_OF_A_RECORD) {
        full.add(open.build());
        open = ChangesProto.newBuilder();
        ids = 0;
      }
      ids++;
      return open;
    }

    List<ChangesProto> all() {
      if (ids > 0) {
        full.add(open.build());
      }
      return full;
    }
  }

  // ---- failures ---------------------------------------------------------------------------------

  private boolean rests() {
    return System.nanoTime() - restsUntil.get() < 0;
  }

  private void rest(Object why) {
    long now = System.nanoTime();
    restsUntil.set(now + REST_NANOS);
    topic.forget();
    long last = lastWarned.get();
    if (now - last >= WARN_INTERVAL_NANOS && lastWarned.compareAndSet(last, now)) {
      LOG.warn(
          "Kafka does not take changes of files and stripes ({}): whoever follows them reads"
              + " everything anew once Kafka is back",
          String.valueOf(why));
    }
  }

  /** Ends publications that wait, after a few seconds. */
  @Override
  public void close() {
    producer.close(CLOSE_WAIT);
  }
}
