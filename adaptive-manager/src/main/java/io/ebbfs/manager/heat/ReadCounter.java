package io.ebbfs.manager.heat;

import io.ebbfs.manager.config.HalfLives;
import io.ebbfs.manager.kafka.Consumers;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts reads: it consumes open events from Kafka and adds them to the {@link ManagerStore}, on a
 * thread of its own. The store keeps the Kafka offsets with the counts, so each event counts once,
 * also across crashes. While Kafka is down, the counter tries again and again, and {@link #status}
 * tells the problem.
 */
public final class ReadCounter implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ReadCounter.class);
  private static final Duration POLL = Duration.ofMillis(500);
  private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(5);
  private static final long PROBE_EVERY_MILLIS = 5_000;
  private static final int MOST_RECORDS = 5_000;

  /**
   * The state of the counting.
   *
   * @param problem why no events come; null for none
   * @param lag events in Kafka that are not counted yet; -1 if unknown
   * @param events opens counted since the start of the process; an event stands for one or more
   * @param malformed events that could not be parsed
   * @param skipped how often events were lost because Kafka had already deleted them
   */
  public record Status(
      boolean connected, String problem, long lag, long events, long malformed, long skipped) {}

  private final String servers;
  private final String topic;
  private final HalfLives halfLives;
  private final ManagerStore store;
  private final Clock clock;
  private final Thread thread;
  private volatile boolean stopping;
  private volatile Consumer<byte[], byte[]> consumer;
  private volatile Status status = new Status(false, "not connected yet", -1, 0, 0, 0);
  private long events;
  private long malformed;
  private long skipped;
  private long probedMillis;

  public ReadCounter(
      String servers, String topic, HalfLives halfLives, ManagerStore store, Clock clock) {
    this.servers = servers;
    this.topic = topic;
    this.halfLives = halfLives;
    this.store = store;
    this.clock = clock;
    this.thread = new Thread(this::run, "read-counter");
    this.thread.setDaemon(true);
  }

  public void start() {
    thread.start();
  }

  public Status status() {
    return status;
  }

  private void run() {
    while (!stopping) {
      try (Consumer<byte[], byte[]> connected =
          Consumers.connect(servers, "ebbfs-manager", MOST_RECORDS)) {
        consumer = connected;
        probedMillis = 0;
        while (!stopping) {
          step(connected);
        }
      } catch (WakeupException e) {
        // close() woke the consumer; the loop ends.
      } catch (KafkaException | RocksDBException | IllegalStateException e) {
        if (!stopping) {
          disconnected(e);
          pause();
        }
      }
    }
  }

  private void disconnected(Exception e) {
    String problem =
        "open events cannot be read from Kafka at "
            + servers
            + " ("
            + e.getMessage()
            + "); files keep their last temperature until the broker is back";
    if (status.connected || !problem.equals(status.problem)) {
      LOG.warn("{}", problem);
    }
    status = new Status(false, problem, -1, events, malformed, skipped);
  }

  private synchronized void pause() {
    try {
      if (!stopping) {
        wait(1_000);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      stopping = true;
    }
  }

  /** One round: looks at the partitions now and then, polls, counts. */
  private void step(Consumer<byte[], byte[]> connected) throws RocksDBException {
    long now = System.nanoTime() / 1_000_000;
    if (probedMillis == 0 || now - probedMillis >= PROBE_EVERY_MILLIS) {
      probe(connected);
      probedMillis = now;
    }
    if (connected.assignment().isEmpty()) {
      pause();
      probedMillis = 0;
      return;
    }
    try {
      count(connected.poll(POLL));
    } catch (OffsetOutOfRangeException e) {
      // Kafka dropped older events, or the topic was made anew: start at the first event there is.
      LOG.warn("Open events before the beginning of {} are lost: {}", topic, e.getMessage());
      skipped++;
      store.countAnew(clock.millis());
      connected.seekToBeginning(e.partitions());
    }
  }

  private void probe(Consumer<byte[], byte[]> connected) throws RocksDBException {
    List<org.apache.kafka.common.PartitionInfo> found =
        connected.listTopics(PROBE_TIMEOUT).getOrDefault(topic, List.of());
    Set<TopicPartition> partitions =
        found.stream()
            .map(p -> new TopicPartition(topic, p.partition()))
            .collect(Collectors.toSet());
    Set<TopicPartition> added = new HashSet<>(partitions);
    added.removeAll(connected.assignment());
    if (!added.isEmpty()) {
      connected.assign(partitions);
      for (TopicPartition partition : partitions) {
        long next = store.nextOffset(topic, partition.partition());
        if (next >= 0) {
          connected.seek(partition, next);
        } else {
          connected.seekToBeginning(List.of(partition));
        }
      }
    }
    Map<TopicPartition, Long> ends = connected.endOffsets(partitions, PROBE_TIMEOUT);
    long lag = 0;
    for (Map.Entry<TopicPartition, Long> end : ends.entrySet()) {
      long next = Math.max(0, store.nextOffset(topic, end.getKey().partition()));
      lag += Math.max(0, end.getValue() - next);
    }
    if (!status.connected) {
      LOG.info("Counting open events of topic {} at {}", topic, servers);
    }
    String problem = found.isEmpty() ? "topic " + topic + " does not exist yet" : null;
    status = new Status(true, problem, lag, events, malformed, skipped);
  }

  private void count(ConsumerRecords<byte[], byte[]> records) throws RocksDBException {
    for (TopicPartition partition : records.partitions()) {
      List<OpenEvent> parsed = new ArrayList<>();
      long next = -1;
      for (ConsumerRecord<byte[], byte[]> record : records.records(partition)) {
        next = record.offset() + 1;
        parse(record, parsed);
      }
      if (next >= 0) {
        store.count(
            parsed, new ManagerStore.Position(topic, partition.partition(), next), halfLives);
        events += parsed.stream().mapToLong(OpenEvent::count).sum();
      }
    }
    if (!records.isEmpty()) {
      Status last = status;
      status = new Status(true, last.problem, last.lag, events, malformed, skipped);
    }
  }

  private void parse(ConsumerRecord<byte[], byte[]> record, List<OpenEvent> parsed) {
    try {
      parsed.add(OpenEvent.parse(record.value()).notAfter(clock.millis()));
    } catch (IllegalArgumentException e) {
      malformed++;
      LOG.warn(
          "Open event at {}-{} offset {} is skipped: {}",
          record.topic(),
          record.partition(),
          record.offset(),
          e.getMessage());
    }
  }

  @Override
  public void close() {
    stopping = true;
    synchronized (this) {
      notifyAll();
    }
    Consumer<byte[], byte[]> connected = consumer;
    if (connected != null) {
      connected.wakeup();
    }
    try {
      thread.join(10_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
