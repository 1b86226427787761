package io.ebbfs.namenode;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same calls about storage policies, by the same users, at HDFS's NameNode and at ours. */
class StoragePoliciesAsHdfsTest {
  private static final String SUPERUSER = "the user of the test";
  private static final List<String> USERS = List.of(SUPERUSER, SUPERUSER, "ann", "bob");
  private static final List<String> POLICIES =
      List.of(
          "HOT",
          "WARM",
          "cold",
          "ALL_SSD",
          "ONE_SSD",
          "ALL_NVDIMM",
          "PROVIDED",
          "LAZY_PERSIST",
          "WARM ",
          "");
  private static final List<String> THERE = List.of("/", "/d", "/d/f", "/d/sub", "/d/sub/g", "/h");
  private static final List<String> PATHS =
      List.of("/", "/d", "/d/f", "/d/sub", "/d/sub/g", "/h", "/missing", "/missing/x", "/h/below");
  private static final List<Integer> MODES = List.of(0777, 0700, 0755, 0711, 0000, 0644);

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

  private static void same(String user, String what, ComparedUsers.Call call) {
    users.same(user, what, call);
  }

  private static org.apache.hadoop.fs.Path path(String name) {
    return new org.apache.hadoop.fs.Path(name);
  }

  private static <T> T any(List<T> all, Random random) {
    return all.get(random.nextInt(all.size()));
  }

  @Test
  void theSuiteIsThatOfHdfs() {
    same(SUPERUSER, "all policies", fs -> Arrays.toString(fs.getClient().getStoragePolicies()));
  }

  @Test
  void randomCallsEndAsAtHdfs() {
    long seed = Seeds.next(StoragePoliciesAsHdfsTest.class);
    Random random = new Random(seed);
    try {
      prepare();
      for (int i = 0; i < 200; i++) {
        step(random);
      }
    } catch (AssertionError e) {
      throw new AssertionError("seed " + seed, e);
    }
  }

  private void prepare() {
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
    return fs.getClient().getFileInfo(path).getStoragePolicy();
  }

  private static Object listed(DistributedFileSystem fs, String path) throws IOException {
    Map<String, Integer> policies = new TreeMap<>();
    var listing = fs.getClient().listPaths(path, HdfsFileStatus.EMPTY_NAME, true);
    if (listing == null) {
      return "nothing";
    }
    for (HdfsFileStatus status : listing.getPartialListing()) {
      policies.put(status.getLocalName(), (int) status.getStoragePolicy());
    }
    return policies;
  }

  private void step(Random random) {
    String user = any(USERS, random);
    String path = any(PATHS, random);
    String policy = any(POLICIES, random);
    switch (random.nextInt(12)) {
      case 0, 1, 2, 3 ->
          same(
              user,
              "set the policy of " + path + " to " + policy,
              fs -> {
                fs.setStoragePolicy(path(path), policy);
                return "set";
              });
      case 4, 5 ->
          same(
              user,
              "unset the policy of " + path,
              fs -> {
                fs.unsetStoragePolicy(path(path));
                return "unset";
              });
      case 6 -> same(user, "policy of " + path, fs -> fs.getStoragePolicy(path(path)));
      case 7 -> same(user, "status of " + path, fs -> status(fs, path));
      case 8 -> same(user, "list " + path, fs -> listed(fs, path));
      case 9 -> {
        String there = any(THERE, random);
        int mode = any(MODES, random);
        same(user, "chmod " + there, fs -> chmod(fs, there, mode));
      }
      case 10 -> {
        String file = any(List.of("/d/f", "/d/sub/g", "/h"), random);
        boolean isLazy = random.nextInt(4) == 0;
        same(user, "create " + file, fs -> isLazy ? createLazily(fs, file) : create(fs, file));
      }
      default -> renameThereAndBack(random);
    }
  }

  private static Object createLazily(DistributedFileSystem fs, String path) throws IOException {
    fs.create(
            path(path),
            FsPermission.getFileDefault(),
            EnumSet.of(CreateFlag.CREATE, CreateFlag.OVERWRITE, CreateFlag.LAZY_PERSIST),
            4096,
            (short) 1,
            1 << 20,
            null)
        .close();
    return status(fs, path);
  }

  private static Object status(DistributedFileSystem fs, String path) throws IOException {
    HdfsFileStatus status = fs.getClient().getFileInfo(path);
    return status == null ? "none" : status.getStoragePolicy();
  }

  private void renameThereAndBack(Random random) {
    String from = any(List.of("/d/sub", "/d/f", "/h"), random);
    String to = any(List.of("/moved", "/d/moved"), random);
    for (boolean there : new boolean[] {true, false}) {
      String source = there ? from : to;
      String target = there ? to : from;
      same(
          SUPERUSER,
          "rename " + source + " to " + target,
          fs -> {
            fs.rename(path(source), path(target), Options.Rename.NONE);
            return fs.getStoragePolicy(path(target)) + " " + status(fs, target);
          });
    }
  }
}
