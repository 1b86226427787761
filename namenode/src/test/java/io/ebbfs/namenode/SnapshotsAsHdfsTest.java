package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.XAttrSetFlag;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.SnapshotDiffReport;
import org.apache.hadoop.hdfs.protocol.SnapshottableDirectoryStatus;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same calls with snapshots at HDFS's NameNode and at ours, with the same ends. */
class SnapshotsAsHdfsTest {
  private static final String SUPERUSER = "the superuser";
  private static final List<String> USERS = List.of(SUPERUSER, "ann");
  private static final List<String> NAMES = List.of("a", "b", "c");

  @TempDir static Path directory;
  private static ComparedUsers users;

  @BeforeAll
  static void start() throws Exception {
    users = new ComparedUsers(directory, USERS, SUPERUSER);
    same(SUPERUSER, "open the root", fs -> chmod(fs, "/", 0777));
  }

  @AfterAll
  static void stop() throws IOException {
    users.close();
  }

  // ---- what is compared -------------------------------------------------------------------------

  private static void same(String user, String what, ComparedUsers.Call call) {
    users.same(user, what, call);
  }

  /** Compares the results, and of failures the classes. */
  private static void alike(String user, String what, ComparedUsers.Call call) {
    assertThat(kind(users.ourOutcome(user, call)))
        .as("%s by %s", what, user)
        .isEqualTo(kind(users.hdfsOutcome(user, call)));
  }

  private static String kind(String outcome) {
    return outcome.matches("(?s)[a-z]+(\\.[A-Za-z$]+)+(Exception|Error): .*")
        ? outcome.substring(0, outcome.indexOf(':'))
        : outcome;
  }

  private static org.apache.hadoop.fs.Path path(String name) {
    return new org.apache.hadoop.fs.Path(name);
  }

  private static Object chmod(DistributedFileSystem fs, String path, int mode) throws IOException {
    fs.setPermission(path(path), new FsPermission((short) mode));
    return "done";
  }

  private static Object create(DistributedFileSystem fs, String path) throws IOException {
    fs.create(path(path), true).close();
    return "created";
  }

  private static String shown(DistributedFileSystem fs, FileStatus status) throws IOException {
    String path = status.getPath().toUri().getPath();
    Map<String, String> attributes = new TreeMap<>();
    fs.getXAttrs(status.getPath())
        .forEach((name, value) -> attributes.put(name, value == null ? "" : new String(value)));
    return "%s %s %s %s %d %s %s %s"
        .formatted(
            path,
            status.isDirectory() ? "d" : "f",
            status.getPermission(),
            status.getOwner(),
            status.getReplication(),
            attributes,
            status.isSnapshotEnabled(),
            status.hasAcl() ? fs.getAclStatus(status.getPath()).getEntries() : "");
  }

  /** Everything at and below a path. */
  private static String tree(DistributedFileSystem fs, String path) throws IOException {
    List<String> lines = new ArrayList<>();
    collect(fs, fs.getFileStatus(path(path)), lines);
    ContentSummary sum = fs.getContentSummary(path(path));
    lines.add(sum.getFileCount() - sum.getSnapshotFileCount() + " files");
    return String.join("\n", lines);
  }

  private static void collect(DistributedFileSystem fs, FileStatus status, List<String> lines)
      throws IOException {
    lines.add(shown(fs, status));
    if (status.isDirectory()) {
      for (FileStatus entry : fs.listStatus(status.getPath())) {
        collect(fs, entry, lines);
      }
    }
  }

  private static String diff(DistributedFileSystem fs, String path, String from, String to)
      throws IOException {
    SnapshotDiffReport report = fs.getSnapshotDiffReport(path(path), from, to);
    return report.getDiffList().stream()
        .map(Object::toString)
        .collect(Collectors.toCollection(TreeSet::new))
        .toString();
  }

  // ---- calls ------------------------------------------------------------------------------------

  @Test
  void aSnapshotShowsWhatWasThereBeforeADeleteAndAnOverwrite() {
    String user = "ann";
    same(user, "mkdirs", fs -> fs.mkdirs(path("/first/sub")));
    same(user, "create", fs -> create(fs, "/first/sub/f"));
    same(user, "create", fs -> create(fs, "/first/g"));
    same(user, "no superuser", fs -> allow(fs, "/first"));
    same(user, "not allowed", fs -> fs.createSnapshot(path("/first"), "s1"));
    same(SUPERUSER, "allow", fs -> allow(fs, "/first"));
    same(user, "snapshot", fs -> fs.createSnapshot(path("/first"), "s1").toUri().getPath());
    same(user, "again", fs -> fs.createSnapshot(path("/first"), "s1"));
    same(user, "delete", fs -> fs.delete(path("/first/sub"), true));
    same(user, "overwrite", fs -> create(fs, "/first/g"));
    same(user, "chmod", fs -> chmod(fs, "/first/g", 0600));
    same(user, "tree", fs -> tree(fs, "/first/.snapshot/s1"));
    same(user, "now", fs -> tree(fs, "/first"));
    same(user, "open", fs -> opened(fs, "/first/.snapshot/s1/sub/f"));
    for (String path : List.of("/first/.snapshot", "/first/.snapshot/s1/sub/f")) {
      same(user, "policy of " + path, fs -> fs.getStoragePolicy(path(path)).getName());
      same(user, "code of " + path, fs -> String.valueOf(fs.getErasureCodingPolicy(path(path))));
    }
    same(user, "list", fs -> listed(fs, "/first/.snapshot"));
    same(user, "diff", fs -> diff(fs, "/first", "s1", ""));
    same(user, "diff back", fs -> diff(fs, "/first", "", "s1"));
    alike(user, "write", fs -> create(fs, "/first/.snapshot/s1/h"));
    alike(user, "mkdir", fs -> fs.mkdirs(path("/first/.snapshot/h")));
    alike(user, "delete below", fs -> fs.delete(path("/first/.snapshot/s1/sub"), true));
    alike(user, "rename out", fs -> fs.rename(path("/first/.snapshot/s1/sub"), path("/first/x")));
    alike(user, "rename in", fs -> fs.rename(path("/first/g"), path("/first/.snapshot/s1/g")));
    alike(user, "chmod below", fs -> chmod(fs, "/first/.snapshot/s1/g", 0700));
    alike(user, "no such name", fs -> tree(fs, "/first/.snapshot/s1/none"));
    alike(user, "no such snapshot", fs -> tree(fs, "/first/.snapshot/none"));
    alike(user, "nothing allowed", fs -> tree(fs, "/first/sub/.snapshot"));
    alike(user, "reserved", fs -> fs.mkdirs(path("/other/.snapshot")));
    alike(user, "reserved", fs -> create(fs, "/other/.snapshot"));
    same(SUPERUSER, "delete the directory", fs -> fs.delete(path("/first"), true));
    same(SUPERUSER, "rename the directory", fs -> fs.rename(path("/first"), path("/second")));
    same(user, "rename", fs -> renameSnapshot(fs, "/first", "s1", "s2"));
    same(user, "rename none", fs -> renameSnapshot(fs, "/first", "s1", "s2"));
    same(user, "list", fs -> listed(fs, "/first/.snapshot"));
    same(SUPERUSER, "disallow", fs -> disallow(fs, "/first"));
    same(user, "delete none", fs -> deleteSnapshot(fs, "/first", "s1"));
    same(user, "delete", fs -> deleteSnapshot(fs, "/first", "s2"));
    same(SUPERUSER, "disallow", fs -> disallow(fs, "/first"));
    same(user, "is gone", fs -> fs.exists(path("/first/.snapshot")));
    same(SUPERUSER, "delete the directory", fs -> fs.delete(path("/first"), true));
  }

  private static String listed(DistributedFileSystem fs, String path) throws IOException {
    FileStatus status = fs.getFileStatus(path(path));
    List<String> lines = new ArrayList<>();
    lines.add(
        status.getPath().toUri().getPath()
            + status.isDirectory()
            + status.getPermission()
            + status.getOwner()
            + status.getGroup()
            + status.isSnapshotEnabled());
    for (FileStatus entry : fs.listStatus(path(path))) {
      lines.add(shown(fs, entry));
    }
    lines.add(ComparedUsers.outcome(fs, client -> client.getXAttrs(path(path))));
    lines.add(ComparedUsers.outcome(fs, client -> client.getAclStatus(path(path))));
    return String.join("\n", lines);
  }

  private static Object opened(DistributedFileSystem fs, String path) throws IOException {
    fs.open(path(path)).close();
    return "opened";
  }

  private static Object allow(DistributedFileSystem fs, String path) throws IOException {
    fs.allowSnapshot(path(path));
    return "allowed";
  }

  private static Object disallow(DistributedFileSystem fs, String path) throws IOException {
    fs.disallowSnapshot(path(path));
    return "disallowed";
  }

  private static Object deleteSnapshot(DistributedFileSystem fs, String path, String name)
      throws IOException {
    fs.deleteSnapshot(path(path), name);
    return "deleted";
  }

  private static Object renameSnapshot(
      DistributedFileSystem fs, String path, String from, String to) throws IOException {
    fs.renameSnapshot(path(path), from, to);
    return "renamed";
  }

  @Test
  void nestedDirectoriesAreRefusedAndListsAreThoseOfHdfs() {
    same(SUPERUSER, "mkdirs", fs -> fs.mkdirs(path("/nest/a/b")));
    same(SUPERUSER, "create", fs -> create(fs, "/nest/file"));
    alike(SUPERUSER, "file", fs -> allow(fs, "/nest/file"));
    same(SUPERUSER, "nothing", fs -> allow(fs, "/nest/none"));
    same(SUPERUSER, "allow", fs -> allow(fs, "/nest/a"));
    same(SUPERUSER, "again", fs -> allow(fs, "/nest/a"));
    same(SUPERUSER, "above", fs -> allow(fs, "/nest"));
    same(SUPERUSER, "below", fs -> allow(fs, "/nest/a/b"));
    same(SUPERUSER, "not allowed", fs -> fs.createSnapshot(path("/nest"), "s"));
    alike(SUPERUSER, "a file", fs -> fs.createSnapshot(path("/nest/file"), "s"));
    for (String name : List.of("x/y", ".snapshot", "n".repeat(256), ":", "..")) {
      alike(SUPERUSER, "name " + name, fs -> fs.createSnapshot(path("/nest/a"), name));
    }
    same(SUPERUSER, "s", fs -> fs.createSnapshot(path("/nest/a"), "s").toUri().getPath());
    same(SUPERUSER, "t", fs -> fs.createSnapshot(path("/nest/a"), "t").toUri().getPath());
    same(SUPERUSER, "same name", fs -> renameSnapshot(fs, "/nest/a", "s", "t"));
    same(SUPERUSER, "directories", SnapshotsAsHdfsTest::snapshottable);
    same("ann", "directories", SnapshotsAsHdfsTest::snapshottable);
    same("ann", "no owner", fs -> fs.createSnapshot(path("/nest/a"), "u"));
    same("ann", "no owner", fs -> deleteSnapshot(fs, "/nest/a", "t"));
    same(
        SUPERUSER,
        "snapshots",
        fs ->
            List.of(fs.getSnapshotListing(path("/nest/a"))).stream()
                .map(s -> s.getFullPath() + " " + s.isDeleted())
                .toList());
    same(SUPERUSER, "no snapshots", fs -> fs.getSnapshotListing(path("/nest")));
    same(SUPERUSER, "delete above", fs -> fs.delete(path("/nest"), true));
    same(SUPERUSER, "unknown", fs -> diff(fs, "/nest/a", "s", "none"));
    same(SUPERUSER, "no diff", fs -> diff(fs, "/nest", "s", "t"));
    same(SUPERUSER, "equal", fs -> diff(fs, "/nest/a", "s", "t"));
    same(SUPERUSER, "delete s", fs -> deleteSnapshot(fs, "/nest/a", "s"));
    same(SUPERUSER, "delete t", fs -> deleteSnapshot(fs, "/nest/a", "t"));
    same(SUPERUSER, "mkdirs", fs -> fs.mkdirs(path("/nest2")));
    same(SUPERUSER, "allow", fs -> allow(fs, "/nest2"));
    alike(SUPERUSER, "nest by rename", fs -> fs.rename(path("/nest/a"), path("/nest2/a")));
    same(SUPERUSER, "delete above", fs -> fs.delete(path("/nest"), true));
    same(SUPERUSER, "directories", SnapshotsAsHdfsTest::snapshottable);
    same(SUPERUSER, "delete above", fs -> fs.delete(path("/nest2"), true));
    same(SUPERUSER, "directories", SnapshotsAsHdfsTest::snapshottable);
  }

  private static Object snapshottable(DistributedFileSystem fs) throws IOException {
    SnapshottableDirectoryStatus[] found = fs.getSnapshottableDirListing();
    return found == null
        ? "none"
        : List.of(found).stream()
            .map(d -> d.getFullPath() + " " + d.getSnapshotNumber() + " " + d.getSnapshotQuota())
            .toList();
  }

  @Test
  void randomCallsEndAsAtHdfs() {
    long seed = Seeds.next(SnapshotsAsHdfsTest.class);
    try {
      for (int round = 0; round < 4; round++) {
        round(new Random(seed + round), "/random" + round);
      }
    } catch (AssertionError e) {
      throw new AssertionError("seed " + seed, e);
    }
  }

  private void round(Random random, String top) {
    same(SUPERUSER, "mkdirs", fs -> fs.mkdirs(path(top + "/in/a/b")));
    same(SUPERUSER, "mkdirs", fs -> fs.mkdirs(path(top + "/out/c")));
    same(SUPERUSER, "allow", fs -> allow(fs, top + "/in"));
    List<String> snapshots = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      step(random, top, snapshots, i);
    }
    for (String snapshot : snapshots) {
      same(SUPERUSER, "tree", fs -> tree(fs, top + "/in/.snapshot/" + snapshot));
      same(SUPERUSER, "diff " + snapshot, fs -> diff(fs, top + "/in", snapshot, ""));
    }
    for (String snapshot : snapshots) {
      same(SUPERUSER, "delete " + snapshot, fs -> deleteSnapshot(fs, top + "/in", snapshot));
    }
    same(SUPERUSER, "delete all", fs -> fs.delete(path(top), true));
  }

  private void step(Random random, String top, List<String> snapshots, int number) {
    String path = any(random, top);
    String other = any(random, top);
    switch (random.nextInt(14)) {
      case 0, 1 -> same(SUPERUSER, "create " + path, fs -> existing(fs, path));
      case 2, 3 -> alike(SUPERUSER, "mkdirs " + path, fs -> fs.mkdirs(path(path)));
      case 4, 5 -> alike(SUPERUSER, "delete " + path, fs -> fs.delete(path(path), true));
      case 6, 7 ->
          alike(
              SUPERUSER,
              "rename " + path + " to " + other,
              fs -> {
                fs.rename(path(path), path(other), Options.Rename.OVERWRITE);
                return "renamed";
              });
      case 8 -> {
        int mode = 0700 + random.nextInt(64);
        alike(SUPERUSER, "chmod " + path, fs -> chmod(fs, path, mode));
      }
      case 9 -> {
        // Never the value of before: HDFS reports the same value as a modification, and we do not.
        String value = "v" + number + random.nextInt(5);
        alike(
            SUPERUSER,
            "attribute of " + path,
            fs -> {
              fs.setXAttr(
                  path(path),
                  "user.x",
                  value.getBytes(),
                  EnumSet.of(XAttrSetFlag.CREATE, XAttrSetFlag.REPLACE));
              return "set";
            });
      }
      case 10, 11 -> {
        String name = "s" + number;
        same(
            SUPERUSER,
            "snapshot " + name,
            fs -> fs.createSnapshot(path(top + "/in"), name).toUri().getPath());
        snapshots.add(name);
      }
      case 12 -> {
        if (!snapshots.isEmpty()) {
          String name = snapshots.remove(random.nextInt(snapshots.size()));
          same(SUPERUSER, "delete " + name, fs -> deleteSnapshot(fs, top + "/in", name));
        }
      }
      default -> read(random, top, snapshots);
    }
  }

  private void read(Random random, String top, List<String> snapshots) {
    same(SUPERUSER, "now", fs -> tree(fs, top));
    if (!snapshots.isEmpty()) {
      String one = snapshots.get(random.nextInt(snapshots.size()));
      String other = snapshots.get(random.nextInt(snapshots.size()));
      same(SUPERUSER, "tree of " + one, fs -> tree(fs, top + "/in/.snapshot/" + one));
      same(SUPERUSER, one + " to " + other, fs -> diff(fs, top + "/in", one, other));
    }
  }

  private static Object existing(DistributedFileSystem fs, String path) throws IOException {
    try {
      fs.create(path(path), true).close();
      return "created";
    } catch (FileNotFoundException e) {
      return "not found";
    } catch (IOException e) {
      return e.getClass().getName();
    }
  }

  /** A path of a small tree; three in four are below the directory with snapshots. */
  private static String any(Random random, String top) {
    StringBuilder path = new StringBuilder(top + (random.nextInt(4) == 0 ? "/out" : "/in"));
    int depth = 1 + random.nextInt(3);
    for (int i = 0; i < depth; i++) {
      path.append('/').append(NAMES.get(random.nextInt(NAMES.size())));
    }
    return path.toString();
  }
}
