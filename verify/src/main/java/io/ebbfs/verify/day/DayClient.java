package io.ebbfs.verify.day;

import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.verify.cluster.ClientSettings;
import io.ebbfs.verify.day.NecessaryBytes.LostReplica;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.HdfsBlockLocation;
import org.apache.hadoop.fs.Path;

/**
 * A stock HDFS client of its own in this process, whose operations are counted. It compares each
 * byte that it reads. One thread uses it.
 */
final class DayClient implements AutoCloseable {
  /** What became of a write. */
  enum Outcome {
    DONE,
    /** The disks are full. */
    REFUSED,
    FAILED
  }

  private static final int REPLICATION = 3;

  private final FileSystem files;
  private final DayFiles book;
  private final DayCounts counts;

  DayClient(LocalCluster cluster, DayFiles book, DayCounts counts) throws IOException {
    Configuration conf = new Configuration();
    ClientSettings.UNDER_FAULTS.forEach(conf::set);
    conf.setLong("dfs.blocksize", DayCluster.BLOCK_BYTES);
    this.files = FileSystem.newInstance(URI.create(cluster.stockClient().uri()), conf);
    this.book = book;
    this.counts = counts;
  }

  /** Writes a file, which is in the book from then on. */
  Outcome write(String directory, DayFile file) {
    try {
      store(file);
      book.add(directory, file);
      counts.done();
      return Outcome.DONE;
    } catch (IOException e) {
      boolean isRefused = counts.writeFailed(file.path(), e);
      giveUp(file);
      return isRefused ? Outcome.REFUSED : Outcome.FAILED;
    }
  }

  private void store(DayFile file) throws IOException {
    FSDataOutputStream out = files.create(new Path(file.path()), false);
    try {
      out.write(file.content());
    } catch (IOException e) {
      closeAfterFailure(out);
      throw e;
    }
    out.close();
  }

  /**
   * A stock client throws the exception of a failed write again, the same object, when the file is
   * closed. So the stream is no resource of a try block, which would add the exception to itself.
   */
  private static void closeAfterFailure(FSDataOutputStream out) {
    try {
      out.close();
    } catch (IOException e) {
      // The caller throws the exception of the write.
    }
  }

  /** The client holds the lease of a file that it could not close, until the file is deleted. */
  private void giveUp(DayFile file) {
    try {
      files.delete(new Path(file.path()), false);
    } catch (IOException e) {
      counts.writeError("deleting %s after a write that failed: %s".formatted(file.path(), e));
    }
  }

  /** Deletes a file that is not in the book any more. */
  void delete(DayFile file) {
    try {
      if (files.delete(new Path(file.path()), false)) {
        counts.done();
      } else {
        counts.writeError("deleting %s: it does not exist".formatted(file.path()));
      }
    } catch (IOException e) {
      counts.writeError("deleting %s: %s".formatted(file.path(), e));
    }
  }

  /** Reads a whole file and compares it. */
  void read(DayFile file) {
    read(file, 0, file.lengthBytes());
  }

  /** Reads a random part of a file and compares it. */
  void readPart(DayFile file, Random random) {
    int from = random.nextInt(file.lengthBytes());
    read(file, from, from + 1 + random.nextInt(file.lengthBytes() - from));
  }

  private void read(DayFile file, int from, int end) {
    byte[] found = new byte[end - from];
    try (FSDataInputStream in = files.open(new Path(file.path()))) {
      if (from == 0) {
        in.readFully(found);
        if (end == file.lengthBytes() && in.read() != -1) {
          counts.readError("%s has bytes behind its end".formatted(file.path()));
        }
      } else {
        in.readFully(from, found);
      }
    } catch (IOException e) {
      counts.readError("%s from byte %d to %d: %s".formatted(file.path(), from, end, e));
      return;
    }
    int wrong = Arrays.mismatch(found, Arrays.copyOfRange(file.content(), from, end));
    if (wrong >= 0) {
      counts.readError("%s has a wrong byte at %d".formatted(file.path(), from + wrong));
    } else {
      counts.done();
    }
  }

  /** The replicas of all files at some servers, as the namenode tells them: HOST:PORT. */
  List<LostReplica> replicasAt(Set<String> addresses) throws IOException {
    List<LostReplica> replicas = new ArrayList<>();
    for (DayFile file : book.all()) {
      for (BlockLocation location : locationsOf(file)) {
        long id = idOf(location);
        for (String address : location.getNames()) {
          if (addresses.contains(address)) {
            replicas.add(new LostReplica(id, location.getLength()));
          }
        }
      }
    }
    return replicas;
  }

  /** The blocks of the files of a directory that have fewer locations than wanted replicas. */
  Set<Long> blocksWithFewLocations(String directory) throws IOException {
    Set<Long> few = new TreeSet<>();
    for (DayFile file : book.all()) {
      if (file.path().startsWith(directory + "/")) {
        for (BlockLocation location : locationsOf(file)) {
          if (location.getNames().length < REPLICATION) {
            few.add(idOf(location));
          }
        }
      }
    }
    return few;
  }

  private static long idOf(BlockLocation location) {
    return ((HdfsBlockLocation) location).getLocatedBlock().getBlock().getBlockId();
  }

  private BlockLocation[] locationsOf(DayFile file) throws IOException {
    try {
      return files.getFileBlockLocations(new Path(file.path()), 0, file.lengthBytes());
    } catch (FileNotFoundException e) {
      return new BlockLocation[0]; // just deleted
    }
  }

  @Override
  public void close() throws IOException {
    files.close();
  }
}
