package io.ebbfs.verify.system;

import java.net.URI;
import java.util.zip.CRC32;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.client.HdfsDataInputStream;
import org.apache.hadoop.util.NativeCodeLoader;

/**
 * A stock client in a process of its own, since a Java process finds Hadoop's native library only
 * at its start. It reads a file twice and prints a line for each time.
 */
final class ShortCircuitReader {
  private ShortCircuitReader() {}

  /**
   * @param arguments the URI of the namenode, the path of the file, the path of the socket
   */
  public static void main(String[] arguments) throws Exception {
    Configuration conf = new Configuration();
    conf.setBoolean("dfs.client.read.shortcircuit", true);
    conf.set("dfs.domain.socket.path", arguments[2]);
    conf.setBoolean("dfs.client.cache.drop.behind.reads", false);
    try (FileSystem fs = FileSystem.newInstance(URI.create(arguments[0]), conf)) {
      for (int i = 0; i < 2; i++) {
        System.out.println(read(fs, new Path(arguments[1])));
      }
    }
  }

  private static String read(FileSystem fs, Path file) throws Exception {
    try (HdfsDataInputStream in = (HdfsDataInputStream) fs.open(file)) {
      CRC32 crc = new CRC32();
      byte[] bytes = new byte[100_000];
      for (int n = in.read(bytes); n >= 0; n = in.read(bytes)) {
        crc.update(bytes, 0, n);
      }
      return "native %s: %d bytes, %d of them from files, crc %x"
          .formatted(
              NativeCodeLoader.isNativeCodeLoaded(),
              in.getReadStatistics().getTotalBytesRead(),
              in.getReadStatistics().getTotalShortCircuitBytesRead(),
              crc.getValue());
    }
  }
}
