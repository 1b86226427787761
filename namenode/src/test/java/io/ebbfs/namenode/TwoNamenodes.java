package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.crypto.CryptoProtocolVersion;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.QuotaUsage;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.AddBlockFlag;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.hdfs.protocol.LocatedBlocks;
import org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException;
import org.apache.hadoop.io.EnumSetWritable;
import org.apache.hadoop.ipc.RemoteException;

/**
 * HDFS's NameNode and ours in this process, each with chunk servers without bytes. A test makes the
 * same calls at both and compares how they end.
 */
final class TwoNamenodes implements AutoCloseable {
  static final int BLOCK = 1 << 20;

  /** A namenode and its clients. */
  record Side(DistributedFileSystem root, DistributedFileSystem ann, ReportingServers servers) {
    static Side of(InetSocketAddress address, ReportingServers servers) throws Exception {
      return new Side(
          NamenodePair.client(address, Optional.empty()),
          NamenodePair.client(address, Optional.of("ann")),
          servers);
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

    /** Makes a directory whose files have one replica on SSD, with a quota that nobody reaches. */
    String mkdirOnSsd(String path) throws IOException {
      calls().mkdirs(path, FsPermission.getDirDefault(), true);
      calls().setStoragePolicy(path, "ONE_SSD");
      return limitSsd(path, Long.MAX_VALUE / 2);
    }

    String limitSsd(String path, long bytes) throws IOException {
      calls().setQuota(path, HdfsConstants.QUOTA_DONT_SET, bytes, StorageType.SSD);
      return "set";
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
        QuotaUsage usage = calls().getQuotaUsage(path);
        return "%s uses %d, %d on SSD, %d on DISK"
            .formatted(
                path,
                usage.getSpaceConsumed(),
                usage.getTypeConsumed(StorageType.SSD),
                usage.getTypeConsumed(StorageType.DISK));
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
  private final NamenodePair pair;

  TwoNamenodes(Path directory) throws Exception {
    pair =
        new NamenodePair(
            directory,
            Map.of(
                "dfs.namenode.redundancy.considerLoad",
                "false",
                "dfs.namenode.fs-limits.min-block-size",
                "512"),
            Map.of("minBlockSize", "512B"));
    // HDFS's NameNode applies a report a moment after it has answered the server. If the block is
    // committed in this moment, the usage of the directory may lose the difference twice.
    theirs = Side.of(pair.hdfsAddress(), pair.hdfsServers(3));
    ours = Side.of(pair.ourAddress(), pair.ourServers(3));
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
    pair.close();
  }
}
