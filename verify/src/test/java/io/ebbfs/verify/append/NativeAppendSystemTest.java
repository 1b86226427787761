package io.ebbfs.verify.append;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.client.AppendOptions;
import io.ebbfs.client.RecordAppender;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.verify.cluster.VerifyCluster;
import io.ebbfs.verify.cluster.VerifyConfiguration;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Writers in Java and native writers append to one file while a chunk server and a native writer
 * are killed. Each stored record is in the file once and whole, in the order of its writer.
 */
@Timeout(300)
@Tag("process")
class NativeAppendSystemTest {
  private static final Path FILE = new Path("/shared");
  private static final int LANES = 2;
  private static final int NATIVE_WRITERS = 3;
  private static final int JAVA_WRITER = 100;
  private static final long BLOCK_BYTES = 2 << 20;
  private static final long PAUSE_MILLIS = 2;

  private final Set<TestRecord> stored = ConcurrentHashMap.newKeySet();
  private final List<NativeAppender> natives = new ArrayList<>();
  private final AtomicInteger javaProgress = new AtomicInteger();
  private int nextOfJava;

  @TempDir java.nio.file.Path directory;

  @Test
  void writersInJavaAndNativeWritersShareAFile() throws Exception {
    try (VerifyCluster started =
        VerifyCluster.start(
            directory.resolve("cluster"),
            3,
            1,
            Map.of("namenode.yaml", "mendPlacements: false\n" + VerifyConfiguration.NAMENODE))) {
      LocalCluster cluster = started.local();
      URI uri = URI.create(cluster.stockClient().uri());
      DistributedFileSystem files =
          (DistributedFileSystem) DistributedFileSystem.newInstance(uri, new Configuration());
      try {
        appendWhileProcessesDie(cluster, files);
      } finally {
        for (NativeAppender writer : natives) {
          writer.kill();
        }
      }
      RecordAppender.finish(files, FILE);
      try (var in = files.open(FILE)) {
        TestRecord.check(in, stored);
      }
      assertThat(Arrays.stream(files.listStatus(new Path("/"))).map(FileStatus::getPath))
          .as("nothing is left beside the file")
          .noneMatch(path -> path.getName().startsWith("."));
      files.close();
    }
  }

  private void appendWhileProcessesDie(LocalCluster cluster, DistributedFileSystem files)
      throws Exception {
    AppendOptions options = AppendOptions.DEFAULT.withLanes(LANES).withFile(2, BLOCK_BYTES);
    try (RecordAppender appender = RecordAppender.open(files, FILE, options)) {
      for (int writer = 0; writer < NATIVE_WRITERS; writer++) {
        natives.add(
            new NativeAppender(
                Build.find().appendTool(),
                files.getUri().getAuthority(),
                FILE.toString(),
                LANES,
                writer,
                stored));
      }
      appendUntilAllHave(appender, 500);
      cluster.killServer(1);
      appendUntilAllHave(appender, 700);
      cluster.startServer(1);
      natives.remove(0).kill();
      appendUntilAllHave(appender, 900);
    }
    for (NativeAppender writer : natives) {
      writer.close();
    }
  }

  /** Appends a record of each writer in turn until each writer has so many stored records. */
  private void appendUntilAllHave(RecordAppender appender, int records) throws Exception {
    while (javaProgress.get() < records
        || natives.stream().anyMatch(writer -> writer.progress() < records)) {
      TestRecord record = new TestRecord(JAVA_WRITER, nextOfJava++);
      appender.append(record.bytes()).thenRun(() -> noteStored(record));
      for (NativeAppender writer : natives) {
        writer.append();
      }
      Thread.sleep(PAUSE_MILLIS); // so that the file does not become large
    }
  }

  private void noteStored(TestRecord record) {
    stored.add(record);
    javaProgress.incrementAndGet();
  }
}
