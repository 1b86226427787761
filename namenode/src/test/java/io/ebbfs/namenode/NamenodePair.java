package io.ebbfs.namenode;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.security.UserGroupInformation;

/** HDFS's NameNode and ours in this process, for tests that make the same calls at both. */
final class NamenodePair implements AutoCloseable {
  private final NameNode hdfs;
  private final NamenodeServer ours;

  NamenodePair(Path directory) throws Exception {
    this(directory, Map.of(), Map.of());
  }

  /**
   * @param directory for the data of both
   * @param hdfsSettings of HDFS's NameNode, besides its addresses and folders
   * @param ourSettings of our namenode, besides its port and folder
   */
  NamenodePair(Path directory, Map<String, String> hdfsSettings, Map<String, String> ourSettings)
      throws Exception {
    DefaultMetricsSystem.setMiniClusterMode(true);
    Configuration configuration = new Configuration();
    configuration.set("fs.defaultFS", "hdfs://127.0.0.1:0");
    configuration.set(
        DFSConfigKeys.DFS_NAMENODE_NAME_DIR_KEY, directory.resolve("name").toString());
    configuration.set(DFSConfigKeys.DFS_NAMENODE_HTTP_ADDRESS_KEY, "127.0.0.1:0");
    hdfsSettings.forEach(configuration::set);
    NameNode.format(configuration);
    hdfs = NameNode.createNameNode(new String[0], configuration);
    List<NamenodeConfig.Override> settings = new ArrayList<>();
    settings.add(new NamenodeConfig.Override("test", "data", directory.resolve("data").toString()));
    settings.add(new NamenodeConfig.Override("test", "port", "0"));
    ourSettings.forEach(
        (name, value) -> settings.add(new NamenodeConfig.Override("test", name, value)));
    ours =
        NamenodeServer.start(
            NamenodeConfig.of(Optional.empty(), settings, Optional.empty()),
            Clock.systemUTC(),
            new Random(1));
  }

  NameNode hdfs() {
    return hdfs;
  }

  InetSocketAddress hdfsAddress() {
    return hdfs.getNameNodeAddress();
  }

  InetSocketAddress ourAddress() {
    return ours.address();
  }

  /** {@code count} servers of HDFS's NameNode. */
  ReportingServers hdfsServers(int count) throws IOException {
    return hdfsServers(count, ReportingServers.ONE_DISK);
  }

  /** The same, with a disk of each of these types at each server. */
  ReportingServers hdfsServers(int count, List<StorageType> types) throws IOException {
    return new ReportingServers(
        hdfsAddress(), () -> hdfs.getNamesystem().getBlockManager().flushBlockOps(), count, types);
  }

  /** {@code count} servers of our namenode, which applies a report before it answers. */
  ReportingServers ourServers(int count) throws IOException {
    return ourServers(count, ReportingServers.ONE_DISK);
  }

  /** The same, with a disk of each of these types at each server. */
  ReportingServers ourServers(int count, List<StorageType> types) throws IOException {
    return new ReportingServers(ourAddress(), () -> {}, count, types);
  }

  /**
   * A client of one of the namenodes.
   *
   * @param user empty for the user of the test, who is the superuser
   */
  static DistributedFileSystem client(InetSocketAddress address, Optional<String> user)
      throws Exception {
    PrivilegedExceptionAction<DistributedFileSystem> open =
        () ->
            (DistributedFileSystem)
                FileSystem.newInstance(
                    URI.create("hdfs://127.0.0.1:" + address.getPort()), new Configuration());
    return user.isEmpty()
        ? open.run()
        : UserGroupInformation.createRemoteUser(user.get()).doAs(open);
  }

  /**
   * Runs a command of Hadoop's shell against one of the namenodes.
   *
   * @return the exit code and what was printed, but for the logging and the port
   */
  static String shell(
      InetSocketAddress address, Function<Configuration, FsShell> tool, String... arguments)
      throws Exception {
    Configuration configuration = new Configuration();
    configuration.set("fs.defaultFS", "hdfs://127.0.0.1:" + address.getPort());
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed));
    System.setErr(new PrintStream(printed));
    int code;
    try {
      code = tool.apply(configuration).run(arguments);
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
    return code
        + "\n"
        + printed
            .toString()
            .lines()
            .filter(line -> !line.contains("log4j"))
            .collect(Collectors.joining("\n"))
            .replace(":" + address.getPort(), ":port");
  }

  /** Its clients are closed before. */
  @Override
  public void close() throws IOException {
    ours.close();
    hdfs.stop();
  }
}
