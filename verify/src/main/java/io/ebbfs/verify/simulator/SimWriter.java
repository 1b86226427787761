package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.io.FileAppendService;
import io.ebbfs.namenode.files.io.FileCreationService;
import io.ebbfs.namenode.files.io.FileWriteService.Handle;
import io.ebbfs.namenode.replicas.BlockPlaces;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException;

/**
 * A client that writes one file, as a stock client does, by the namenode's own services: creates or
 * appends, asks for blocks, sends bytes through pipelines, rebuilds a pipeline that breaks, flushes
 * and closes. Each {@link #step} is one call or one packet. A call without an answer is sent again.
 */
final class SimWriter {
  private static final int REPLICATION = 3;
  private static final int MOST_FAILURES = 12;

  private final String name;
  private final String path;
  private final SimCluster cluster;
  private final Oracle oracle;
  private final Random random;
  private final int maxLength;
  private final Map<Long, Long> written = new TreeMap<>();
  private final Set<String> excluded = new HashSet<>();
  private long fileId;
  private int blocksLeft;
  private SimPipeline pipeline;
  private long wantedLength;
  private Block previous;
  private int failures;
  private boolean over;
  // Whether a step is under way: a namenode that is frozen may have a call of it.
  private boolean waits;

  /**
   * @param blocks to write; an append may fill the last block of the file besides
   */
  SimWriter(
      String name,
      String path,
      SimCluster cluster,
      Oracle oracle,
      Random random,
      int blocks,
      int maxLength) {
    this.name = name;
    this.path = path;
    this.cluster = cluster;
    this.oracle = oracle;
    this.random = random;
    this.blocksLeft = blocks;
    this.maxLength = maxLength;
  }

  long fileId() {
    return fileId;
  }

  /** Whether the client has closed its file, lost its lease, or died. */
  boolean isOver() {
    return over;
  }

  /** The client dies. Its lease expires some time later. */
  void die() {
    over = true;
  }

  private void draw() {
    wantedLength = random.nextInt(3) == 0 ? maxLength : 1 + random.nextInt(maxLength);
  }

  // ---- open -------------------------------------------------------------------------------------

  /** Makes a new file. */
  void create(SimClient.Namenode namenode, boolean overwrite) throws IOException {
    FileCreationService.Request request =
        new FileCreationService.Request(
            path,
            0644,
            name,
            "",
            true,
            overwrite,
            false,
            REPLICATION,
            namenode.blockSize(maxLength));
    Inode made = namenode.call((files, caller) -> files.creation().create(caller, request));
    fileId = made.id();
  }

  /** Opens a file to write on, in its last block if that takes more bytes. */
  void append(SimClient.Namenode namenode, boolean newBlock) throws IOException {
    FileAppendService.Request request = new FileAppendService.Request(path, name, "", newBlock);
    FileAppendService.Opened opened =
        namenode.call((files, caller) -> files.appends().append(caller, request));
    fileId = opened.file().id();
    BlockPlaces last = opened.last();
    if (last != null && last.places().isEmpty()) {
      BlockRow block = last.block();
      previous = new Block(block.getBlockId(), block.getLengthBytes(), block.getGenerationStamp());
    } else if (last != null) {
      pipeline = new SimPipeline(cluster, last);
      wantedLength = last.block().getLengthBytes() + 1 + random.nextInt(maxLength);
      long stamp = newStamp(namenode);
      if (!pipeline.reopen(stamp)) {
        die();
      }
    }
  }

  // ---- write ------------------------------------------------------------------------------------

  private Handle handle() {
    return new Handle(path, fileId, name, "");
  }

  /** Takes the next step. The client gives up after many failures. */
  void step(SimClient.Namenode namenode) throws IOException {
    if (waits) {
      return;
    }
    namenode.renewLease(name);
    waits = true;
    try {
      if (pipeline == null) {
        nextBlock(namenode);
      } else if (pipeline.isUnknown()) {
        tellNamenode(namenode);
      } else if (pipeline.isFinished()) {
        endBlock();
      } else if (pipeline.acknowledgedBytes() < wantedLength) {
        send(namenode);
      } else {
        finish(namenode);
      }
    } catch (FileNotFoundException | LeaseExpiredException e) {
      over = true; // the file was deleted, or closed by a lease recovery
    } catch (StaleReadException e) {
      throw e;
    } catch (IOException e) {
      fail();
    } finally {
      waits = false;
    }
  }

  private void fail() {
    failures++;
    if (failures > MOST_FAILURES) {
      die();
    }
  }

  private void nextBlock(SimClient.Namenode namenode) throws IOException {
    if (blocksLeft == 0) {
      Block last = previous;
      if (namenode.call((files, caller) -> files.writes().complete(handle(), last))) {
        oracle.closed(fileId, written);
        over = true;
      } else {
        fail();
      }
      return;
    }
    Block before = previous;
    Set<String> without = new HashSet<>(excluded);
    BlockPlaces located =
        namenode.call((files, caller) -> files.writes().addBlock(handle(), before, without));
    SimPipeline begun = new SimPipeline(cluster, located);
    SimServer failed = begun.setUp();
    if (failed != null || begun.nodes().isEmpty()) {
      if (failed != null) {
        excluded.add(failed.uuid());
      }
      Block abandoned = begun.block();
      namenode.call(
          (files, caller) -> {
            files.writes().abandonBlock(handle(), abandoned);
            return true;
          });
      fail();
      return;
    }
    blocksLeft--;
    pipeline = begun;
    draw();
  }

  private void send(SimClient.Namenode namenode) throws IOException {
    long length =
        Math.min(
            wantedLength,
            pipeline.acknowledgedBytes() + 1 + random.nextInt((int) Math.max(1, wantedLength)));
    if (!pipeline.send(length)) {
      rebuild(namenode, false);
      return;
    }
    oracle.promise(fileId, pipeline.block().getBlockId(), length);
    if (random.nextInt(3) == 0) {
      // hflush, or hsync with the length for readers.
      long told = random.nextBoolean() ? length : -1;
      namenode.call(
          (files, caller) -> {
            files.writes().fsync(handle(), told);
            return true;
          });
    }
  }

  private void finish(SimClient.Namenode namenode) throws IOException {
    if (!pipeline.finish(Integer.MAX_VALUE)) {
      rebuild(namenode, true);
    }
  }

  /** The client dies while the end of a block travels through the pipeline. */
  void dieInFinish() {
    if (pipeline != null && !pipeline.isUnknown() && !pipeline.isFinished()) {
      pipeline.finish(random.nextInt(pipeline.nodes().size() + 1));
    }
    die();
  }

  private void rebuild(SimClient.Namenode namenode, boolean close) throws IOException {
    long stamp = newStamp(namenode);
    if (!pipeline.rebuild(stamp, close)) {
      die();
      return;
    }
    fail();
  }

  private void tellNamenode(SimClient.Namenode namenode) throws IOException {
    Block known = pipeline.known();
    Block now = pipeline.block();
    List<String> storages = pipeline.storageUuids();
    namenode.call(
        (files, caller) -> {
          files.writes().updatePipeline(name, known, now, storages);
          return true;
        });
    pipeline.namenodeKnows();
  }

  private long newStamp(SimClient.Namenode namenode) throws IOException {
    Block block = pipeline.block();
    return namenode.call((files, caller) -> files.writes().newGenerationStamp(block, name));
  }

  private void endBlock() {
    previous = pipeline.block();
    written.put(previous.getBlockId(), previous.getNumBytes());
    pipeline = null;
  }
}
