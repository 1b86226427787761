import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/**
 * The cluster on which Hadoop's classes run: the one that {@code fs.defaultFS} names, or else an
 * HDFS in this process.
 */
final class TestedCluster implements AutoCloseable {
  static final int BLOCK_BYTES = 64 << 10; // the least of EbbFS
  private static final int DATA_NODES = 3;

  private final Configuration client;
  private final MiniDFSCluster hdfs;

  private TestedCluster(Configuration client, MiniDFSCluster hdfs) {
    this.client = client;
    this.hdfs = hdfs;
  }

  /** The cluster of these settings. */
  static TestedCluster of(Map<String, String> settings) {
    Configuration client = new HdfsConfiguration();
    client.setInt("dfs.blocksize", BLOCK_BYTES);
    settings.forEach(client::set);
    return new TestedCluster(client, null);
  }

  /** HDFS with all its files below a directory. */
  static TestedCluster hdfs(Path directory) throws IOException {
    Configuration conf = new HdfsConfiguration();
    conf.setInt("dfs.blocksize", BLOCK_BYTES);
    conf.setLong("dfs.namenode.fs-limits.min-block-size", 0);
    MiniDFSCluster hdfs =
        new MiniDFSCluster.Builder(conf, new File(directory.toString()))
            .numDataNodes(DATA_NODES)
            .build();
    hdfs.waitClusterUp();
    conf.set("fs.defaultFS", hdfs.getURI().toString());
    return new TestedCluster(conf, hdfs);
  }

  /** The settings of its clients. */
  Configuration client() {
    return new Configuration(client);
  }

  @Override
  public void close() {
    if (hdfs != null) {
      hdfs.shutdown();
    }
  }
}
