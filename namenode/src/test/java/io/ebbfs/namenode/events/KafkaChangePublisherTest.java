package io.ebbfs.namenode.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.Await;
import io.ebbfs.namenode.store.SomeIds;
import io.ebbfs.protocol.proto.CodingProtos.ChangesProto;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KafkaChangePublisherTest {
  /** A wait for a broker takes 4 to 5 s; the rest is for a machine that does much else. */
  private static final long ONE_WAIT = 30_000;

  private static final long NO_WAIT = 3_500;

  @TempDir Path directory;

  /** The result, if the publication takes no longer than that. */
  private static boolean published(KafkaChangePublisher publisher, long millis) throws Exception {
    long started = System.nanoTime();
    boolean result = publisher.publish(SomeIds.of(1, 10, 2, 3));
    assertThat(System.nanoTime() - started).isLessThan(TimeUnit.MILLISECONDS.toNanos(millis));
    return result;
  }

  @Test
  void aBrokerThatSaysNothingCostsOneBoundedWait() throws Exception {
    try (ServerSocket mute = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
        KafkaChangePublisher publisher =
            new KafkaChangePublisher("127.0.0.1:" + mute.getLocalPort())) {
      assertThat(published(publisher, ONE_WAIT)).isFalse();
      for (int i = 0; i < 1_000; i++) {
        assertThat(published(publisher, NO_WAIT)).isFalse();
        publisher.publishMark("m");
      }
    }
  }

  @Test
  void aStopOfTheNamenodeEndsTheWait() throws Exception {
    try (ServerSocket mute = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
        KafkaChangePublisher publisher =
            new KafkaChangePublisher("127.0.0.1:" + mute.getLocalPort())) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> published(publisher, NO_WAIT))
          .isInstanceOf(InterruptedIOException.class);
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  @Tag("process")
  void recordsKeepTheirOrderInOnePartitionThroughAnOutage() throws Exception {
    try (BrokerProcess broker = new BrokerProcess(directory.resolve("kafka"));
        KafkaChangePublisher publisher = new KafkaChangePublisher(broker.address())) {
      broker.start();
      // While the broker starts, publications may fail and their records come late.
      Await.until("Kafka takes changes", () -> publisher.publish(SomeIds.of(1, 1, 2, 3)));
      assertThat(broker.flushMessages()).as("each record is on the disk").isEqualTo("1");
      publisher.publishMark("ready");
      assertThat(publisher.publish(SomeIds.of(1, 12_000, 7, 8))).isTrue();
      publisher.publishMark("first");
      List<ChangesProto> all = broker.changesUntil(record -> record.getMark().equals("first"));
      int ready = all.indexOf(ChangesProto.newBuilder().setMark("ready").build());
      List<ChangesProto> records = all.subList(ready + 1, all.size());
      assertThat(records.stream().map(ChangesProto::getFileIdsCount))
          .containsExactly(5_000, 5_000, 2_000, 0);
      assertThat(records.get(2).getDirectoryIdsList()).containsExactly(7L);
      assertThat(records.get(2).getStripeIdsList()).containsExactly(8L);
      assertThat(records.get(1).getFileIds(0)).isEqualTo(5_001);

      broker.setFlushMessages("1000"); // as in a topic of an older version
      broker.kill();
      assertThat(published(publisher, ONE_WAIT)).isFalse();
      assertThat(published(publisher, NO_WAIT)).isFalse();
      broker.start();
      Await.until(
          "Kafka takes changes again", () -> publisher.publish(SomeIds.of(50_000, 1, 9, 10)));
      publisher.publishMark("second");
      assertThat(broker.changesUntil(record -> record.getMark().equals("second")))
          .anyMatch(record -> record.getFileIdsList().equals(List.of(50_000L)));
      assertThat(broker.flushMessages()).as("of a topic that exists").isEqualTo("1");
    }
  }
}
