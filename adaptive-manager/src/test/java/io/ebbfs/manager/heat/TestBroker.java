package io.ebbfs.manager.heat;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A Kafka broker in a process of its own (KRaft, one node) that a test may kill and start again.
 */
public final class TestBroker implements AutoCloseable {
  private final Path directory;
  private final int port;
  private final Path properties;
  private Process process;

  public TestBroker(Path directory) throws Exception {
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

  @Override
  public void close() throws Exception {
    if (process != null) {
      kill();
    }
  }
}
