package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.XAttrSetFlag;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same calls about extended attributes, by the same users, at HDFS's NameNode and at ours. */
class XAttrsAsHdfsTest {
  private static final String SUPERUSER = "the user of the test";
  private static final List<String> USERS = List.of(SUPERUSER, "ann", "bob");
  private static final List<String> THERE = List.of("/", "/d", "/d/f", "/d/sub", "/d/sub/g", "/h");
  private static final List<String> PATHS =
      Stream.concat(THERE.stream(), Stream.of("/missing/x", "/h/below")).toList();
  private static final List<String> NAMES =
      List.of(
          "user.a",
          "user.b",
          "USER.a",
          "trusted.t",
          "security.s",
          "system.y",
          "raw.r",
          "security.hdfs.unreadable.by.superuser");
  private static final List<EnumSet<XAttrSetFlag>> FLAGS =
      List.of(
          EnumSet.of(XAttrSetFlag.CREATE),
          EnumSet.of(XAttrSetFlag.REPLACE),
          EnumSet.allOf(XAttrSetFlag.class),
          EnumSet.noneOf(XAttrSetFlag.class));
  private static final List<Integer> MODES = List.of(0777, 0700, 0755, 01777, 0711, 0000, 0644);

  @TempDir static Path directory;
  private static ComparedUsers users;

  @BeforeAll
  static void start() throws Exception {
    users = new ComparedUsers(directory, USERS, SUPERUSER);
  }

  @AfterAll
  static void stop() throws IOException {
    users.close();
  }

  // ---- what is compared
  // ---------------------------------------------------------------------------

  private void same(String user, String what, ComparedUsers.Call call) {
    users.same(user, what, call);
  }

  private static org.apache.hadoop.fs.Path path(String name) {
    return new org.apache.hadoop.fs.Path(name);
  }

  private static Map<String, String> shown(Map<String, byte[]> attributes) {
    Map<String, String> shown = new TreeMap<>();
    attributes.forEach(
        (name, value) -> shown.put(name, value == null ? "null" : HexFormat.of().formatHex(value)));
    return shown;
  }

  // ---- calls
  // --------------------------------------------------------------------------------------

  @Test
  void randomCallsEndAsAtHdfs() {
    long seed = Seeds.next(XAttrsAsHdfsTest.class);
    Random random = new Random(seed);
    try {
      prepare();
      for (int i = 0; i < 120; i++) {
        step(random);
      }
    } catch (AssertionError e) {
      throw new AssertionError("seed " + seed, e);
    }
  }

  private void prepare() {
    same(SUPERUSER, "clear", fs -> fs.delete(path("/d"), true) | fs.delete(path("/h"), true));
    same(SUPERUSER, "open the root", fs -> chmod(fs, "/", 0777));
    same("ann", "mkdirs", fs -> fs.mkdirs(path("/d/sub")));
    same("ann", "create", fs -> create(fs, "/d/f"));
    same("ann", "create", fs -> create(fs, "/d/sub/g"));
    same("bob", "create", fs -> create(fs, "/h"));
  }

  private static Object chmod(DistributedFileSystem fs, String path, int mode) throws IOException {
    fs.setPermission(path(path), new FsPermission((short) mode));
    return "done";
  }

  private static Object create(DistributedFileSystem fs, String path) throws IOException {
    fs.create(path(path), true).close();
    return "created";
  }

  private void step(Random random) {
    String user = any(USERS, random);
    String path = any(PATHS, random);
    String name = any(NAMES, random);
    EnumSet<XAttrSetFlag> flags = any(FLAGS, random);
    byte[] value = random.nextInt(4) == 0 ? null : any(List.of("x", "", "yy"), random).getBytes();
    switch (random.nextInt(12)) {
      case 0, 1, 2, 3 ->
          same(
              user,
              "set %s of %s, %s, to %s".formatted(name, path, flags, Arrays.toString(value)),
              fs -> {
                fs.setXAttr(path(path), name, value, flags);
                return "set";
              });
      case 4, 5 ->
          same(
              user,
              "remove " + name + " of " + path,
              fs -> {
                fs.removeXAttr(path(path), name);
                return "removed";
              });
      case 6 -> same(user, "all of " + path, fs -> shown(fs.getXAttrs(path(path))));
      case 7 ->
          same(
              user,
              "one of " + path + ": " + name,
              fs -> shown(fs.getXAttrs(path(path), List.of(name, "user.a"))));
      case 8 -> same(user, "list " + path, fs -> new TreeSet<>(fs.listXAttrs(path(path))));
      case 9 -> {
        int mode = any(MODES, random);
        String changed = any(THERE, random);
        same(user, "chmod " + changed, fs -> chmod(fs, changed, mode));
      }
      case 10 -> {
        String opened = any(List.of("/d/f", "/d/sub/g", "/h"), random);
        same(
            user,
            "open " + opened,
            fs -> {
              fs.open(path(opened)).close();
              return "opened";
            });
      }
      default -> renameThereAndBack(user, random);
    }
  }

  private void renameThereAndBack(String user, Random random) {
    String from = any(List.of("/d/sub", "/d/f", "/h"), random);
    for (boolean there : new boolean[] {true, false}) {
      String source = there ? from : from + ".moved";
      String target = there ? from + ".moved" : from;
      same(
          user,
          "rename " + source,
          fs -> {
            fs.rename(path(source), path(target), Options.Rename.NONE);
            return shown(fs.getXAttrs(path(target)));
          });
      same(
          SUPERUSER,
          "attributes of " + target,
          fs -> fs.exists(path(target)) ? shown(fs.getXAttrs(path(target))) : "none");
      user = SUPERUSER;
    }
  }

  private static <T> T any(List<T> all, Random random) {
    return all.get(random.nextInt(all.size()));
  }

  @Test
  void limitsAreThoseOfHdfs() {
    String file = "/limits";
    same(SUPERUSER, "create", fs -> create(fs, file));
    for (int size : new int[] {16_383, 16_384}) {
      same(SUPERUSER, "a value of " + size, fs -> set(fs, file, "user.n", new byte[size]));
    }
    String name = "\u00e4".repeat(8_000);
    same(SUPERUSER, "a long name", fs -> set(fs, file, "user." + name, new byte[384]));
    same(SUPERUSER, "a too long name", fs -> set(fs, file, "user." + name, new byte[385]));
    IntStream.range(0, 32)
        .forEach(i -> same(SUPERUSER, "number " + i, fs -> set(fs, file, "user." + i, null)));
    same(SUPERUSER, "replace a full set", fs -> set(fs, file, "user.0", new byte[1]));
    same(SUPERUSER, "names", fs -> new TreeSet<>(fs.listXAttrs(path(file))));
    same(SUPERUSER, "one that does not count", fs -> set(fs, file, UNREADABLE, null));
    same("ann", "what ann sees", fs -> new TreeSet<>(fs.listXAttrs(path(file))));
  }

  private static final String UNREADABLE = "security.hdfs.unreadable.by.superuser";

  private static Object set(DistributedFileSystem fs, String path, String name, byte[] value)
      throws IOException {
    fs.setXAttr(path(path), name, value);
    return "set";
  }

  // ---- what HDFS does not have
  // --------------------------------------------------------------------

  @Test
  void theShellPinsATreeAndIsToldWhatAPinCanBe() throws Exception {
    DistributedFileSystem fs = users.ours(SUPERUSER);
    fs.mkdirs(path("/pinned"));
    assertThat(shell("-setfattr", "-n", "user.ebbfs.pin", "-v", "compact", "/pinned")).isZero();
    assertThat(new String(fs.getXAttr(path("/pinned"), "user.ebbfs.pin"), StandardCharsets.UTF_8))
        .isEqualTo("compact");
    assertThat(
            ComparedUsers.outcome(
                fs, it -> set(it, "/pinned", "user.ebbfs.pin", "warm".getBytes())))
        .contains("'warm' is no pin")
        .contains("fast, compact or replicas");
    assertThat(
            ComparedUsers.outcome(fs, it -> set(it, "/pinned", "user.ebbfs.state", "x".getBytes())))
        .contains("'user.ebbfs.state' cannot be set");
    assertThat(ComparedUsers.outcome(fs, it -> set(it, "/", "user.ebbfs.pin", "fast".getBytes())))
        .contains("the root directory")
        .contains("policies.yaml");
    assertThat(shell("-setfattr", "-x", "user.ebbfs.pin", "/pinned")).isZero();
    assertThat(fs.listXAttrs(path("/pinned"))).isEmpty();
  }

  /** What tells how a file is stored is read-only, and a copy must not set it. */
  @Test
  void aCopyWithAttributesHasThePinToo() throws Exception {
    DistributedFileSystem fs = users.ours(SUPERUSER);
    fs.create(path("/original")).close();
    fs.setXAttr(path("/original"), "user.ebbfs.pin", "compact".getBytes());
    fs.setXAttr(path("/original"), "user.a", new byte[] {1});
    assertThat(new String(fs.getXAttr(path("/original"), "user.ebbfs.state")))
        .isEqualTo("replicas");
    assertThat(shell("-getfattr", "-n", "user.ebbfs.heat", "/original")).isZero();
    assertThat(new String(fs.getXAttr(path("/original"), "user.ebbfs.heat"))).isEqualTo("unknown");
    assertThat(shell("-cp", "-px", "/original", "/copy")).isZero();
    assertThat(shown(fs.getXAttrs(path("/copy"))))
        .isEqualTo(shown(fs.getXAttrs(path("/original"))));
    assertThat(fs.listXAttrs(path("/copy"))).containsExactlyInAnyOrder("user.a", "user.ebbfs.pin");
  }

  private static int shell(String... arguments) throws Exception {
    Configuration configuration = new Configuration();
    configuration.set("fs.defaultFS", "hdfs://127.0.0.1:" + users.ourAddress().getPort());
    return new FsShell(configuration).run(arguments);
  }
}
