package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclEntryScope;
import org.apache.hadoop.fs.permission.AclEntryType;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same calls under access control lists, by the same users, at HDFS's NameNode and at ours. */
class AclsAsHdfsTest {
  private static final String SUPERUSER = "the user of the test";
  private static final Map<String, List<String>> GROUPS =
      Map.of("ann", List.of("staff", "crew"), "bob", List.of("crew"), "cid", List.of("guests"));
  private static final List<String> USERS = List.of(SUPERUSER, "ann", "ann", "bob", "bob", "cid");
  private static final List<String> NAMES = List.of("ann", "bob", "cid", "staff", "crew", "guests");
  private static final List<String> DIRECTORIES =
      List.of("/t", "/t/a", "/t/a/b", "/t/a/b/c", "/t/d", "/t/d/e");
  private static final List<Integer> MODES =
      List.of(0777, 0755, 0700, 0750, 01777, 0711, 0000, 0644, 0770, 0666, 0070, 01770);

  @TempDir static Path directory;
  private static NamenodePair pair;
  private static final Map<String, DistributedFileSystem> HDFS = new HashMap<>();
  private static final Map<String, DistributedFileSystem> OURS = new HashMap<>();

  /** How random calls have ended, in all repetitions. */
  private static final Set<String> ENDS = new TreeSet<>();

  @BeforeAll
  static void start() throws Exception {
    pair = new NamenodePair(directory);
    // Both namenodes look the groups of users up in this process.
    GROUPS.forEach(
        (user, groups) ->
            UserGroupInformation.createUserForTesting(user, groups.toArray(String[]::new)));
    for (String user : USERS) {
      if (!HDFS.containsKey(user)) {
        HDFS.put(user, client(user, pair.hdfsAddress()));
        OURS.put(user, client(user, pair.ourAddress()));
      }
    }
  }

  private static DistributedFileSystem client(String user, InetSocketAddress address)
      throws Exception {
    return NamenodePair.client(
        address, user.equals(SUPERUSER) ? Optional.empty() : Optional.of(user));
  }

  @AfterAll
  static void stop() throws IOException {
    for (Map<String, DistributedFileSystem> clients : List.of(HDFS, OURS)) {
      for (DistributedFileSystem client : clients.values()) {
        client.close();
      }
    }
    pair.close();
  }

  // ---- what is compared
  // ---------------------------------------------------------------------------

  private interface Call {
    Object run(DistributedFileSystem client) throws IOException;
  }

  private interface Effect {
    void run(DistributedFileSystem client) throws IOException;
  }

  /** Its result, or the class and the first line of its failure. */
  private static String outcome(DistributedFileSystem client, Call call) {
    try {
      return String.valueOf(call.run(client));
    } catch (IOException | RuntimeException e) {
      return e.getClass().getName()
          + ": "
          + sensible(String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
    }
  }

  /** A message without what HDFS says twice, or describes wrongly. */
  private static String sensible(String message) {
    return message
        // of the directory where a delete began, not of the one with the sticky bit
        .replaceAll("(sticky bit.*parent=\"[^\"]*\"):.*", "$1")
        .replaceAll("( Path: [^ \n]*)\\1", "$1")
        // which of the directories that may not be counted comes first
        .replaceAll("(access=READ_EXECUTE), inode=.*", "$1")
        .replaceAll("(is non empty': Directory is not empty).*", "$1");
  }

  private static String same(String user, String what, Call call) {
    String wanted = outcome(HDFS.get(user), call);
    assertThat(outcome(OURS.get(user), call)).as("%s by %s", what, user).isEqualTo(wanted);
    return wanted;
  }

  private static String done(String user, String what, Effect effect) {
    return same(
        user,
        what,
        fs -> {
          effect.run(fs);
          return "done";
        });
  }

  private static org.apache.hadoop.fs.Path path(String name) {
    return new org.apache.hadoop.fs.Path(name);
  }

  private static String shown(FileStatus status) {
    return "%s %s:%s %s%s"
        .formatted(
            status.getPath().toUri().getPath(),
            status.getOwner(),
            status.getGroup(),
            status.getPermission(),
            status.hasAcl() ? "+" : "");
  }

  private static Map<String, String> tree(DistributedFileSystem fs) throws IOException {
    Map<String, String> tree = new TreeMap<>();
    List<org.apache.hadoop.fs.Path> left = new ArrayList<>(List.of(path("/t")));
    while (!left.isEmpty()) {
      org.apache.hadoop.fs.Path next = left.remove(left.size() - 1);
      for (FileStatus status : fs.listStatus(next)) {
        tree.put(
            status.getPath().toUri().getPath(),
            shown(status) + " " + fs.getAclStatus(status.getPath()));
        if (status.isDirectory()) {
          left.add(status.getPath());
        }
      }
    }
    return tree;
  }

  // ---- random calls
  // -------------------------------------------------------------------------------

  @RepeatedTest(3)
  void randomCallsEndAsAtHdfs() {
    long seed = Seeds.next(AclsAsHdfsTest.class);
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    try {
      same(SUPERUSER, "clear", fs -> fs.delete(path("/t"), true));
      same(SUPERUSER, "mkdirs", fs -> fs.mkdirs(path("/t")));
      done(SUPERUSER, "chmod", fs -> fs.setPermission(path("/t"), mode(0777)));
      for (int i = 0; i < 300; i++) {
        ENDS.add(step(i + ": ", random).replaceAll(":.*", ""));
        if (i % 20 == 19) {
          same(SUPERUSER, "the tree after " + i, AclsAsHdfsTest::tree);
        }
      }
    } catch (AssertionError e) {
      throw new AssertionError("seed " + seed, e);
    }
  }

  @AfterAll
  static void randomCallsEndInEachWay() {
    assertThat(ENDS.isEmpty())
        .as("no random call was made, or their ends are %s", ENDS)
        .isNotEqualTo(
            ENDS.containsAll(
                List.of(
                    "done",
                    "org.apache.hadoop.security.AccessControlException",
                    "org.apache.hadoop.hdfs.protocol.AclException")));
  }

  private static <T> T any(List<T> all, Random random) {
    return all.get(random.nextInt(all.size()));
  }

  private static String anything(Random random) {
    String directory = any(DIRECTORIES, random);
    return random.nextInt(3) == 0 ? directory + "/f" + random.nextInt(2) : directory;
  }

  private static FsPermission mode(int mode) {
    return new FsPermission((short) mode);
  }

  private String step(String number, Random random) {
    String user = any(USERS, random);
    String path = anything(random);
    return switch (random.nextInt(8)) {
      case 0, 1 -> make(number, user, random);
      case 2, 3 -> list(number, user, path, random);
      case 4 -> move(number, user, path, random);
      case 5 -> attributes(number, user, path, random);
      default -> read(number, user, path, random);
    };
  }

  private String make(String number, String user, Random random) {
    String directory = any(DIRECTORIES, random);
    String file = directory + "/f" + random.nextInt(2);
    FsPermission asked = mode(any(MODES, random));
    boolean overwrites = random.nextBoolean();
    return switch (random.nextInt(4)) {
      case 0 -> same(user, number + "mkdirs " + directory, fs -> fs.mkdirs(path(directory), asked));
      case 1 -> // as clients before Hadoop 3
          same(
              user,
              number + "masked mkdirs " + directory,
              fs -> fs.getClient().getNamenode().mkdirs(directory, asked, true));
      case 2 ->
          same(user, number + "mkdir " + directory + asked, fs -> fs.mkdir(path(directory), asked));
      default ->
          same(
              user,
              number + "create " + file + " " + asked + overwrites,
              fs -> {
                fs.create(path(file), asked, overwrites, 4096, (short) 1, 1 << 20, null).close();
                return shown(fs.getFileStatus(path(file)));
              });
    };
  }

  private String list(String number, String user, String path, Random random) {
    List<AclEntry> entries = entries(random);
    String what = number + path + " " + entries;
    return switch (random.nextInt(8)) {
      case 0, 1, 2 -> done(user, "modify " + what, fs -> fs.modifyAclEntries(path(path), entries));
      case 3, 4 -> done(user, "set " + what, fs -> fs.setAcl(path(path), entries));
      case 5 -> done(user, "remove " + what, fs -> fs.removeAclEntries(path(path), entries));
      case 6 -> done(user, "remove default " + what, fs -> fs.removeDefaultAcl(path(path)));
      default -> done(user, "remove all " + what, fs -> fs.removeAcl(path(path)));
    };
  }

  /** Entries of different scope, type and name; every other time the required ones are there. */
  private static List<AclEntry> entries(Random random) {
    Map<String, AclEntry> entries = new TreeMap<>();
    List<AclEntryScope> scopes =
        random.nextInt(3) == 0
            ? List.of(AclEntryScope.values())
            : List.of(any(List.of(AclEntryScope.values()), random));
    for (AclEntryScope scope : scopes) {
      if (random.nextBoolean()) {
        for (AclEntryType type :
            List.of(AclEntryType.USER, AclEntryType.GROUP, AclEntryType.OTHER)) {
          put(entries, scope, type, null, random);
        }
      }
      for (int i = random.nextInt(3); i > 0; i--) {
        AclEntryType type = any(List.of(AclEntryType.USER, AclEntryType.GROUP), random);
        put(entries, scope, type, any(NAMES, random), random);
      }
      if (random.nextInt(4) == 0) {
        put(entries, scope, any(List.of(AclEntryType.values()), random), null, random);
      }
      if (random.nextInt(30) == 0) {
        put(entries, scope, AclEntryType.MASK, "named", random);
      }
    }
    return List.copyOf(entries.values());
  }

  private static void put(
      Map<String, AclEntry> entries,
      AclEntryScope scope,
      AclEntryType type,
      String name,
      Random random) {
    entries.put(
        scope + " " + type + " " + name,
        entry(scope, type, name, any(List.of(FsAction.values()), random)));
  }

  private static AclEntry entry(
      AclEntryScope scope, AclEntryType type, String name, FsAction permission) {
    return new AclEntry.Builder()
        .setScope(scope)
        .setType(type)
        .setName(name)
        .setPermission(permission)
        .build();
  }

  private String move(String number, String user, String path, Random random) {
    String to = anything(random);
    Options.Rename option = any(List.of(Options.Rename.NONE, Options.Rename.OVERWRITE), random);
    return switch (random.nextInt(3)) {
      case 0 ->
          done(
              user,
              number + "rename " + path + " to " + to + " " + option,
              fs -> fs.rename(path(path), path(to), option));
      case 1 -> same(user, number + "delete " + path, fs -> fs.delete(path(path), true));
      default -> same(user, number + "delete one " + path, fs -> fs.delete(path(path), false));
    };
  }

  private String attributes(String number, String user, String path, Random random) {
    FsPermission mode = mode(any(MODES, random));
    String owner = random.nextBoolean() ? null : any(List.of("ann", "bob", "cid"), random);
    String group = any(List.of("staff", "crew", "guests"), random);
    return switch (random.nextInt(4)) {
      case 0, 1 ->
          done(
              user,
              number + "chmod " + mode + " " + path,
              fs -> fs.setPermission(path(path), mode));
      case 2 ->
          done(
              user,
              number + "chown " + owner + ":" + group + " " + path,
              fs -> fs.setOwner(path(path), owner, group));
      default ->
          done(
              user,
              number + "attribute of " + path,
              fs -> fs.setXAttr(path(path), "user.x", new byte[] {1}));
    };
  }

  private String read(String number, String user, String path, Random random) {
    FsAction action = any(List.of(FsAction.values()), random);
    return switch (random.nextInt(7)) {
      case 0 -> same(user, number + "list of " + path, fs -> fs.getAclStatus(path(path)));
      case 1 -> same(user, number + "stat " + path, fs -> shown(fs.getFileStatus(path(path))));
      case 2 ->
          same(
              user,
              number + "ls " + path,
              fs -> Arrays.stream(fs.listStatus(path(path))).map(AclsAsHdfsTest::shown).toList());
      case 3 -> done(user, number + action + " " + path, fs -> fs.access(path(path), action));
      case 4 ->
          same(
              user,
              number + "count " + path,
              fs -> fs.getContentSummary(path(path)).getDirectoryCount());
      case 5 ->
          done(
              user,
              number + "open " + path,
              fs -> {
                fs.getFileStatus(path(path)); // HDFS's open tells everybody what exists
                fs.open(path(path)).close();
              });
      default -> done(user, number + "touch " + path, fs -> fs.setTimes(path(path), 7, 8));
    };
  }

  // ---- limits
  // -------------------------------------------------------------------------------------

  private static List<AclEntry> users(AclEntryScope scope, int from, int to) {
    return IntStream.range(from, to)
        .mapToObj(i -> entry(scope, AclEntryType.USER, "user" + i, FsAction.READ))
        .toList();
  }

  @Test
  void eachListHasAtMost32Entries() {
    same(SUPERUSER, "mkdir", fs -> fs.mkdirs(path("/limits")));
    for (AclEntryScope scope : AclEntryScope.values()) {
      String what = scope + " ";
      modify(what + "28, with the mask and three others", users(scope, 0, 28));
      modify(what + "one more", users(scope, 28, 29));
      modify(what + "33 at once", users(scope, 0, 33));
      modify(what + "one twice", List.of(users(scope, 40, 41).get(0), users(scope, 40, 41).get(0)));
      modify(what + "in the place of another", users(scope, 27, 28));
    }
    same(SUPERUSER, "list", fs -> fs.getAclStatus(path("/limits")));
    assertThat(
            outcome(
                OURS.get(SUPERUSER),
                fs -> {
                  fs.modifyAclEntries(
                      path("/limits"),
                      List.of(
                          entry(
                              AclEntryScope.ACCESS,
                              AclEntryType.USER,
                              "u".repeat(256),
                              FsAction.ALL)));
                  return "done";
                }))
        .contains("256 bytes, and at most 255");
  }

  private static void modify(String what, List<AclEntry> entries) {
    done(SUPERUSER, what, fs -> fs.modifyAclEntries(path("/limits"), entries));
  }

  // ---- stock commands
  // -----------------------------------------------------------------------------

  @Test
  void theStockCommandsSayTheSame() throws Exception {
    for (String command :
        List.of(
            "-mkdir -p /tools/d",
            "-touchz /tools/f",
            "-setfacl -m user:ann:rw-,group:crew:r-x /tools/f",
            "-getfacl /tools/f",
            "-setfacl -m default:user:bob:rwx,default:mask::r-x /tools/d",
            "-mkdir /tools/d/e",
            "-touchz /tools/d/g",
            "-getfacl -R /tools",
            "-chmod 640 /tools/f",
            "-getfacl /tools/f",
            "-setfacl -x user:ann /tools/f",
            "-setfacl -x mask:: /tools/f",
            "-setfacl -k /tools/d",
            "-setfacl -b /tools/d/e",
            "-setfacl --set user::rwx,group::r--,other::---,group:crew:rwx /tools/d/g",
            "-setfacl --set user::rwx /tools/d/g",
            "-setfacl -m default:user:bob:rwx /tools/d/g",
            "-setfacl -R -m user:cid:r-x /tools",
            "-getfacl -R /tools",
            "-setfacl -m user:cid:r-x /tools/none",
            "-getfacl /tools/none",
            "-cp -p /tools/f /tools/h",
            "-getfacl /tools/h",
            "-mv /tools/d /tools/moved",
            "-getfacl -R /tools",
            "-ls -C /tools",
            "-setfacl -R -b /tools",
            "-getfacl -R /tools",
            "-rm -r -skipTrash /tools")) {
      assertThat(shell(pair.ourAddress(), command))
          .as(command)
          .isEqualTo(sensible(shell(pair.hdfsAddress(), command)));
    }
  }

  @Test
  void aListingShowsWhichFilesHaveALineMore() throws Exception {
    shell(pair.ourAddress(), "-touchz /with /without");
    shell(pair.ourAddress(), "-setfacl -m user:ann:rw- /with");
    assertThat(shell(pair.ourAddress(), "-ls /"))
        .containsPattern("-rw-rw-r--\\+ .*/with\n")
        .containsPattern("-rw-r--r--   .*/without\n?");
  }

  private static String shell(InetSocketAddress address, String command) throws Exception {
    return NamenodePair.shell(address, FsShell::new, command.split(" "));
  }
}
