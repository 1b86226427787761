package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ConditionWaiter;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.net.URI;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The native load generator of the benchmark against a real namenode: it does what it counts. */
@Tag("process")
class MetadataLoadSystemTest {
  private static final int CONNECTIONS = 3;
  private static final int FILES = 256;

  @TempDir static Path directory;
  private static NamenodeAndChunkServer servers;
  private static final DistributedFileSystem files = new DistributedFileSystem();

  private Process generator;
  private Writer requests;
  private BufferedReader answers;

  @BeforeAll
  static void start() throws Exception {
    servers = NamenodeAndChunkServer.start(directory);
    int port = servers.port();
    files.initialize(URI.create("hdfs://127.0.0.1:" + port), new Configuration());
    ConditionWaiter.within(60_000)
        .until(
            "the registration of the chunk server",
            () -> files.getDataNodeStats().length == 1 ? null : "nobody has registered");
  }

  @AfterAll
  static void stop() throws Exception {
    files.close();
    if (servers != null) {
      servers.close();
    }
  }

  private void launch(String root) throws Exception {
    generator =
        new ProcessBuilder(
                Build.find().home().resolve("chunk-cluster/target/cmake/metadata_load").toString(),
                "--host=127.0.0.1",
                "--port=" + servers.port(),
                "--user=" + System.getProperty("user.name"),
                "--connections=" + CONNECTIONS,
                "--server-pid=" + ProcessHandle.current().pid(),
                "--root=" + root)
            .start();
    requests = generator.outputWriter();
    answers = generator.inputReader();
  }

  private JsonNode ask(String request) throws IOException {
    requests.write(request + "\n");
    requests.flush();
    return new ObjectMapper().readTree(answers.readLine());
  }

  private static ContentSummary summary(String path) throws IOException {
    return files.getContentSummary(new org.apache.hadoop.fs.Path(path));
  }

  @Test
  void everyRowSucceedsAndItsOperationsHaveHappened() throws Exception {
    launch("/load");
    assertThat(ask("prepare").has("ok")).isTrue();
    assertThat(summary("/load").getFileCount()).isEqualTo(CONNECTIONS * FILES + 1000);
    FileStatus directory = files.listStatus(new org.apache.hadoop.fs.Path("/load"))[0];
    assertThat(directory.getPath().getName()).hasSize(34);

    long before = summary("/load").getFileCount();
    long created = operations("create");
    assertThat(summary("/load").getFileCount() - before).isBetween(created, created + CONNECTIONS);
    before = summary("/load").getFileCount();
    long deleted = operations("delete");
    assertThat(before - summary("/load").getFileCount()).isBetween(deleted, deleted + CONNECTIONS);
    for (String row :
        List.of(
            "stat",
            "statdir",
            "open",
            "list16",
            "list1000",
            "setPermission",
            "setReplication",
            "rename")) {
      operations(row);
    }
    long directories = summary("/load").getDirectoryCount();
    long made = operations("mkdir");
    // The first of each connection makes the four directories above it, too.
    assertThat(summary("/load").getDirectoryCount() - directories)
        .isBetween(made, made + 5L * CONNECTIONS);
    for (String mix : List.of("spotify", "spotify-zipf", "spotify-shared", "spotify-create20")) {
      operations(mix);
    }
    assertThat(ask("remove").has("ok")).isTrue();
    assertThat(files.exists(new org.apache.hadoop.fs.Path("/load"))).isFalse();
    end();
  }

  private long operations(String row) throws IOException {
    JsonNode answer = ask("run " + row + " 0.2");
    assertThat(answer.path("failures").asLong(-1)).as(row + ": " + answer).isZero();
    assertThat(answer.get("operations").asLong()).as(row).isPositive();
    assertThat(answer.get("p99Millis").asDouble())
        .as(row)
        .isBetween(answer.get("p50Millis").asDouble(), answer.get("p999Millis").asDouble());
    assertThat(answer.get("seconds").asDouble()).as(row).isBetween(0.0001, 30.0);
    return answer.get("operations").asLong();
  }

  @Test
  void smallFilesHaveTheirDataAndLargeDirectoriesAreRenamedAndDeleted() throws Exception {
    launch("/other");
    assertThat(ask("prepare").has("ok")).isTrue();
    assertThat(ask("fill /filled 10 4 data").has("ok")).isTrue();
    assertThat(ask("fill /filled 14 4 empty 10").has("ok")).isTrue();
    assertThat(summary("/filled").getFileCount()).isEqualTo(14);
    assertThat(summary("/filled").getDirectoryCount()).isEqualTo(1 + 4);
    assertThat(summary("/filled").getLength()).isEqualTo(10 * 1024);
    FileStatus first = files.listFiles(new org.apache.hadoop.fs.Path("/filled"), true).next();
    byte[] expected = new byte[1024];
    Arrays.fill(expected, (byte) 'e');
    try (FSDataInputStream in = files.open(first.getPath())) {
      assertThat(in.readAllBytes()).isEqualTo(expected);
    }
    assertThat(ask("stat-tree /filled 14 4 0.2").get("failures").asLong()).isZero();
    assertThat(ask("stat-once /filled").get("operations").asLong()).isEqualTo(CONNECTIONS);

    JsonNode renamed = ask("rename /filled /moved 200 0.3");
    assertThat(renamed.get("answeredAfterSeconds").asDouble()).isPositive();
    assertThat(renamed.get("others").get("operations").asLong()).isPositive();
    assertThat(files.exists(new org.apache.hadoop.fs.Path("/moved"))).isTrue();
    assertThat(ask("delete /moved 200 0.3").has("others")).isTrue();
    assertThat(files.exists(new org.apache.hadoop.fs.Path("/moved"))).isFalse();

    JsonNode paced = ask("paced stat 100 0.5");
    assertThat(paced.get("operations").asLong()).isBetween(1L, 50L);
    JsonNode beside = ask("beside-deletes 100 50 0.5");
    assertThat(beside.get("stats").get("failures").asLong()).isZero();
    assertThat(beside.get("deletes").get("operations").asLong()).isBetween(1L, 25L);
    end();
  }

  @Test
  void nonsenseIsRefusedInWords() throws Exception {
    launch("/third");
    assertThat(ask("run nothing 1").get("error").asText()).contains("no row 'nothing'");
    assertThat(generator.waitFor()).isEqualTo(1);
    launch("/third");
    assertThat(ask("run stat").get("error").asText()).contains("'run stat': the words are missing");
    launch("/third");
    assertThat(ask("rum").get("error").asText()).contains("'rum' is no request");
    launch("/third");
    assertThat(ask("run stat 0.2").get("failures").asLong()).as("nothing is prepared").isPositive();
    end();
  }

  private void end() throws Exception {
    requests.close();
    assertThat(generator.waitFor()).isZero();
  }
}
