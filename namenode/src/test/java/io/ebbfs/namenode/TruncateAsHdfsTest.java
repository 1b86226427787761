package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.TwoNamenodes.Side;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.server.protocol.BlockRecoveryCommand.RecoveringBlock;
import org.apache.hadoop.io.EnumSetWritable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The same truncations at HDFS's NameNode and at ours: what they answer, and what clients see
 * before and after the chunk servers have cut the last block.
 */
class TruncateAsHdfsTest {
  private static final int BLOCK = TwoNamenodes.BLOCK;

  @TempDir static Path directory;
  private static TwoNamenodes both;

  @BeforeAll
  static void start() throws Exception {
    both = new TwoNamenodes(directory);
  }

  @AfterAll
  static void stop() throws IOException {
    both.close();
  }

  private static void recover(Side side) throws IOException {
    RecoveringBlock order = side.servers().awaitRecovery();
    side.servers().recovered(order);
  }

  /** Truncates at both; if the last block has to be cut, that happens on all servers. */
  private static String truncate(String what, String path, long length, String client)
      throws IOException {
    String answer = both.sameClass(what, side -> side.calls().truncate(path, length, client));
    both.sameSight(what, path);
    if (answer.equals("false")) {
      recover(both.theirs);
      recover(both.ours);
      both.sameSight(what + ", cut", path);
    }
    return answer;
  }

  @RepeatedTest(2)
  void randomTruncationsEndAsAtHdfs() throws IOException {
    long seed = Seeds.next(TruncateAsHdfsTest.class);
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    String top = "/random" + Math.abs(seed);
    try {
      both.same("mkdir", side -> side.mkdirOnSsd(top));
      for (int i = 0; i < 30; i++) {
        step(i, top, random);
        both.sameSight("step " + i, top);
      }
    } catch (AssertionError e) {
      throw new AssertionError("seed " + seed, e);
    }
  }

  private void step(int i, String top, Random random) throws IOException {
    String path = top + "/f" + random.nextInt(3);
    switch (random.nextInt(7)) {
      case 6 -> {
        long quota = random.nextBoolean() ? Long.MAX_VALUE / 2 : 1 + random.nextInt(5 * BLOCK);
        both.same(i + ": quota of SSD " + quota, side -> side.limitSsd(top, quota));
      }
      case 0, 1 -> {
        List<Integer> lengths = new ArrayList<>();
        for (int n = random.nextInt(4); n > 0; n--) {
          lengths.add(random.nextBoolean() ? BLOCK : 1 + random.nextInt(BLOCK));
        }
        int replication = 1 + random.nextInt(3);
        both.same("delete", side -> side.calls().delete(path, false));
        both.sameClass(
            i + ": write " + path + lengths,
            side -> {
              side.write(path, replication, BLOCK, lengths);
              return "written";
            });
        both.sameSight("write", path);
      }
      case 2 -> {
        long quota = random.nextBoolean() ? HdfsConstants.QUOTA_RESET : random.nextInt(12 * BLOCK);
        both.same(
            i + ": quota " + quota,
            side -> {
              side.calls().setQuota(top, HdfsConstants.QUOTA_DONT_SET, quota, null);
              return "set";
            });
      }
      default -> {
        long length =
            random.nextInt(3) == 0 ? (long) random.nextInt(4) * BLOCK : random.nextInt(3 * BLOCK);
        truncate(i + ": truncate " + path + " to " + length, path, length, "client");
      }
    }
  }

  @Test
  void truncateRefusesAsHdfs() throws IOException {
    both.same(
        "make",
        side -> {
          side.calls().mkdirs("/rules/closed", FsPermission.getDirDefault(), true);
          side.write("/rules/f", 3, BLOCK, List.of(BLOCK, 700));
          side.write("/rules/closed/f", 3, BLOCK, List.of(BLOCK));
          side.write("/rules/empty", 3, BLOCK, List.of());
          side.calls().setPermission("/rules/closed", new FsPermission((short) 0700));
          return "made";
        });
    for (String path : List.of("/rules/f", "/rules/none", "/rules", "/", "/rules/empty")) {
      for (long length : new long[] {-1, Long.MAX_VALUE, BLOCK + 701}) {
        String what = path + " to " + length;
        both.same(what, side -> side.calls().truncate(path, length, "client"));
        both.sameClass(what + " by ann", side -> side.callsOfAnn().truncate(path, length, "a"));
      }
    }
    both.sameClass("below f", side -> side.calls().truncate("/rules/f/g", 0, "client"));
    both.sameClass("not readable", side -> side.callsOfAnn().truncate("/rules/closed/f", 0, "a"));
    both.sameClass("not writable", side -> side.callsOfAnn().truncate("/rules/f", 0, "a"));
    both.same("same", side -> side.calls().truncate("/rules/f", BLOCK + 700, "client"));
    both.same("nothing", side -> side.calls().truncate("/rules/empty", 0, "client"));
  }

  @Test
  void aFileThatIsBeingCutIsHeldAsAtHdfs() throws IOException {
    both.same(
        "make",
        side -> {
          side.calls().mkdirs("/cut", FsPermission.getDirDefault(), true);
          side.write("/cut/f", 3, BLOCK, List.of(BLOCK, BLOCK, 500));
          side.write("/cut/g", 3, BLOCK, List.of(BLOCK));
          return "made";
        });
    both.same("begin", side -> side.calls().truncate("/cut/f", BLOCK + 9, "one"));
    both.sameSight("begin", "/cut/f");
    both.same("again", side -> side.calls().truncate("/cut/f", BLOCK + 9, "two"));
    both.same("other length", side -> side.calls().truncate("/cut/f", BLOCK + 8, "one"));
    EnumSetWritable<CreateFlag> append = new EnumSetWritable<>(EnumSet.of(CreateFlag.APPEND));
    both.sameClass("append", side -> side.calls().append("/cut/f", "one", append));
    both.sameClass("append by other", side -> side.calls().append("/cut/f", "two", append));
    both.sameClass(
        "concat",
        side -> {
          side.calls().concat("/cut/f", new String[] {"/cut/g"});
          return "done";
        });
    both.same("replication", side -> side.calls().setReplication("/cut/f", (short) 2));
    both.sameSight("replication", "/cut/f");
    both.same("rename", side -> side.calls().rename("/cut/f", "/cut/h"));
    both.same(
        "cut",
        side -> {
          recover(side);
          return "cut";
        });
    both.sameSight("cut", "/cut/h");
    assertThat(both.ours.describe("/cut/h")).contains((BLOCK + 9) + " bytes", "closed true");
    both.same(
        "append", side -> side.calls().append("/cut/h", "two", append).getFileStatus().getLen());
    both.sameClass("open", side -> side.calls().truncate("/cut/h", 1, "three"));
    both.sameClass("open by the same", side -> side.calls().truncate("/cut/h", 1, "two"));
  }
}
