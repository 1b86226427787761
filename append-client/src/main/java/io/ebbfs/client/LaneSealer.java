package io.ebbfs.client;

import io.ebbfs.protocol.proto.AppendProtos.BatchAnswerProto;
import io.ebbfs.protocol.proto.AppendProtos.LaneProto;
import io.ebbfs.protocol.proto.AppendProtos.OpenBlockProto;
import java.io.IOException;
import java.util.Optional;
import java.util.UUID;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.hdfs.protocol.SnapshotException;
import org.apache.hadoop.hdfs.protocolPB.PBHelperClient;
import org.apache.hadoop.ipc.RemoteException;

/**
 * Seals a lane: makes its block final, cuts the block after the last whole batch, and moves it to
 * the end of the file. Each step may be repeated, and several writers may seal a lane at once: the
 * names of a lane are not used again, and each step leads to the same result whoever does it.
 */
final class LaneSealer {
  private static final long POLL_MILLIS = 100;

  /** Servers report a final block at once. */
  private static final long REPORTED_MILLIS = 5_000;

  private static final long REPORT_POLL_MILLIS = 20;

  private final LaneFiles files;
  private final ClientProtocol namenode;
  private final String recoverer = "EBBFS_SEAL_" + UUID.randomUUID();

  LaneSealer(LaneFiles files) {
    this.files = files;
    this.namenode = files.namenode();
  }

  /**
   * Seals the lane unless it is sealed.
   *
   * @param finished the answer of the leader that has finished the lane, if there is one
   * @return the bytes of the block that are part of the file
   */
  long seal(
      LaneName name,
      Optional<LaneProto> lane,
      Optional<BatchAnswerProto> finished,
      Deadline deadline)
      throws IOException, InterruptedException {
    Optional<Long> sealed = files.sealedBytes(name);
    if (sealed.isEmpty()) {
      if (lane.isPresent() && !lane.get().hasBlock()) {
        // The lane was given up before anybody could know it. Its blocks need no recovery.
        files.setSealedBytes(name, 0);
        join(name, 0);
        return 0;
      }
      if (lane.isPresent() && finished.isPresent() && complete(name, lane.get(), finished.get())) {
        files.setSealedBytes(name, finished.get().getBlockBytes());
      } else if (files.sealedBytes(name).isEmpty()) { // no other writer was faster
        close(name.ledger(), deadline);
        close(name.block(), deadline);
        files.setSealedBytes(name, wholeBytes(name, deadline));
      }
      sealed = files.sealedBytes(name);
    }
    long bytes = sealed.orElseThrow(() -> new IOException(name.ledger() + " lost its attributes"));
    join(name, bytes);
    return bytes;
  }

  /**
   * Closes both files with the lengths that the leader tells: it has finished the lane, so all
   * batches in the block are whole.
   *
   * @return false if recovery must close them
   */
  private boolean complete(LaneName name, LaneProto lane, BatchAnswerProto finished)
      throws InterruptedException {
    try {
      return complete(name.ledger(), lane.getLedger(), finished.getLedgerBytes())
          && complete(name.block(), lane.getBlock(), finished.getBlockBytes());
    } catch (IOException recoveryCloses) {
      return false;
    }
  }

  private boolean complete(String path, OpenBlockProto open, long bytes)
      throws IOException, InterruptedException {
    HdfsFileStatus status = namenode.getFileInfo(path);
    if (status == null) {
      return false;
    }
    ExtendedBlock block = PBHelperClient.convert(open.getBlock());
    block.setNumBytes(bytes);
    // False as long as too few servers have told the namenode that the block is final.
    Deadline reports = Deadline.in(REPORTED_MILLIS);
    while (!namenode.complete(path, files.leaseHolder(), block, status.getFileId())) {
      if (reports.isOver()) {
        return false;
      }
      Thread.sleep(REPORT_POLL_MILLIS);
    }
    status = namenode.getFileInfo(path);
    return status != null && status.getLen() == bytes;
  }

  /** Waits until the file is closed, or gone. */
  private void close(String path, Deadline deadline) throws IOException, InterruptedException {
    while (namenode.getFileInfo(path) != null) {
      try {
        if (namenode.recoverLease(path, recoverer)) {
          return;
        }
      } catch (IOException failure) {
        if (namenode.getFileInfo(path) == null) {
          return;
        }
        deadline.check("the block of %s is not recovered".formatted(path), failure);
      }
      deadline.check("the block of %s is not recovered".formatted(path), null);
      Thread.sleep(POLL_MILLIS);
    }
  }

  /** Cuts the block after its last whole batch, and tells its length. */
  private long wholeBytes(LaneName name, Deadline deadline)
      throws IOException, InterruptedException {
    HdfsFileStatus status = namenode.getFileInfo(name.block());
    if (status == null) {
      return files.sealedBytes(name).orElse(0L);
    }
    LaneLedger ledger = files.read(name);
    refuseUnknownBytes(name, ledger, status.getLen());
    long whole = ledger.wholeBytes(status.getLen());
    if (whole > 0 && whole < status.getLen()) {
      namenode.truncate(name.block(), whole, recoverer);
      close(name.block(), deadline);
    }
    return whole;
  }

  /**
   * The ledger knows each byte of the block, since no byte is sent before its entry is everywhere.
   * A ledger that knows less was not read as a whole, or is damaged.
   */
  static void refuseUnknownBytes(LaneName name, LaneLedger ledger, long blockBytes)
      throws IOException {
    long known = ledger.wholeBytes(Long.MAX_VALUE);
    if (known < blockBytes) {
      throw new IOException(
          ("%s has %d bytes, and its ledger %s knows %d of them; if that stays so, the ledger is "
                  + "damaged or all servers of it lost power: read the block, cut it by 'hdfs dfs "
                  + "-truncate %d %s' (delete it at 0 bytes), and seal the file again")
              .formatted(name.block(), blockBytes, name.ledger(), known, known, name.block()));
    }
  }

  private static boolean isInSnapshot(IOException failure) {
    return failure instanceof SnapshotException
        || failure instanceof RemoteException remote
            && remote.getClassName().equals(SnapshotException.class.getName());
  }

  private void join(LaneName name, long bytes) throws IOException {
    if (namenode.getFileInfo(name.block()) == null) {
      return;
    }
    files.requireFile();
    try {
      if (bytes == 0) {
        namenode.delete(name.block(), false);
      } else {
        namenode.concat(files.path(), new String[] {name.block()});
      }
    } catch (IOException failure) {
      if (isInSnapshot(failure)) {
        throw new AppendException(
            ("the stored records in %s cannot move to %s as long as a snapshot shows them; delete "
                    + "the snapshots that were taken during the append, and call "
                    + "RecordAppender.sealAll")
                .formatted(name.block(), files.path()),
            failure);
      }
      if (namenode.getFileInfo(name.block()) != null) {
        throw failure;
      }
    }
  }
}
