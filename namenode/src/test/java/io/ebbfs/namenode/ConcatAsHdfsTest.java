package io.ebbfs.namenode;

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
import org.apache.hadoop.io.EnumSetWritable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same concats at HDFS's NameNode and at ours: what they answer, and what clients see then. */
class ConcatAsHdfsTest {
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

  private static String concat(Side side, String target, String... sources) throws IOException {
    side.calls().concat(target, sources);
    return "done";
  }

  private static String concatByAnn(Side side, String target, String... sources)
      throws IOException {
    side.callsOfAnn().concat(target, sources);
    return "done";
  }

  @RepeatedTest(2)
  void randomConcatsEndAsAtHdfs() throws IOException {
    long seed = Seeds.next(ConcatAsHdfsTest.class);
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    String top = "/random" + Math.abs(seed);
    try {
      both.same("mkdir", side -> side.mkdirOnSsd(top));
      both.same(
          "mkdir", side -> side.calls().mkdirs(top + "/d", FsPermission.getDirDefault(), true));
      for (int i = 0; i < 30; i++) {
        String what = step(i, top, random);
        both.sameSight(what, top);
        for (int f = 0; f < 6; f++) {
          both.sameSight(what, top + "/f" + f);
        }
      }
    } catch (AssertionError e) {
      throw new AssertionError("seed " + seed, e);
    }
  }

  private static String file(String top, Random random) {
    return top + (random.nextInt(15) == 0 ? "/d" : "") + "/f" + random.nextInt(6);
  }

  private String step(int i, String top, Random random) throws IOException {
    String path = file(top, random);
    switch (random.nextInt(6)) {
      case 5 -> {
        long quota = random.nextBoolean() ? Long.MAX_VALUE / 2 : 1 + random.nextInt(10 * BLOCK);
        both.same(i + ": quota of SSD " + quota, side -> side.limitSsd(top, quota));
        return "quota of SSD";
      }
      case 0, 1 -> {
        List<Integer> lengths = new ArrayList<>();
        for (int n = random.nextInt(4); n > 0; n--) {
          lengths.add(random.nextBoolean() ? BLOCK : 1 + random.nextInt(BLOCK));
        }
        int replication = 1 + random.nextInt(3);
        int size = random.nextInt(5) == 0 ? 2 * BLOCK : BLOCK;
        both.same("delete", side -> side.calls().delete(path, false));
        both.sameClass(
            i + ": write " + path + lengths,
            side -> {
              side.write(path, replication, size, lengths);
              return "written";
            });
        return "write";
      }
      case 2 -> {
        long quota = random.nextBoolean() ? HdfsConstants.QUOTA_RESET : random.nextInt(30 * BLOCK);
        both.same(
            i + ": quota " + quota,
            side -> {
              side.calls().setQuota(top, HdfsConstants.QUOTA_DONT_SET, quota, null);
              return "set";
            });
        return "quota";
      }
      default -> {
        String[] sources = new String[1 + random.nextInt(3)];
        for (int s = 0; s < sources.length; s++) {
          sources[s] = file(top, random);
        }
        String what = i + ": concat " + path + " " + List.of(sources);
        both.sameClass(what, side -> concat(side, path, sources));
        return what;
      }
    }
  }

  @Test
  void concatRefusesAsHdfs() throws IOException {
    both.same(
        "make",
        side -> {
          side.calls().mkdirs("/rules/d", FsPermission.getDirDefault(), true);
          side.write("/rules/a", 3, BLOCK, List.of(BLOCK, 700));
          side.write("/rules/b", 3, BLOCK, List.of(10));
          side.write("/rules/large", 3, 2 * BLOCK, List.of(10));
          side.write("/rules/d/c", 3, BLOCK, List.of(10));
          side.write("/rules/empty", 3, BLOCK, List.of());
          side.open("/rules/open", 3, BLOCK);
          return "made";
        });
    both.same("no target", side -> concat(side, "", "/rules/b"));
    both.same("no sources", side -> concat(side, "/rules/a"));
    for (String target : List.of("/rules/a", "/rules/none", "/rules/d", "/rules/open")) {
      for (String source :
          List.of(
              "/rules/a",
              "/rules/none",
              "/rules/d",
              "/rules/d/c",
              "/rules/large",
              "/rules/empty",
              "/rules/open",
              "/.reserved/.inodes/17")) {
        both.same(source + " to " + target, side -> concat(side, target, source));
      }
    }
    both.same("twice", side -> concat(side, "/rules/a", "/rules/b", "/rules/b"));
    both.same("one is bad", side -> concat(side, "/rules/a", "/rules/b", "/rules/empty"));
    both.same("reserved", side -> concat(side, "/.reserved/raw/rules/a", "/rules/b"));
    both.sameSight("refusals", "/rules/b");
  }

  @Test
  void concatNeedsTheRightsThatHdfsAsksFor() throws IOException {
    both.same("mkdir", side -> side.calls().mkdirs("/p", FsPermission.getDirDefault(), true));
    for (int parent : new int[] {0755, 0777, 01777}) {
      for (int source : new int[] {0644, 0600}) {
        for (int target : new int[] {0644, 0666}) {
          String name = "/p/%o-%o-%o".formatted(parent, source, target);
          both.same(
              "make " + name,
              side -> {
                side.write(name, 1, BLOCK, List.of());
                side.write(name + "s", 1, BLOCK, List.of(7));
                side.calls().setPermission("/p", new FsPermission((short) parent));
                side.calls().setPermission(name, new FsPermission((short) target));
                side.calls().setPermission(name + "s", new FsPermission((short) source));
                return "made";
              });
          both.sameClass("by ann " + name, side -> concatByAnn(side, name, name + "s"));
          both.sameSight("by ann " + name, name);
        }
      }
    }
  }

  @Test
  void aFileIsWrittenOnAfterAConcat() throws IOException {
    EnumSetWritable<CreateFlag> append = new EnumSetWritable<>(EnumSet.of(CreateFlag.APPEND));
    both.same(
        "make",
        side -> {
          side.calls().mkdirs("/on", FsPermission.getDirDefault(), true);
          side.write("/on/a", 3, BLOCK, List.of());
          side.write("/on/b", 2, BLOCK, List.of(5, 7));
          side.write("/on/c", 1, 1024, List.of(1024));
          return concat(side, "/on/a", "/on/c", "/on/b");
        });
    both.sameSight("concat", "/on/a");
    both.same("again", side -> concat(side, "/on/a", "/on/b"));
    both.same("cut", side -> side.calls().truncate("/on/a", 1024 + 5, "client"));
    both.sameSight("cut", "/on/a");
    both.same("append", side -> side.calls().append("/on/a", "w", append).getFileStatus().getLen());
  }
}
