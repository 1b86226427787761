package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ebbfs.testbed.Build;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A stock Java client, with Hadoop's native library, reads block files of a chunk server itself.
 * The newest such library that Maven Central has is of Hadoop 3.3, and it does not load into a
 * newer client. It is for one kind of processor, and the socket needs a directory that nobody else
 * may write to: elsewhere the test is left out, and the tests of the chunk server in C++ remain.
 */
@Tag("process")
class ShortCircuitSystemTest {
  private static final Path LIBRARY = Path.of("target/native/nativelib/Linux-amd64/libhadoop.so");
  private static final Path SAFE = Path.of("/run");
  private static final int LENGTH = 3_000_000;
  private static final int BLOCK = 1 << 20;

  @Test
  void aStockClientReadsTheFilesItself(@TempDir Path directory) throws Exception {
    assumeTrue(Files.exists(LIBRARY) && System.getProperty("os.arch").equals("amd64"));
    assumeTrue(Files.isWritable(SAFE));
    Path sockets = Files.createTempDirectory(SAFE, "ebbfs-test");
    Path socket = sockets.resolve("dn");
    try (NamenodeAndChunkServer servers =
        NamenodeAndChunkServer.start(directory, "--domain-socket=" + socket)) {
      long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
      while (!Files.exists(servers.ready())) {
        assertThat(System.nanoTime()).as("the chunk server is ready").isLessThan(end);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
      }
      String uri = "hdfs://127.0.0.1:" + servers.port();
      byte[] content = new byte[LENGTH];
      new Random(1).nextBytes(content);
      write(uri, content);
      CRC32 crc = new CRC32();
      crc.update(content);

      List<String> lines = read(directory, uri, socket);

      String expected =
          "native true: %d bytes, %d of them from files, crc %x"
              .formatted(LENGTH, LENGTH, crc.getValue());
      assertThat(lines).as("what the client printed").containsExactly(expected, expected);
    } finally {
      Files.deleteIfExists(socket);
      Files.delete(sockets);
    }
  }

  private static Path classes() throws URISyntaxException {
    return Path.of(
        ShortCircuitReader.class.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  private static void write(String uri, byte[] content) throws IOException {
    try (FileSystem fs = FileSystem.newInstance(URI.create(uri), new Configuration());
        FSDataOutputStream out =
            fs.create(new org.apache.hadoop.fs.Path("/file"), true, 64 << 10, (short) 1, BLOCK)) {
      out.write(content);
    }
  }

  private static List<String> read(Path directory, String uri, Path socket) throws Exception {
    Path log = directory.resolve("client.log");
    Process client =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Djava.library.path=" + LIBRARY.toAbsolutePath().getParent(),
                "-cp",
                classes() + File.pathSeparator + Build.find().stockClientClassPath("3.3"),
                ShortCircuitReader.class.getName(),
                uri,
                "/file",
                socket.toString())
            .redirectError(log.toFile())
            .start();
    try {
      List<String> lines =
          new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
              .lines()
              .filter(line -> line.startsWith("native"))
              .toList();
      assertThat(client.waitFor(1, TimeUnit.MINUTES)).isTrue();
      assertThat(client.exitValue())
          .as("exit code; the client said %s", Files.readString(log))
          .isZero();
      return lines;
    } finally {
      client.destroyForcibly();
    }
  }
}
