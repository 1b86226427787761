package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import java.time.Clock;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.crypto.CryptoProtocolVersion;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.AddBlockFlag;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.hdfs.protocol.LocatedBlocks;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException;
import org.apache.hadoop.io.EnumSetWritable;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * HDFS's NameNode and ours in this process, each with chunk servers without bytes. A test makes the
 * same calls at both and compares how they end.
 */
final class TwoNamenodes implements AutoCloseable {
  static final int BLOCK = 1 << 20;

  /** Waits until all reports are applied. */
  interface Applied {
    void await() throws IOException;
  }

  /** A namenode and its clients. */
  record Side(
      DistributedFileSystem root,
      DistributedFileSystem ann,
      ReportingServers servers,
      Applied reports) {
    static Side of(InetSocketAddress address, Applied reports) throws Exception {
      return new Side(
          client(address, Optional.empty()),
          client(address, Optional.of("ann")),
          new ReportingServers(address, 3),
          reports);
    }

    ClientProtocol calls() {
      return root.getClient().getNamenode();
    }

    ClientProtocol callsOfAnn() {
      return ann.getClient().getNamenode();
    }

    /** Writes a file with blocks of these lengths and closes it. */
    void write(String path, int replication, long blockSize, List<Integer> lengths)
        throws IOException {
      long id = open(path, replication, blockSize);
      ExtendedBlock last = null;
      for (int length : lengths) {
        last = addBlockOrClose(path, id, last);
        last.setNumBytes(length);
        servers.report(ExtendedBlock.getLocalBlock(last));
        reports.await();
      }
      close(path, id, last);
    }

    /** HDFS's NameNode applies a report a moment after it has answered the server. */
    private void close(String path, long id, ExtendedBlock last) throws IOException {
      long deadline = System.nanoTime() + 20_000_000_000L;
      while (!calls().complete(path, "writer", last, id)) {
        assertThat(System.nanoTime()).as("time of " + path).isLessThan(deadline);
      }
    }

    /** A client that may not write on closes what it has. */
    private ExtendedBlock addBlockOrClose(String path, long id, ExtendedBlock last)
        throws IOException {
      long deadline = System.nanoTime() + 20_000_000_000L;
      while (true) {
        try {
          return addBlock(path, id, last);
        } catch (RemoteException e) {
          boolean early = e.getClassName().equals(NotReplicatedYetException.class.getName());
          if (!early || System.nanoTime() > deadline) {
            close(path, id, last);
            throw e;
          }
        }
      }
    }

    long open(String path, int replication, long blockSize) throws IOException {
      return calls()
          .create(
              path,
              FsPermission.getFileDefault(),
              "writer",
              new EnumSetWritable<>(EnumSet.of(CreateFlag.CREATE)),
              false,
              (short) replication,
              blockSize,
              CryptoProtocolVersion.supported(),
              null,
              null)
          .getFileId();
    }

    private ExtendedBlock addBlock(String path, long id, ExtendedBlock last) throws IOException {
      return calls()
          .addBlock(path, "writer", last, null, id, null, EnumSet.noneOf(AddBlockFlag.class))
          .getBlock();
    }

    /** What a client sees of a path. */
    String describe(String path) throws IOException {
      HdfsFileStatus status = calls().getFileInfo(path);
      if (status == null) {
        return path + " does not exist";
      }
      if (status.isDirectory()) {
        return path + " uses " + calls().getQuotaUsage(path).getSpaceConsumed();
      }
      LocatedBlocks located = calls().getBlockLocations(path, 0, Long.MAX_VALUE);
      boolean closed = calls().isFileClosed(path);
      return "%s has %d bytes, %d of them finished, replication %d, closed %s, uses %d, blocks %s"
          .formatted(
              path,
              status.getLen(),
              located.getFileLength(),
              status.getReplication(),
              closed,
              calls().getContentSummary(path).getSpaceConsumed(),
              closed
                  ? located.getLocatedBlocks().stream()
                      .map(b -> b.getStartOffset() + "+" + b.getBlockSize())
                      .toList()
                  : "in motion");
    }

    void close() throws IOException {
      root.close();
      ann.close();
      servers.close();
    }
  }

  final Side theirs;
  final Side ours;
  private final NameNode hdfs;
  private final NamenodeServer namenode;

  TwoNamenodes(Path directory) throws Exception {
    DefaultMetricsSystem.setMiniClusterMode(true);
    Configuration configuration = new Configuration();
    configuration.set("fs.defaultFS", "hdfs://127.0.0.1:0");
    configuration.set(
        DFSConfigKeys.DFS_NAMENODE_NAME_DIR_KEY, directory.resolve("name").toString());
    configuration.set(DFSConfigKeys.DFS_NAMENODE_HTTP_ADDRESS_KEY, "127.0.0.1:0");
    configuration.setBoolean("dfs.namenode.redundancy.considerLoad", false);
    configuration.setLong("dfs.namenode.fs-limits.min-block-size", 512);
    NameNode.format(configuration);
    hdfs = NameNode.createNameNode(new String[0], configuration);
    NamenodeConfig config =
        NamenodeConfig.of(
            Optional.empty(),
            List.of(
                new NamenodeConfig.Override("test", "data", directory.resolve("data").toString()),
                new NamenodeConfig.Override("test", "minBlockSize", "512B"),
                new NamenodeConfig.Override("test", "port", "0")),
            Optional.empty());
    namenode = NamenodeServer.start(config, Clock.systemUTC(), new Random(1));
    // HDFS's NameNode applies a report a moment after it has answered the server. If the block is
    // committed in this moment, the usage of the directory may lose the difference twice.
    theirs =
        Side.of(
            hdfs.getNameNodeAddress(),
            () -> hdfs.getNamesystem().getBlockManager().flushBlockOps());
    ours = Side.of(namenode.address(), () -> {});
  }

  private static DistributedFileSystem client(InetSocketAddress address, Optional<String> user)
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

  interface Call {
    Object run(Side side) throws IOException;
  }

  /** The result of a call, or the class and the first line of its failure. */
  static String outcome(Side side, Call call) {
    try {
      return String.valueOf(call.run(side));
    } catch (RemoteException e) {
      return e.getClassName() + ": " + e.getMessage().lines().findFirst().orElse("");
    } catch (IOException e) {
      return e.getClass().getName() + ": " + e.getMessage();
    }
  }

  /** Makes a call at both namenodes, which must end in the same way. */
  String same(String what, Call call) {
    String wanted = outcome(theirs, call);
    assertThat(outcome(ours, call)).as(what).isEqualTo(wanted);
    return wanted;
  }

  /** Makes a call at both namenodes; of a failure the class alone must be the same. */
  String sameClass(String what, Call call) {
    String wanted = outcome(theirs, call);
    assertThat(classOf(outcome(ours, call))).as(what + ": " + wanted).isEqualTo(classOf(wanted));
    return wanted;
  }

  private static String classOf(String outcome) {
    int end = outcome.indexOf(": ");
    return end < 0 || !outcome.startsWith("org.") && !outcome.startsWith("java.")
        ? outcome
        : outcome.substring(0, end);
  }

  /** Both namenodes must soon describe a path alike; ours counts deleted blocks for a moment. */
  void sameSight(String after, String path) throws IOException {
    String wanted = theirs.describe(path);
    long deadline = System.nanoTime() + 10_000_000_000L;
    while (!ours.describe(path).equals(wanted) && System.nanoTime() < deadline) {
      Thread.onSpinWait();
    }
    assertThat(ours.describe(path)).as("after " + after).isEqualTo(wanted);
  }

  @Override
  public void close() throws IOException {
    theirs.close();
    ours.close();
    namenode.close();
    hdfs.stop();
  }
}
