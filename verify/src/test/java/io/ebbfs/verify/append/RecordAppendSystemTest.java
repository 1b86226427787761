package io.ebbfs.verify.append;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.client.AppendOptions;
import io.ebbfs.client.RecordAppender;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.verify.cluster.VerifyCluster;
import io.ebbfs.verify.cluster.VerifyConfiguration;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Many writers append to one file while a chunk server, a writer and the namenode are killed. Each
 * stored record is in the file once and whole, in the order of its writer.
 */
@Timeout(300)
@Tag("process")
class RecordAppendSystemTest {
  private static final Path FILE = new Path("/appended");
  private static final int WRITERS = 8;
  private static final int KILLED_WRITER = 100;
  private static final long BLOCK_BYTES = 2 << 20;

  private final long seed = Long.getLong("ebbfs.seed", new Random().nextLong());
  private final Random random = new Random(seed);
  private final Set<TestRecord> stored = ConcurrentHashMap.newKeySet();
  private final AtomicIntegerArray progress = new AtomicIntegerArray(WRITERS);
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private volatile boolean stop;
  private DistributedFileSystem files;
  private LocalCluster cluster;

  @TempDir java.nio.file.Path directory;

  private void append(int writer) {
    AppendOptions options = AppendOptions.DEFAULT.withLanes(2).withFile(2, BLOCK_BYTES);
    try (RecordAppender appender = RecordAppender.open(files, FILE, options)) {
      for (int i = 0; !stop; i++) {
        TestRecord record = new TestRecord(writer, i);
        appender.append(record.bytes()).thenRun(() -> noteStored(record));
        if (i % 50 == 49) {
          appender.flush();
          Thread.sleep(50); // so that the file does not become large
        }
      }
    } catch (Throwable thrown) {
      failure.compareAndSet(null, thrown);
    }
  }

  private void noteStored(TestRecord record) {
    stored.add(record);
    progress.incrementAndGet(record.writer());
  }

  private List<Thread> startWriters() {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      int writer = i;
      threads.add(new Thread(() -> append(writer)));
    }
    threads.forEach(Thread::start);
    return threads;
  }

  /** Waits until each writer in this process has so many more records stored. */
  private void awaitProgress(int records) throws Exception {
    for (int writer = 0; writer < WRITERS; writer++) {
      int until = progress.get(writer) + records;
      while (failure.get() == null && progress.get(writer) < until) {
        Thread.sleep(20);
      }
    }
    assertThat(failure.get()).isNull();
  }

  private void killAWriter() throws Exception {
    Process process =
        new ProcessBuilder(
                java.nio.file.Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                AppendingProcess.class.getName(),
                cluster.stockClient().uri(),
                FILE.toString(),
                Integer.toString(KILLED_WRITER))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader out =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      int until = 20 + random.nextInt(200);
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        if (line.matches("\\d+")) {
          stored.add(new TestRecord(KILLED_WRITER, Integer.parseInt(line)));
          if (--until == 0) {
            process.toHandle().destroyForcibly(); // the output that it has written stays
          }
        }
      }
    }
    assertThat(process.waitFor()).isNotZero();
  }

  private void checkFile() throws Exception {
    try (var in = files.open(FILE)) {
      TestRecord.check(in, stored);
    }
  }

  @Test
  void eachStoredRecordIsInTheFileOnceWhateverDies() throws Exception {
    System.out.println("seed " + seed);
    try (VerifyCluster started =
        VerifyCluster.start(
            directory.resolve("cluster"),
            3,
            1,
            Map.of(
                "namenode.yaml",
                "mendPlacements: false\n%sauditLog: %s\n"
                    .formatted(VerifyConfiguration.NAMENODE, auditLog())))) {
      cluster = started.local();
      Configuration conf = new Configuration();
      conf.setInt("ipc.client.connect.max.retries", 100);
      conf.setInt("ipc.client.connect.retry.interval", 100);
      files =
          (DistributedFileSystem)
              DistributedFileSystem.newInstance(URI.create(cluster.stockClient().uri()), conf);
      refusesBadRecords();
      List<Thread> writers = startWriters();
      awaitProgress(400);
      checkCallsWithoutFaults();
      int server = random.nextInt(3);
      cluster.killServer(server);
      awaitProgress(100);
      cluster.startServer(server);
      killAWriter();
      awaitProgress(50);
      cluster.killNamenode();
      cluster.startNamenode();
      awaitProgress(100);
      stop = true;
      for (Thread writer : writers) {
        writer.join();
      }
      assertThat(failure.get()).isNull();
      RecordAppender.finish(files, FILE);
      checkFile();
      assertThat(Arrays.stream(files.listStatus(new Path("/"))).map(FileStatus::getPath))
          .as("nothing is left beside the file")
          .noneMatch(path -> path.getName().startsWith("."));
      files.close();
    }
  }

  private java.nio.file.Path auditLog() {
    return directory.resolve("audit.log");
  }

  /**
   * The writers of a full lane go on in the next one, and one of them seals the full lane. A
   * recovery is only needed for a lane that two writers have created at once.
   */
  private void checkCallsWithoutFaults() throws Exception {
    List<String> calls = Files.readAllLines(auditLog());
    long lanes = calls.stream().filter(line -> line.contains("cmd=concat")).count();
    long recoveries = calls.stream().filter(line -> line.contains("cmd=recoverLease")).count();
    assertThat(lanes).as("lanes that are part of the file").isGreaterThanOrEqualTo(2);
    assertThat(recoveries).as("recoveries for %d lanes", lanes).isLessThanOrEqualTo(lanes);
  }

  private void refusesBadRecords() throws Exception {
    try (RecordAppender appender =
        RecordAppender.open(files, FILE, AppendOptions.DEFAULT.withFile(2, BLOCK_BYTES))) {
      assertThatThrownBy(() -> appender.append(new byte[AppendOptions.MOST_RECORD_BYTES + 1]))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("1048577 bytes");
      assertThatThrownBy(() -> appender.append(new byte[0]))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
