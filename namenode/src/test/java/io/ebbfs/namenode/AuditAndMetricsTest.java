package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.NamenodeConfig.Override;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.SafeModeAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a namenode writes of the calls of a stock client, and what it shows Prometheus. */
class AuditAndMetricsTest {
  private static final String LINE =
      "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d,\\d{3} INFO FSNamesystem\\.audit: allowed=(true|false)"
          + "\tugi=\\S+ \\(auth:SIMPLE\\)\tip=/127\\.0\\.0\\.1\tcmd=[^\t]+\tsrc=[^\t]+\tdst=[^\t]+"
          + "\tperm=[^\t]+\tproto=rpc";

  @TempDir Path directory;
  private NamenodeServer namenode;

  @BeforeEach
  void start() throws Exception {
    startWith(Map.of());
  }

  /**
   * @param more settings by their names
   */
  private void startWith(Map<String, String> more) throws Exception {
    List<Override> settings = new ArrayList<>();
    settings.add(new Override("test", "data", directory.resolve("data").toString()));
    settings.add(new Override("test", "port", "0"));
    settings.add(new Override("test", "auditLog", audit().toString()));
    more.forEach((name, value) -> settings.add(new Override("test", name, value)));
    NamenodeConfig config = NamenodeConfig.of(Optional.empty(), settings, Optional.empty());
    namenode = NamenodeServer.start(config, Clock.systemUTC(), new Random(1));
  }

  @AfterEach
  void stop() {
    namenode.close();
  }

  private Path audit() {
    return directory.resolve("audit.log");
  }

  private DistributedFileSystem client() throws IOException {
    DistributedFileSystem client = new DistributedFileSystem();
    client.initialize(
        URI.create("hdfs://127.0.0.1:" + namenode.address().getPort()), new Configuration());
    return client;
  }

  private static org.apache.hadoop.fs.Path path(String name) {
    return new org.apache.hadoop.fs.Path(name);
  }

  /** The lines without what differs from run to run. */
  private List<String> lines() throws IOException {
    List<String> all = new ArrayList<>();
    for (String line : Files.readAllLines(audit())) {
      assertThat(line).matches(LINE);
      all.add(line.substring(line.indexOf("allowed=")).replaceAll("\t(ugi|ip|proto)=[^\t]*", ""));
    }
    return all;
  }

  @Test
  void everyCallOfAClientHasALineAsHdfsWritesIt() throws Exception {
    String user = UserGroupInformation.getCurrentUser().getShortUserName();
    UserGroupInformation guest = UserGroupInformation.createRemoteUser("guest");
    try (DistributedFileSystem client = client()) {
      client.mkdirs(path("/d"), new FsPermission((short) 0700));
      client.create(path("/d/a\"\u00e9")).close();
      client.getFileStatus(path("/d"));
      client.listStatus(path("/d"));
      client.setQuota(path("/d"), HdfsConstants.QUOTA_DONT_SET, 1L << 30);
      client.setXAttr(path("/d"), "user.a", new byte[] {1});
      client.getXAttrs(path("/d"));
      client.listXAttrs(path("/d"));
      client.removeXAttr(path("/d"), "user.a");
      client.rename(path("/d/a\"\u00e9"), path("/d/b"), Options.Rename.OVERWRITE);
      guest.doAs(
          (PrivilegedExceptionAction<Void>)
              () -> {
                try (DistributedFileSystem other = client()) {
                  assertThatThrownBy(() -> other.delete(path("/d/b"), false))
                      .isInstanceOf(AccessControlException.class);
                }
                return null;
              });
      client.delete(path("/d"), true);
    }
    namenode.close();

    assertThat(lines())
        .containsExactly(
            "allowed=true\tcmd=mkdirs\tsrc=/d\tdst=null\tperm=null",
            "allowed=true\tcmd=create\tsrc=/d/a\\\"\\u00E9\tdst=null\tperm="
                + user
                + ":supergroup:rw-r--r--",
            "allowed=true\tcmd=getfileinfo\tsrc=/d\tdst=null\tperm=null",
            "allowed=true\tcmd=listStatus\tsrc=/d\tdst=null\tperm=null",
            "allowed=true\tcmd=setSpaceQuota\tsrc=/d\tdst=null\tperm=null",
            "allowed=true\tcmd=setXAttr\tsrc=/d\tdst=null\tperm=null",
            "allowed=true\tcmd=getXAttrs\tsrc=/d\tdst=null\tperm=null",
            "allowed=true\tcmd=listXAttrs\tsrc=/d\tdst=null\tperm=null",
            "allowed=true\tcmd=removeXAttr\tsrc=/d\tdst=null\tperm=null",
            "allowed=true\tcmd=rename (options=[OVERWRITE])\tsrc=/d/a\\\"\\u00E9\tdst=/d/b\tperm=null",
            "allowed=false\tcmd=delete\tsrc=/d/b\tdst=null\tperm=null",
            "allowed=true\tcmd=delete\tsrc=/d\tdst=null\tperm=null");
    assertThat(Files.readString(audit())).contains("ugi=guest (auth:SIMPLE)");
  }

  @Test
  void snapshotsCodesAndSafeModeHaveLinesAsHdfsWritesThem() throws Exception {
    try (DistributedFileSystem client = client()) {
      client.mkdirs(path("/d/coded"));
      client.allowSnapshot(path("/d"));
      client.createSnapshot(path("/d"), "s");
      client.renameSnapshot(path("/d"), "s", "t");
      client.getSnapshotDiffReport(path("/d"), "t", "");
      client.getSnapshottableDirListing();
      client.deleteSnapshot(path("/d"), "t");
      client.disallowSnapshot(path("/d"));
      client.enableErasureCodingPolicy("XOR-2-1-1024k");
      client.setErasureCodingPolicy(path("/d/coded"), "XOR-2-1-1024k");
      client.getErasureCodingPolicy(path("/d/coded"));
      client.unsetErasureCodingPolicy(path("/d/coded"));
      client.setSafeMode(SafeModeAction.ENTER);
    }
    namenode.close();

    assertThat(lines().stream().map(line -> line.replace("allowed=true\t", "")).distinct())
        .containsExactly(
            "cmd=mkdirs\tsrc=/d/coded\tdst=null\tperm=null",
            "cmd=allowSnapshot\tsrc=/d\tdst=null\tperm=null",
            "cmd=createSnapshot\tsrc=/d\tdst=/d/.snapshot/s\tperm=null",
            "cmd=renameSnapshot\tsrc=/d/.snapshot/s\tdst=/d/.snapshot/t\tperm=null",
            "cmd=computeSnapshotDiff\tsrc=/d/.snapshot/t\tdst=/d\tperm=null",
            "cmd=listSnapshottableDirectory\tsrc=null\tdst=null\tperm=null",
            "cmd=deleteSnapshot\tsrc=/d/.snapshot/t\tdst=null\tperm=null",
            "cmd=listStatus\tsrc=/d/.Trash\tdst=null\tperm=null", // the client looks for it
            "cmd=disallowSnapshot\tsrc=/d\tdst=null\tperm=null",
            "cmd=enableErasureCodingPolicy\tsrc=XOR-2-1-1024k\tdst=null\tperm=null",
            "cmd=setErasureCodingPolicy\tsrc=/d/coded\tdst=null\tperm=null",
            "cmd=getErasureCodingPolicy\tsrc=/d/coded\tdst=null\tperm=null",
            "cmd=unsetErasureCodingPolicy\tsrc=/d/coded\tdst=null\tperm=null",
            "cmd=safemode_enter\tsrc=null\tdst=null\tperm=null");
  }

  @Test
  void theTrashIsEmptiedByCallsOfTheSuperuser() throws Exception {
    namenode.close();
    startWith(Map.of("trashInterval", "1m", "trashCheckpointInterval", "1s"));
    try (DistributedFileSystem client = client()) {
      client.mkdirs(path("/staging/ann/.Trash/Current"));
      client.mkdirs(path("/staging/ann/.Trash/200101000000"));
      client.rename(path("/staging"), path("/user"));
      Await.until("the trash is emptied", () -> !client.exists(path("/user/ann/.Trash/Current")));
      String counted = "ebbfs_namenode_calls_total{method=\"rename2\"} 1\n";
      Await.until("it is counted", () -> namenode.state().metrics().contains(counted));
    }
    namenode.close();

    assertThat(lines().stream().map(line -> line.replaceAll("\\d{12}", "TIME")))
        .containsSubsequence(
            "allowed=true\tcmd=delete\tsrc=/user/ann/.Trash/TIME\tdst=null\tperm=null",
            "allowed=true\tcmd=rename (options=[NONE])\tsrc=/user/ann/.Trash/Current"
                + "\tdst=/user/ann/.Trash/TIME\tperm=null");
    assertThat(Files.readString(audit()))
        .contains(
            "ugi=" + UserGroupInformation.getCurrentUser().getShortUserName() + " (auth:SIMPLE)");
  }

  @Test
  void callsAndFilesAreCounted() throws Exception {
    try (DistributedFileSystem client = client()) {
      client.mkdirs(path("/d"));
      client.create(path("/f")).close();
    }
    assertThat(namenode.state().notReady()).isEmpty();
    assertThat(namenode.state().metrics())
        .contains("ebbfs_namenode_calls_total{method=\"mkdirs\"} 1\n")
        .contains("ebbfs_namenode_call_seconds_total{method=\"create\"} ")
        .contains("ebbfs_namenode_safe_mode 0\n")
        .contains("ebbfs_namenode_audit_dropped_total 0\n")
        .contains("ebbfs_namenode_scan_completed_seconds{scan=\"blocks\"} ")
        .contains("ebbfs_namenode_scan_rows{scan=\"stripes\"} 0\n")
        .doesNotContain("method=\"setOwner\"");
  }

  @Test
  void anAuditLogThatCannotBeWrittenIsRefusedAtTheStart() throws Exception {
    List<Override> settings =
        List.of(
            new Override("test", "data", directory.resolve("other").toString()),
            new Override("test", "port", "0"),
            new Override("test", "auditLog", directory.resolve("none/audit.log").toString()));
    NamenodeConfig config = NamenodeConfig.of(Optional.empty(), settings, Optional.empty());
    assertThatThrownBy(() -> NamenodeServer.start(config, Clock.systemUTC(), new Random(1)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("auditLog");
  }
}
