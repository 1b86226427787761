package io.ebbfs.workloads.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.process.ProcessUsage;
import io.ebbfs.workloads.data.DataClient.FileSet;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The stock client and the native one read each other's files as what was written. */
@Tag("process")
@Timeout(300)
class DataClientSystemTest {
  private static final int BLOCK_BYTES = 1 << 20;

  /** As many as a group of RS-6-3 has blocks. */
  private static final int SERVERS = 9;

  /** Some blocks, and a part of a checksum's chunk. */
  private static final long BYTES = 2 * BLOCK_BYTES + 300_001;

  @TempDir private static Path directory;
  private static EbbfsSystem system;
  private static DataClient stock;
  private static DataClient ofEbbfs;

  @BeforeAll
  static void start() throws Exception {
    Build build = Build.find();
    system =
        EbbfsSystem.start(
            build, directory.resolve("ebbfs"), new Shape(SERVERS, 1, BLOCK_BYTES, null));
    UnaryOperator<List<String>> here = UnaryOperator.identity();
    stock = DataClient.stock(build, system.client(), directory.resolve("stock.log"), here);
    ofEbbfs = DataClient.ofEbbfs(build, system.client(), directory.resolve("native.log"), here);
    LiveServers.await(List.of(new Side(system, stock, ofEbbfs, stock)), SERVERS);
  }

  @AfterAll
  static void leaveNothingBehind() throws Exception {
    if (ofEbbfs != null) {
      ofEbbfs.close();
    }
    if (stock != null) {
      stock.close();
    }
    if (system != null) {
      system.close();
    }
  }

  @Test
  void theNativeClientReadsWhatTheStockClientWrote() throws Exception {
    exchange(stock, ofEbbfs, "/by-stock", "");
  }

  @Test
  void theStockClientReadsWhatTheNativeClientWrote() throws Exception {
    exchange(ofEbbfs, stock, "/by-native", "");
  }

  @Test
  void theNativeClientReadsWhatTheStockClientEncoded() throws Exception {
    exchange(stock, ofEbbfs, "/striped-by-stock", "RS-6-3-1024k");
  }

  @Test
  void theStockClientReadsWhatTheNativeClientEncoded() throws Exception {
    exchange(ofEbbfs, stock, "/striped-by-native", "RS-6-3-1024k");
  }

  private static void exchange(DataClient writer, DataClient reader, String path, String policy)
      throws Exception {
    FileSet files = new FileSet(path + "/f", 3, BYTES);
    writer.makeDirectory(path, policy);
    assertThat(writer.write(files, 2, 2).micros()).isPositive();
    for (DataClient client : List.of(writer, reader)) {
      assertThat(client.read(files, 2).micros()).isPositive();
      assertThat(client.readBeginning(files, BYTES / 2).micros()).isPositive();
      assertThat(client.firstByte(files).medianMicros()).isPositive();
      assertThat(client.readParts(files, 2, 4096, 50, 42).medianMicros()).isPositive();
    }
    reader.delete(path);
    assertThatThrownBy(() -> writer.read(files, 1)).isInstanceOf(IOException.class);
  }

  @Test
  void bytesOfAnotherNameAreWrongForBothClients() throws Exception {
    stock.write(new FileSet("/named/f1", 1, BYTES), 1, 1);
    rename("/named/f10", "/named/g0");
    FileSet renamed = new FileSet("/named/g", 1, BYTES);
    for (DataClient client : List.of(stock, ofEbbfs)) {
      assertThatThrownBy(() -> client.read(renamed, 1))
          .hasMessageContaining("/named/g0 is wrong at offset 0");
    }
  }

  private static void rename(String from, String to) throws IOException {
    try (FileSystem files =
        FileSystem.newInstance(URI.create(system.client().uri()), new Configuration())) {
      assertThat(
              files.rename(new org.apache.hadoop.fs.Path(from), new org.apache.hadoop.fs.Path(to)))
          .isTrue();
    }
  }

  @Test
  void theProcessorTimeOfBothClientsCounts() throws Exception {
    ofEbbfs.write(new FileSet("/counted/f", 1, BYTES), 1, 1);
    ProcessUsage ofOne = ProcessUsage.of(ofEbbfs.process());
    ProcessUsage least = ofOne.plus(ProcessUsage.of(stock.process()));
    ProcessUsage counted = new Side(system, stock, ofEbbfs, stock).usage().client();
    assertThat(ofOne.readCalls()).isPositive();
    assertThat(counted.readCalls()).isGreaterThanOrEqualTo(least.readCalls());
    assertThat(counted.cpuSeconds()).isGreaterThanOrEqualTo(least.cpuSeconds());
  }
}
