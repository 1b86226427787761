package io.ebbfs.verify.scale;

import io.ebbfs.manager.Manager;
import io.ebbfs.manager.config.ManagerConfig;
import io.ebbfs.testbed.process.LiveFiles;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.fs.SafeModeAction;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/**
 * The dashboard and the REST API over a {@link SyntheticCluster}, so that they can be looked at
 * with very many files. The manager evaluates on its usual schedule and proposes; nothing carries
 * out what it proposes, since no executor runs.
 */
public final class ScaleDashboard implements AutoCloseable {
  /** One of so many files is in the directory of many files. */
  private static final int FLAT_ONE_OF = 10;

  private final long files;
  private final SyntheticCluster cluster;
  private final Path directory;
  private Manager manager;
  private volatile boolean isMine;
  private boolean isClosed;

  /**
   * @param directory for temporary files; it must not exist, or be empty. It is deleted at the end
   */
  public ScaleDashboard(long files, Path directory, PrintStream out) {
    this.files = files;
    this.directory = directory;
    this.cluster = new SyntheticCluster(files, directory, ManagerConfig.defaults().schedule(), out);
  }

  /**
   * Fills a store and serves it. Another thread may close the dashboard meanwhile: then this call
   * fails soon.
   *
   * @throws IOException if the directory has something in it
   */
  public void open() throws Exception {
    Files.createDirectories(directory);
    try (var present = Files.list(directory)) {
      if (present.findAny().isPresent()) {
        throw new IOException(directory + " is not empty: name a directory that does not exist");
      }
    }
    isMine = true;
    cluster.fill(files / FLAT_ONE_OF);
    cluster.startKafka();
    cluster.startNamenode();
    cluster.registerServers();
    leaveSafeMode();
    manager = cluster.openManager();
    cluster.startManager();
    cluster.countReads();
    manager.evaluator().evaluateNowAndThen(false);
  }

  /** The servers send no full reports, for which safe mode would wait. */
  private void leaveSafeMode() throws IOException {
    try (DistributedFileSystem hdfs = cluster.client()) {
      hdfs.setSafeMode(SafeModeAction.LEAVE);
    }
  }

  public String address() {
    return "http://127.0.0.1:" + manager.httpPort();
  }

  /** The file with the token for actions. */
  public Path tokenFile() {
    return cluster.tokenFile();
  }

  @Override
  public synchronized void close() throws Exception {
    if (isClosed) {
      return;
    }
    isClosed = true;
    try {
      cluster.close();
    } finally {
      if (isMine) {
        LiveFiles.deleteTree(directory);
      }
    }
  }
}
