package io.ebbfs.manager.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.heat.TestBroker;
import io.ebbfs.manager.model.ModelNamenode;
import io.ebbfs.protocol.proto.CodingProtos.ChangesProto;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The view follows a real broker, which is killed, and whose topic is made anew. */
@Tag("process")
@Timeout(300)
class ViewFollowerTest {
  private static final String TOPIC = "ebbfs.changes";

  @TempDir Path directory;
  private final ModelNamenode namenode = new ModelNamenode();
  private TestBroker broker;
  private KafkaProducer<byte[], byte[]> producer;
  private NamespaceView view;
  private ViewFollower follower;

  @BeforeEach
  void start() throws Exception {
    broker = new TestBroker(directory.resolve("kafka"));
    broker.start();
    newProducer();
    namenode.marks = mark -> send(ChangesProto.newBuilder().setMark(mark).build());
    namenode.addFile("/p/old", 1, 5);
    openView();
  }

  private void newProducer() {
    producer =
        new KafkaProducer<>(
            Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                broker.address(),
                ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION,
                1, // as the namenode's
                ProducerConfig.MAX_BLOCK_MS_CONFIG,
                20_000),
            new ByteArraySerializer(),
            new ByteArraySerializer());
  }

  private void openView() throws Exception {
    view =
        NamespaceView.open(
            directory.resolve("view"), new PolicySet(List.of()), CodeRegistry.builtIn());
    follower = new ViewFollower(broker.address(), new NamenodeGateway(() -> namenode, 10), view);
    follower.start();
  }

  @AfterEach
  void stop() throws Exception {
    closeView();
    producer.close(java.time.Duration.ZERO);
    broker.close();
  }

  private void closeView() {
    follower.close();
    view.close();
  }

  private void send(ChangesProto change) {
    producer.send(record(change));
  }

  private static ProducerRecord<byte[], byte[]> record(ChangesProto change) {
    return new ProducerRecord<>(TOPIC, 0, null, change.toByteArray());
  }

  /** As the namenode does, which notes what it could not publish. */
  private void publish(ChangesProto change) throws InterruptedException {
    try {
      producer.send(record(change)).get();
    } catch (ExecutionException e) {
      namenode.changesLost++;
    }
  }

  private long add(String path) {
    long id = namenode.addFile(path, 1, 5).id;
    send(ChangesProto.newBuilder().addFileIds(id).build());
    return id;
  }

  private void awaitFollowing() throws Exception {
    while (!follower.status().following()) {
      Thread.sleep(50);
    }
  }

  @Test
  void changesComeByIdAndARestartGoesOnFromThere() throws Exception {
    awaitFollowing();
    assertThat(view.files()).isEqualTo(1);
    long before = follower.status().readings();
    long id = add("/p/new");
    follower.catchUp();
    assertThat(view.file(id).path()).isEqualTo("/p/new");
    namenode.delete(id);
    send(ChangesProto.newBuilder().addFileIds(id).build());
    follower.catchUp();
    assertThat(view.file(id)).isNull();
    assertThat(follower.status().readings()).as("nothing else was read").isEqualTo(before);

    closeView();
    long later = add("/p/meanwhile");
    openView();
    follower.catchUp(); // also before the follower has connected
    assertThat(view.file(later).path()).isEqualTo("/p/meanwhile");
    assertThat(follower.status().readings()).isZero();
  }

  @Test
  void aNamenodeThatIsAwayAtARestartCostsNoReading() throws Exception {
    awaitFollowing();
    closeView();
    namenode.down = true;
    openView();
    assertThatThrownBy(follower::catchUp).isInstanceOf(NamenodeException.class);
    assertThatThrownBy(follower::isUsable).isInstanceOf(NamenodeException.class);
    namenode.down = false;
    awaitFollowing();
    follower.catchUp();
    assertThat(follower.status().readings()).isZero();
  }

  @Test
  void whatWasNotPublishedIsFoundByReadingEverything() throws Exception {
    awaitFollowing();
    long id = namenode.addFile("/p/unpublished", 1, 5).id;
    follower.catchUp();
    assertThat(view.file(id)).isNull();
    namenode.changesLost++;
    follower.catchUp();
    assertThat(view.file(id).path()).isEqualTo("/p/unpublished");
  }

  @Test
  void withoutABrokerEverythingIsReadAndWithItTheStreamGoesOn() throws Exception {
    awaitFollowing();
    namenode.marks = mark -> {}; // the namenode does not reach the broker either
    broker.kill();
    long id = namenode.addFile("/p/without", 1, 5).id;
    follower.catchUp();
    assertThat(view.file(id).path()).isEqualTo("/p/without");
    broker.start();
    namenode.marks = mark -> send(ChangesProto.newBuilder().setMark(mark).build());
    awaitFollowing();
    long next = namenode.addFile("/p/with", 1, 5).id;
    publish(ChangesProto.newBuilder().addFileIds(next).build());
    follower.catchUp();
    assertThat(view.file(next).path()).isEqualTo("/p/with");
  }

  @Test
  void aTopicThatWasMadeAnewIsNotTakenForTheOldOne() throws Exception {
    awaitFollowing();
    add("/p/a");
    follower.catchUp();
    closeView();
    try (Admin admin =
        Admin.create(
            Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, (Object) broker.address()))) {
      admin.deleteTopics(List.of(TOPIC)).all().get();
      while (admin.listTopics().names().get().contains(TOPIC)) {
        Thread.sleep(100);
      }
    }
    producer.close();
    newProducer();
    long first = add("/p/b");
    for (int i = 0; i < 50; i++) {
      add("/p/c" + i); // more records than the old topic had
    }
    producer.flush();
    openView();
    awaitFollowing();
    assertThat(view.file(first).path()).isEqualTo("/p/b");
  }
}
