package io.ebbfs.testbed.cluster;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.process.Launcher;
import io.ebbfs.testbed.process.Ports;
import io.ebbfs.testbed.process.ServerLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** The configuration and the storage of the single Kafka broker (KRaft, combined mode). */
public final class KafkaFiles {
  private static final int FORMAT_SECONDS = 60;

  private KafkaFiles() {}

  /** Writes {@code server.properties}. The sizes are for few small events. */
  public static Path writeProperties(Path directory, String host, Ports ports) throws IOException {
    return writeProperties(directory, host, ports.kafka(), ports.controller());
  }

  /** The same with its two ports. */
  public static Path writeProperties(Path directory, String host, int port, int controllerPort)
      throws IOException {
    Files.createDirectories(directory);
    Path file = directory.resolve("server.properties");
    String broker = "BROKER://" + host + ":" + port;
    String controller = host + ":" + controllerPort;
    return Files.writeString(
        file,
        String.join(
            "\n",
            "# Written at every start of the cluster.",
            "process.roles=broker,controller",
            "node.id=1",
            "controller.quorum.voters=1@" + controller,
            "listeners=" + broker + ",CONTROLLER://" + controller,
            "advertised.listeners=" + broker,
            "listener.security.protocol.map=BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "controller.listener.names=CONTROLLER",
            "inter.broker.listener.name=BROKER",
            "log.dirs=" + directory.resolve("data"),
            "num.partitions=1",
            "num.network.threads=2",
            "num.io.threads=2",
            "background.threads=2",
            "log.segment.bytes=16777216",
            "log.retention.bytes=67108864",
            "metadata.log.segment.bytes=16777216",
            "metadata.max.retention.bytes=33554432",
            "log.cleaner.dedupe.buffer.size=2097152",
            "offsets.topic.num.partitions=1",
            "offsets.topic.replication.factor=1",
            "transaction.state.log.num.partitions=1",
            "transaction.state.log.replication.factor=1",
            "transaction.state.log.min.isr=1",
            "share.coordinator.state.topic.num.partitions=1",
            "share.coordinator.state.topic.replication.factor=1",
            "share.coordinator.state.topic.min.isr=1",
            "group.initial.rebalance.delay.ms=0",
            ""));
  }

  /** Formats the storage directory, unless it is formatted. */
  public static void format(Path directory, Path properties, String classPath, ServerLog log)
      throws ClusterException, IOException, InterruptedException {
    if (Files.exists(directory.resolve("data/meta.properties"))) {
      return;
    }
    log.rotate();
    List<String> command =
        List.of(
            Launcher.java(),
            "-Xmx128m",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            classPath,
            "kafka.tools.StorageTool",
            "format",
            "-t",
            randomId(),
            "-c",
            properties.toString());
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.file().toFile()))
            .start();
    boolean ended = process.waitFor(FORMAT_SECONDS, TimeUnit.SECONDS);
    if (!ended || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new ClusterException(
          "the Kafka broker's storage in %s could not be formatted; its log ends with%s"
              .formatted(directory, log.tail(15)));
    }
  }

  /** The command line of a broker in the foreground. */
  public static List<String> command(String classPath, Path properties) {
    return List.of(
        Launcher.java(),
        "-Xmx256m",
        "-XX:+UseSerialGC",
        "-XX:+ExitOnOutOfMemoryError",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        "-cp",
        classPath,
        "kafka.Kafka",
        properties.toString());
  }

  /** An id as Kafka writes it. Kafka would read an id that begins with '-' as an option. */
  static String randomId() {
    while (true) {
      UUID id = UUID.randomUUID();
      java.nio.ByteBuffer bytes = java.nio.ByteBuffer.allocate(16);
      bytes.putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
      String text = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes.array());
      if (!text.startsWith("-")) {
        return text;
      }
    }
  }
}
