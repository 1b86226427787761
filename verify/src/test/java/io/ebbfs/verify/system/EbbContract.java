package io.ebbfs.verify.system;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.contract.AbstractFSContract;

/**
 * What EbbFS promises to Hadoop's own contract tests: the same as HDFS. The namenode runs in this
 * process, and the chunk server in one of its own.
 */
final class EbbContract extends AbstractFSContract {
  private final URI uri;

  EbbContract(Configuration configuration, int port) {
    super(configuration);
    this.uri = URI.create("hdfs://127.0.0.1:" + port);
    for (String promise :
        new String[] {
          "supports-concat",
          "supports-append",
          "supports-seek",
          "rejects-seek-past-eof",
          "supports-strict-exceptions",
          "supports-unix-permissions",
          "supports-atomic-rename",
          "supports-atomic-directory-delete",
          "supports-settimes",
          "supports-getfilestatus",
          "is-case-sensitive"
        }) {
      configuration.setBoolean(getConfKey(promise), true);
    }
    configuration.setInt("dfs.replication", 1);
  }

  /** Waits until the chunk server takes blocks. */
  static NamenodeAndChunkServer start(Path directory) throws Exception {
    NamenodeAndChunkServer cluster = NamenodeAndChunkServer.start(directory);
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (!cluster.ready().toFile().exists()) {
      if (System.nanoTime() > deadline || !cluster.chunkServer().isAlive()) {
        cluster.close();
        throw new IOException("the chunk server is not ready: see " + directory);
      }
      Thread.onSpinWait();
    }
    return cluster;
  }

  @Override
  public FileSystem getTestFileSystem() throws IOException {
    return FileSystem.get(uri, getConf());
  }

  @Override
  public String getScheme() {
    return "hdfs";
  }

  @Override
  public org.apache.hadoop.fs.Path getTestPath() {
    return new org.apache.hadoop.fs.Path("/test");
  }
}
