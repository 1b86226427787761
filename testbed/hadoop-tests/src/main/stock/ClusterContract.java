import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractFSContract;
import org.apache.hadoop.fs.contract.ContractOptions;

/** What HDFS promises of a file system, promised of the cluster that the tests run on. */
final class ClusterContract extends AbstractFSContract {
  private static final List<String> PROMISES =
      List.of(
          ContractOptions.IS_CASE_SENSITIVE,
          ContractOptions.SUPPORTS_APPEND,
          ContractOptions.SUPPORTS_ATOMIC_DIRECTORY_DELETE,
          ContractOptions.SUPPORTS_ATOMIC_RENAME,
          ContractOptions.SUPPORTS_BLOCK_LOCALITY,
          ContractOptions.SUPPORTS_CONCAT,
          ContractOptions.SUPPORTS_SEEK,
          ContractOptions.REJECTS_SEEK_PAST_EOF,
          ContractOptions.SUPPORTS_STRICT_EXCEPTIONS,
          ContractOptions.SUPPORTS_UNIX_PERMISSIONS,
          ContractOptions.RENAME_RETURNS_FALSE_IF_DEST_EXISTS,
          ContractOptions.RENAME_RETURNS_FALSE_IF_SOURCE_MISSING,
          ContractOptions.SUPPORTS_SETTIMES,
          ContractOptions.SUPPORTS_GETFILESTATUS,
          ContractOptions.SUPPORTS_FILE_REFERENCE,
          ContractOptions.SUPPORTS_CONTENT_CHECK,
          ContractOptions.SUPPORTS_UNBUFFER,
          ContractOptions.SUPPORTS_HFLUSH,
          ContractOptions.SUPPORTS_HSYNC);
  private static final Map<String, String> LIMITS =
      Map.of(
          "fs.contract." + ContractOptions.TEST_ROOT_TESTS_ENABLED, "true",
          "fs.hdfs.contract." + ContractOptions.TEST_RANDOM_SEEK_COUNT, "500");

  /** The cluster of this process; set before the first test. */
  static TestedCluster cluster;

  ClusterContract(Configuration conf) {
    super(conf);
    cluster.client().forEach(entry -> conf.set(entry.getKey(), entry.getValue()));
    PROMISES.forEach(promise -> conf.setBoolean("fs.contract." + promise, true));
    LIMITS.forEach(conf::set);
  }

  @Override
  public FileSystem getTestFileSystem() throws IOException {
    return FileSystem.get(FileSystem.getDefaultUri(cluster.client()), getConf());
  }

  @Override
  public String getScheme() {
    return "hdfs";
  }

  @Override
  public Path getTestPath() {
    return new Path("/test");
  }
}
