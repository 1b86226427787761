package io.ebbfs.cli.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.testbed.Build;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The namenode as a process of its own: how it starts, refuses to start, stops, and is killed. */
@Tag("process")
class NamenodeProcessTest {
  private static final int CLIENTS = 4;

  @TempDir Path directory;

  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void stopAll() throws InterruptedException {
    for (Process process : processes) {
      process.destroyForcibly().waitFor();
    }
  }

  private Process launch(String log, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-cp", Build.find().classPath("cli")));
    command.addAll(List.of("io.ebbfs.cli.Ebb", "namenode"));
    command.addAll(List.of("--set", "storeCache=8MiB"));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve(log).toFile())
            .start();
    processes.add(process);
    return process;
  }

  /** Starts a namenode on the data directory and waits until it serves. */
  private Process start(String port) throws Exception {
    Path ready = directory.resolve("ready");
    Files.deleteIfExists(ready);
    Process process =
        launch("nn.log", "--data", data(), "--port", port, "--ready-file", ready.toString());
    await(
        "the namenode is ready",
        () -> {
          if (!process.isAlive()) {
            throw new AssertionError("it ended: " + log("nn.log"));
          }
          return Files.exists(ready);
        });
    return process;
  }

  private static void await(String what, Callable<Boolean> condition) throws Exception {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(4);
    while (!condition.call()) {
      assertThat(System.nanoTime()).as("waited 90 s in vain until " + what).isLessThan(end);
      Thread.sleep(20);
    }
  }

  private String data() {
    return directory.resolve("data").toString();
  }

  private String port() throws IOException {
    return Files.readString(directory.resolve("ready")).trim();
  }

  private String log(String name) throws IOException {
    return Files.readString(directory.resolve(name), StandardCharsets.UTF_8);
  }

  private void refuses(int code, String expected, String... arguments) throws Exception {
    Process process = launch("refused.log", arguments);
    assertThat(process.waitFor(3, TimeUnit.MINUTES)).isTrue();
    String printed = log("refused.log");
    assertThat(process.exitValue()).as(printed).isEqualTo(code);
    assertThat(printed.lines().filter(line -> line.startsWith("namenode: "))).hasSize(1);
    assertThat(printed).contains(expected).doesNotContain("\tat ");
  }

  @Test
  void whatCannotStartSaysWhyAndWhetherAnotherStartMayHelp() throws Exception {
    start("0");
    refuses(4, "in use by another namenode", "--data", data(), "--port", "0");
    refuses(
        4,
        "cannot listen at 127.0.0.1:" + port(),
        "--data",
        directory.resolve("other").toString(),
        "--port",
        port());
    refuses(2, "did you mean 'blockSize'?", "--set", "blokSize=1MiB");
    Path file = Files.writeString(directory.resolve("file"), "x");
    refuses(4, "cannot be written", "--data", file.toString(), "--port", "0");
    refuses(2, "cannot be read", "--conf", directory.resolve("none.yaml").toString());
  }

  @Test
  void terminationIsCleanAndTheNextStartFindsEverything() throws Exception {
    Process process = start("0");
    try (FileSystem fs = client()) {
      fs.mkdirs(new org.apache.hadoop.fs.Path("/a/b"));
    }
    process.destroy();
    assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).isZero();
    assertThat(log("nn.log")).doesNotContain("Exception");
    start("0");
    try (FileSystem fs = client()) {
      assertThat(fs.exists(new org.apache.hadoop.fs.Path("/a/b"))).isTrue();
    }
  }

  private DistributedFileSystem client() throws IOException {
    Configuration configuration = new HdfsConfiguration();
    configuration.setBoolean("dfs.client.retry.policy.enabled", false);
    configuration.setInt("ipc.client.connect.max.retries", 0);
    return (DistributedFileSystem)
        FileSystem.newInstance(URI.create("hdfs://127.0.0.1:" + port()), configuration);
  }

  /**
   * One client's acknowledged state; what was under way when the namenode died may have happened or
   * not.
   */
  private static final class Client implements Callable<Object> {
    private final DistributedFileSystem fs;
    private final String top;
    private final Random random;
    private final AtomicInteger acknowledged;
    // Path to whether it is a directory.
    private final Map<String, Boolean> exists = new TreeMap<>();
    private final List<String> inDoubt = new ArrayList<>();

    Client(DistributedFileSystem fs, int number, long seed, AtomicInteger acknowledged) {
      this.fs = fs;
      this.top = "/client" + number;
      this.random = new Random(seed + number);
      this.acknowledged = acknowledged;
    }

    @Override
    public Object call() {
      try {
        for (int i = 0; ; i++) {
          act(i);
          acknowledged.incrementAndGet();
        }
      } catch (IOException e) {
        return null; // the namenode was killed
      }
    }

    private void act(int step) throws IOException {
      String path = top + "/n" + step;
      List<String> names = new ArrayList<>(exists.keySet());
      int which = names.isEmpty() ? 0 : random.nextInt(4);
      String old = names.isEmpty() ? path : names.get(random.nextInt(names.size()));
      inDoubt.clear();
      inDoubt.addAll(List.of(path, old));
      switch (which) {
        case 0 -> {
          fs.mkdirs(new org.apache.hadoop.fs.Path(path));
          exists.put(path, true);
        }
        case 1 -> {
          fs.create(new org.apache.hadoop.fs.Path(path)).close();
          exists.put(path, false);
        }
        case 2 -> {
          assertThat(
                  fs.rename(
                      new org.apache.hadoop.fs.Path(old), new org.apache.hadoop.fs.Path(path)))
              .isTrue();
          exists.put(path, exists.remove(old));
        }
        default -> {
          assertThat(fs.delete(new org.apache.hadoop.fs.Path(old), true)).isTrue();
          exists.remove(old);
        }
      }
      inDoubt.clear();
    }

    void verify(FileSystem restarted) throws IOException {
      Map<String, Boolean> found = new TreeMap<>();
      for (var status : restarted.listStatus(new org.apache.hadoop.fs.Path(top))) {
        found.put(status.getPath().toUri().getPath(), status.isDirectory());
      }
      inDoubt.forEach(
          path -> {
            found.remove(path);
            exists.remove(path);
          });
      assertThat(found).isEqualTo(exists);
    }
  }

  @Test
  void everythingAcknowledgedSurvivesAKillUnderLoad() throws Exception {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("seed " + seed);
    Process process = start("0");
    String port = port();
    for (int round = 0; round < 2; round++) {
      List<Client> clients = new ArrayList<>();
      AtomicInteger acknowledged = new AtomicInteger();
      ExecutorService executor = Executors.newFixedThreadPool(CLIENTS);
      try (DistributedFileSystem fs = client()) {
        List<Future<Object>> running = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
          Client client = new Client(fs, round * CLIENTS + i, seed, acknowledged);
          clients.add(client);
          running.add(executor.submit(client));
        }
        int enough = 400 + new Random(seed).nextInt(400);
        await("the clients have done enough", () -> acknowledged.get() > enough);
        process.destroyForcibly().waitFor();
        for (Future<Object> one : running) {
          one.get(120, TimeUnit.SECONDS);
        }
      } catch (IOException e) {
        // Closing a client whose namenode is gone may fail.
      } finally {
        executor.shutdownNow();
      }
      process = start(port);
      try (FileSystem fs = client()) {
        for (Client client : clients) {
          client.verify(fs);
        }
      }
    }
  }

  @Test
  void aPortInUseBySomethingElseIsNamed() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      refuses(
          4,
          "cannot listen at 127.0.0.1:" + taken.getLocalPort(),
          "--data",
          data(),
          "--port",
          String.valueOf(taken.getLocalPort()));
    }
  }
}
