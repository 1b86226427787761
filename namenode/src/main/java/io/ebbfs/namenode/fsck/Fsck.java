package io.ebbfs.namenode.fsck;

import io.ebbfs.common.http.StreamedPage;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.FsPath;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.io.FileReadService;
import io.ebbfs.namenode.files.tree.InodeLookup;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.store.MetadataStore;
import java.io.IOException;
import java.io.Writer;
import java.time.Clock;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * The page that {@code hdfs fsck} asks for and prints: which files and blocks are whole. It changes
 * nothing. A caller sees what listings show to it; the superuser sees everything. Thread-safe.
 */
public final class Fsck implements StreamedPage {
  private final FsckReader reader;
  private final ClusterView cluster;
  private final FsckText text;
  private final int replication;
  private final Caller.Superuser superuser;
  private final Clock clock;

  /**
   * What fsck reads.
   *
   * @param blocks tells which blocks are lost, and of others what is left
   */
  public record Sources(
      MetadataStore store,
      InodeLookup inodes,
      FileReadService reads,
      BlockService blocks,
      ClusterView cluster) {}

  /**
   * @param replication the default of new files
   * @param clock the time of day
   */
  public Fsck(
      Sources sources,
      String blockPoolId,
      int replication,
      Caller.Superuser superuser,
      Clock clock) {
    this.reader =
        new FsckReader(sources.store(), sources.inodes(), sources.reads(), sources.blocks());
    this.cluster = sources.cluster();
    this.text = new FsckText(blockPoolId);
    this.replication = replication;
    this.superuser = superuser;
    this.clock = clock;
  }

  @Override
  public void write(Map<String, String> query, String client, Writer out) throws IOException {
    FsckQuestion question = FsckQuestion.of(query);
    Caller caller = caller(question.user());
    if (!question.blockIds().isEmpty()) {
      tellOfBlocks(caller, question, client, out);
    } else if (question.corruptFiles()) {
      listLost(caller, question, out);
    } else {
      check(caller, question, client, out);
    }
  }

  private Caller caller(String user) {
    UserGroupInformation named = UserGroupInformation.createRemoteUser(user);
    return new Caller(named.getShortUserName(), named::getGroupsSet, superuser);
  }

  private void check(Caller caller, FsckQuestion question, String client, Writer out)
      throws IOException {
    long began = System.nanoTime();
    String path = question.path();
    out.write(
        "FSCK started by %s (auth:SIMPLE) from /%s for path %s at %s\n\n"
            .formatted(question.user(), client, path, new Date(clock.millis())));
    try {
      refuseChanges(question);
      Optional<Inode> root = reader.find(caller, path);
      if (root.isEmpty()) {
        out.write("\n\nPath '" + path + "' does not exist\n");
        return;
      }
      FsckSums sums = new FsckSums(replication);
      FsckFile files = new FsckFile(reader, question, text, sums, out);
      new FsckWalk(reader, caller, question, sums, files, out)
          .visit(root.get(), FsPath.parse(path).toString());
      sums.print(cluster, out);
      if (question.policies()) {
        tellPolicies(sums, out);
      }
      out.write(
          "FSCK ended at %s in %d milliseconds\n"
              .formatted(new Date(clock.millis()), (System.nanoTime() - began) / 1_000_000));
      out.write(
          "\n\nThe filesystem under path '%s' is %s\n"
              .formatted(path, sums.healthy() ? "HEALTHY" : "CORRUPT"));
    } catch (IOException e) {
      out.write(e.getMessage() + "\n\n\nFsck on path '" + path + "' FAILED\n");
    }
  }

  private static void refuseChanges(FsckQuestion question) throws IOException {
    if (!question.changes().isEmpty()) {
      throw new IOException(
          "EbbFS does not support the options %s of fsck: lost replicas come back by themselves;"
                  .formatted(question.changes())
              + " list the files with -list-corruptfileblocks, and delete them with 'hdfs dfs -rm'");
    }
  }

  /** All storage is of one type. */
  private static void tellPolicies(FsckSums sums, Writer out) throws IOException {
    out.write("\nBlocks satisfying the specified storage policy:\n");
    out.write("Storage Policy                  # of blocks       % of blocks\n");
    sums.printPolicies(out);
    out.write("\nAll blocks satisfy specified storage policy.\n");
  }

  private void listLost(Caller caller, FsckQuestion question, Writer out) throws IOException {
    String path = question.path();
    try {
      PermissionChecker.checkSuperuser(caller, "fsck -list-corruptfileblocks");
      // The first page has all blocks: clients keep places in pages in 32 bits, where ids have 64.
      long lost = question.nextPage() ? 0 : writeLost(FsPath.parse(path), out);
      String count = lost > 0 ? Long.toString(lost) : question.nextPage() ? "no more" : "no";
      out.write(
          "\n\nThe filesystem under path '%s' has %s CORRUPT files\n\n".formatted(path, count));
    } catch (IOException e) {
      out.write(e.getMessage() + "\n\n\nFsck on path '" + path + "' FAILED\n");
    }
  }

  private long writeLost(FsPath below, Writer out) throws IOException {
    long lost = 0;
    long reached = 0;
    List<BlockService.MissingBlock> page;
    do {
      page = reader.lostAfter(reached);
      for (BlockService.MissingBlock block : page) {
        reached = block.blockId();
        if (block.fileId().isPresent()) {
          Optional<FsPath> path =
              reader.pathOf(block.fileId().getAsLong()).filter(below::isAtOrAbove);
          if (path.isPresent()) {
            out.write(lost == 0 ? "Cookie:\t1\n" : "");
            out.write("blk_" + block.blockId() + "\t" + path.get() + "\n");
            lost++;
          }
        }
      }
      out.flush();
    } while (!page.isEmpty());
    return lost;
  }

  private void tellOfBlocks(Caller caller, FsckQuestion question, String client, Writer out)
      throws IOException {
    out.write(
        "FSCK started by %s (auth:SIMPLE) from /%s at %s\n\n"
            .formatted(question.user(), client, new Date(clock.millis())));
    try {
      PermissionChecker.checkSuperuser(caller, "fsck -blockId");
      FsckBlock block = new FsckBlock(reader);
      for (String word : question.blockIds()) {
        if (!word.matches("blk_-?[0-9]{1,18}(_[0-9]+)?(\\.meta)?")) {
          out.write("Incorrect blockId format: " + word + "\n");
          continue;
        }
        block.tell(word, out);
      }
    } catch (IOException e) {
      out.write(e.getMessage() + "\n\n\nFsck on blockId '" + question.blockIds() + " FAILED\n");
    }
  }
}
