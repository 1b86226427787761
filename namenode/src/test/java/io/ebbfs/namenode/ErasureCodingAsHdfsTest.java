package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.ipc.RemoteException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Makes the same calls about erasure coding policies at HDFS's NameNode and at ours. */
@Timeout(120)
@Tag("process")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ErasureCodingAsHdfsTest {
  private static final List<String> POLICIES =
      List.of(
          "RS-6-3-1024k", "RS-3-2-1024k", "XOR-2-1-1024k", "replication", "Replication", "none");
  private static final List<String> PATHS = List.of("/", "/a", "/a/b", "/a/b/c", "/a/f", "/d");
  private static final int CALLS = 300;

  private NamenodePair namenodes;
  private final List<DistributedFileSystem> superusers = new ArrayList<>();
  private final List<DistributedFileSystem> others = new ArrayList<>();

  @BeforeAll
  void start(@TempDir Path directory) throws Exception {
    namenodes = new NamenodePair(directory);
    for (var address : List.of(namenodes.hdfsAddress(), namenodes.ourAddress())) {
      superusers.add(NamenodePair.client(address, Optional.empty()));
      others.add(NamenodePair.client(address, Optional.of("somebody")));
    }
  }

  @AfterAll
  void stop() throws Exception {
    for (DistributedFileSystem client : superusers) {
      client.close();
    }
    for (DistributedFileSystem client : others) {
      client.close();
    }
    namenodes.close();
  }

  @FunctionalInterface
  private interface Call {
    Object run(DistributedFileSystem client) throws Exception;
  }

  private static String outcome(DistributedFileSystem client, Call call) {
    try {
      return String.valueOf(call.run(client));
    } catch (RemoteException e) {
      return e.getClassName() + ": " + e.getMessage().lines().findFirst().orElse("");
    } catch (Exception e) {
      return e.getClass().getName() + ": " + String.valueOf(e.getMessage()).lines().findFirst();
    }
  }

  private static void compare(List<DistributedFileSystem> clients, String what, Call call) {
    assertThat(outcome(clients.get(1), call)).as(what).isEqualTo(outcome(clients.get(0), call));
  }

  private static org.apache.hadoop.fs.Path path(String path) {
    return new org.apache.hadoop.fs.Path(path);
  }

  @Test
  void policiesAndCodecsAreListed() {
    compare(
        superusers, "policies", fs -> new ArrayList<>(fs.getAllErasureCodingPolicies()).toString());
    compare(superusers, "codecs", fs -> new TreeMap<>(fs.getAllErasureCodingCodecs()));
    compare(superusers, "topology", fs -> topology(fs, "RS-6-3-1024k"));
    compare(superusers, "topology", fs -> topology(fs, "none"));
    compare(superusers, "groups", fs -> fs.getClient().getNamenode().getECBlockGroupStats());
    compare(others, "groups", fs -> fs.getClient().getNamenode().getECBlockGroupStats());
  }

  private static Object topology(DistributedFileSystem fs, String policy) throws Exception {
    var result = fs.getECTopologyResultForPolicies(policy);
    return result.isSupported() + result.getResultMessage();
  }

  @Test
  void errorsAreThoseOfHdfs() {
    for (DistributedFileSystem client : superusers) {
      outcome(client, fs -> fs.mkdirs(path("/errors/sub"), new FsPermission(0755)));
      outcome(client, fs -> create(fs, "/errors/file", null));
    }
    compare(superusers, "set a file", fs -> set(fs, "/errors/file", "RS-6-3-1024k"));
    compare(superusers, "set nothing", fs -> set(fs, "/errors/no", "RS-6-3-1024k"));
    compare(superusers, "set the default", fs -> set(fs, "/errors/sub", null));
    compare(superusers, "get the default", fs -> fs.getErasureCodingPolicy(path("/errors/sub")));
    compare(superusers, "unset a file", fs -> unset(fs, "/errors/file"));
    compare(superusers, "unset nothing", fs -> unset(fs, "/errors/no"));
    compare(superusers, "unset no policy", fs -> unset(fs, "/errors"));
    compare(superusers, "get nothing", fs -> fs.getErasureCodingPolicy(path("/errors/no")));
    compare(superusers, "enable none", fs -> enable(fs, "none"));
    compare(superusers, "disable none", fs -> disable(fs, "none"));
    compare(superusers, "enable replication", fs -> enable(fs, "replication"));
    compare(superusers, "remove none", fs -> remove(fs, "none"));
    compare(superusers, "remove", fs -> remove(fs, "RS-6-3-1024k"));
    compare(others, "set", fs -> set(fs, "/errors/sub", "RS-6-3-1024k"));
    compare(others, "unset", fs -> unset(fs, "/errors/sub"));
    compare(others, "get", fs -> fs.getErasureCodingPolicy(path("/errors/sub")));
    compare(others, "list", fs -> new ArrayList<>(fs.getAllErasureCodingPolicies()).toString());
    compare(superusers, "create", fs -> create(fs, "/errors/disabled", "RS-10-4-1024k"));
    compare(superusers, "create", fs -> create(fs, "/errors/coded", "RS-6-3-1024k"));
    compare(superusers, "truncate", fs -> fs.truncate(path("/errors/coded"), 0));
    compare(superusers, "append", fs -> append(fs, "/errors/coded", EnumSet.of(CreateFlag.APPEND)));
    compare(
        superusers,
        "append a group",
        fs -> append(fs, "/errors/coded", EnumSet.of(CreateFlag.APPEND, CreateFlag.NEW_BLOCK)));
    compare(superusers, "replication", fs -> fs.setReplication(path("/errors/coded"), (short) 2));
    compare(superusers, "status", fs -> show(fs.getFileStatus(path("/errors/coded"))));
  }

  @Test
  void randomCallsHaveTheOutcomesOfHdfs() {
    long seed = Seeds.next(ErasureCodingAsHdfsTest.class);
    Random random = new Random(seed);
    for (int i = 0; i < CALLS; i++) {
      String path = PATHS.get(random.nextInt(PATHS.size()));
      String other = PATHS.get(random.nextInt(PATHS.size()));
      String policy = POLICIES.get(random.nextInt(POLICIES.size()));
      int kind = random.nextInt(9);
      Call call =
          fs ->
              switch (kind) {
                case 0 -> fs.mkdirs(path(path), new FsPermission(0755));
                case 1 -> set(fs, path, policy);
                case 2 -> unset(fs, path);
                case 3 -> enable(fs, policy);
                case 4 -> disable(fs, policy);
                case 5 -> create(fs, path, random(path, policy));
                case 6 ->
                    !path.equals("/") && !other.equals("/") && fs.rename(path(path), path(other));
                case 7 -> !path.equals("/") && fs.delete(path(path), true);
                default -> fs.getErasureCodingPolicy(path(path));
              };
      String what = "seed %d, call %d: %d %s %s %s".formatted(seed, i, kind, path, other, policy);
      compare(superusers, what, call);
      compare(superusers, what, fs -> show(fs.getFileStatus(path(other))));
      compare(
          superusers,
          what,
          fs -> Arrays.stream(fs.listStatus(path("/a"))).map(this::show).toList());
    }
  }

  /** A policy by name, or none, by what the path and the policy are: the same at both. */
  private static String random(String path, String policy) {
    return (path.length() + policy.length()) % 2 == 0 ? policy : null;
  }

  private String show(FileStatus status) {
    return status.getPath().toUri().getPath()
        + status.isErasureCoded()
        + ((HdfsFileStatus) status).getErasureCodingPolicy()
        + status.getReplication();
  }

  private static Object create(DistributedFileSystem fs, String path, String policy)
      throws Exception {
    var builder = fs.createFile(path(path)).overwrite(false);
    if (policy != null) {
      builder.ecPolicyName(policy);
    }
    builder.build().close();
    return fs.getErasureCodingPolicy(path(path));
  }

  private static Object append(DistributedFileSystem fs, String path, EnumSet<CreateFlag> flags)
      throws Exception {
    try (FSDataOutputStream out = fs.append(path(path), flags, 4096, null)) {
      return "appends";
    }
  }

  private static Object set(DistributedFileSystem fs, String path, String policy) throws Exception {
    fs.setErasureCodingPolicy(path(path), policy);
    return "set";
  }

  private static Object unset(DistributedFileSystem fs, String path) throws Exception {
    fs.unsetErasureCodingPolicy(path(path));
    return "unset";
  }

  private static Object enable(DistributedFileSystem fs, String policy) throws Exception {
    fs.enableErasureCodingPolicy(policy);
    return "enabled";
  }

  private static Object disable(DistributedFileSystem fs, String policy) throws Exception {
    fs.disableErasureCodingPolicy(policy);
    return "disabled";
  }

  private static Object remove(DistributedFileSystem fs, String policy) throws Exception {
    fs.removeErasureCodingPolicy(policy);
    return "removed";
  }
}
