package io.ebbfs.namenode.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.proto.CodingProtos.ChangesProto;
import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A Kafka broker (KRaft, one node) that a test may kill and start again. */
public final class BrokerProcess implements AutoCloseable {
  private final Path directory;
  private final int port;
  private final Path properties;
  private Process process;

  public BrokerProcess(Path directory) throws Exception {
    this.directory = Files.createDirectories(directory);
    List<Integer> ports = freePorts();
    this.port = ports.get(0);
    int controller = ports.get(1);
    this.properties =
        Files.writeString(
            directory.resolve("server.properties"),
            String.join(
                "\n",
                "process.roles=broker,controller",
                "node.id=1",
                "controller.quorum.voters=1@127.0.0.1:" + controller,
                "listeners=BROKER://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controller,
                "advertised.listeners=BROKER://127.0.0.1:" + port,
                "listener.security.protocol.map=BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
                "controller.listener.names=CONTROLLER",
                "inter.broker.listener.name=BROKER",
                "log.dirs=" + directory.resolve("data"),
                "num.partitions=2",
                "log.cleaner.dedupe.buffer.size=2097152",
                "offsets.topic.replication.factor=1",
                ""));
    Process format =
        java(
            "kafka.tools.StorageTool",
            "format",
            "-t",
            "AAAAAAAAQACAAAAAAAAAAQ",
            "-c",
            properties.toString());
    assertThat(format.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(format.exitValue()).as("see %s", directory.resolve("log")).isZero();
  }

  /** Two that differ. */
  private static List<Integer> freePorts() throws IOException {
    try (ServerSocket one = new ServerSocket(0);
        ServerSocket other = new ServerSocket(0)) {
      return List.of(one.getLocalPort(), other.getLocalPort());
    }
  }

  private Process java(String... arguments) throws IOException {
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    List<String> command =
        new ArrayList<>(
            List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "-Xmx192m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classPath));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(directory.resolve("log").toFile()))
        .start();
  }

  public void start() throws IOException {
    process = java("kafka.Kafka", properties.toString());
  }

  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  public String address() {
    return "127.0.0.1:" + port;
  }

  private static final ConfigResource CHANGES =
      new ConfigResource(ConfigResource.Type.TOPIC, "ebbfs.changes");

  /** After how many records of the change stream the broker writes to its disk. */
  public String flushMessages() throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", (Object) address()))) {
      return admin
          .describeConfigs(List.of(CHANGES))
          .all()
          .get()
          .get(CHANGES)
          .get("flush.messages")
          .value();
    }
  }

  public void setFlushMessages(String records) throws Exception {
    ConfigEntry entry = new ConfigEntry("flush.messages", records);
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", (Object) address()))) {
      admin
          .incrementalAlterConfigs(
              Map.of(CHANGES, List.of(new AlterConfigOp(entry, AlterConfigOp.OpType.SET))))
          .all()
          .get();
    }
  }

  /** All records of the change stream from its beginning up to one that the test waits for. */
  public List<ChangesProto> changesUntil(Predicate<ChangesProto> last) throws Exception {
    Map<String, Object> settings =
        Map.of("bootstrap.servers", address(), "auto.offset.reset", "earliest");
    List<ChangesProto> seen = new ArrayList<>();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      TopicPartition partition = new TopicPartition("ebbfs.changes", 0);
      consumer.assign(List.of(partition));
      consumer.seekToBeginning(List.of(partition));
      while (System.nanoTime() < end) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
          seen.add(ChangesProto.parseFrom(record.value()));
          if (last.test(seen.get(seen.size() - 1))) {
            return seen;
          }
        }
      }
    }
    throw new AssertionError("the record did not come; others are " + seen);
  }

  @Override
  public void close() throws Exception {
    if (process != null) {
      kill();
    }
  }
}
