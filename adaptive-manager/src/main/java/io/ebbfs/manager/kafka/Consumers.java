package io.ebbfs.manager.kafka;

import java.util.Properties;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Makes consumers whose positions are kept by those who read, and not by Kafka. */
public final class Consumers {
  private Consumers() {}

  /**
   * A consumer without partitions. It makes no topic, and fails at a position that does not exist.
   *
   * @param servers bootstrap servers, host:port
   * @param client the name that Kafka sees
   * @param mostRecords of one poll
   */
  public static Consumer<byte[], byte[]> connect(String servers, String client, int mostRecords) {
    Properties properties = new Properties();
    properties.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
    properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
    properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
    properties.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, mostRecords);
    properties.put(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, 8 << 20);
    properties.put(ConsumerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 2_000);
    properties.put(ConsumerConfig.CLIENT_ID_CONFIG, client);
    return new KafkaConsumer<>(
        properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }
}
