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
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.NameNodeProxies;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo.DatanodeInfoBuilder;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.RollingUpgradeAction;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.SafeModeAction;
import org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The calls of the superuser are refused to everybody else, and change nothing then. */
class SuperuserCallsTest {
  private static final String STRANGER = "stranger";
  private static final org.apache.hadoop.fs.Path HOME = new org.apache.hadoop.fs.Path("/home");

  @TempDir static Path directory;
  private static NamenodeServer namenode;
  private static DistributedFileSystem superuser;
  private static DistributedFileSystem stranger;

  @BeforeAll
  static void start() throws Exception {
    List<Override> overrides =
        List.of(
            new Override("--data", "data", directory.toString()),
            new Override("--port", "port", "0"));
    namenode =
        NamenodeServer.start(
            NamenodeConfig.of(Optional.empty(), overrides, Optional.empty()),
            Clock.systemUTC(),
            new Random(1));
    superuser = client();
    stranger =
        UserGroupInformation.createRemoteUser(STRANGER)
            .doAs((PrivilegedExceptionAction<DistributedFileSystem>) SuperuserCallsTest::client);
    superuser.mkdirs(HOME, new FsPermission((short) 0700));
    superuser.setOwner(HOME, STRANGER, null);
  }

  private static DistributedFileSystem client() throws IOException {
    Configuration conf = new Configuration();
    URI uri = URI.create("hdfs://127.0.0.1:" + namenode.address().getPort());
    DistributedFileSystem client = new DistributedFileSystem();
    client.initialize(uri, conf);
    return client;
  }

  @AfterAll
  static void stop() throws IOException {
    if (stranger != null) {
      stranger.close();
    }
    if (superuser != null) {
      superuser.close();
    }
    namenode.close();
  }

  private interface Call {
    Object run() throws IOException;
  }

  private static void refused(Call call) {
    assertThatThrownBy(() -> unwrapped(call))
        .isInstanceOf(AccessControlException.class)
        .hasMessageContaining(STRANGER);
  }

  private static void unwrapped(Call call) throws IOException {
    try {
      call.run();
    } catch (RemoteException e) {
      throw e.unwrapRemoteException(AccessControlException.class);
    }
  }

  @Test
  void theSafeMode() throws IOException {
    for (SafeModeAction action :
        List.of(SafeModeAction.SAFEMODE_ENTER, SafeModeAction.SAFEMODE_LEAVE)) {
      refused(() -> stranger.getClient().setSafeMode(action, false));
    }
    assertThat(stranger.isInSafeMode()).as("everybody may ask").isFalse();
    assertThat(superuser.getClient().setSafeMode(SafeModeAction.SAFEMODE_ENTER, false)).isTrue();
    refused(() -> stranger.getClient().setSafeMode(SafeModeAction.SAFEMODE_LEAVE, false));
    assertThat(superuser.isInSafeMode()).isTrue();
    assertThat(superuser.getClient().setSafeMode(SafeModeAction.SAFEMODE_LEAVE, false)).isFalse();
  }

  @Test
  void backups() throws IOException {
    refused(() -> stranger.saveNamespace(0, 0));
    assertThat(Files.exists(directory.resolve("backups"))).isFalse();
    assertThat(superuser.saveNamespace(0, 0)).isTrue();
    assertThat(directory.resolve("backups")).isNotEmptyDirectory();
  }

  @Test
  void reportsOfServers() throws IOException {
    refused(() -> stranger.getDataNodeStats(DatanodeReportType.ALL));
    assertThat(superuser.getDataNodeStats(DatanodeReportType.ALL)).isEmpty();
    refused(() -> stranger.getClient().getDatanodeStorageReport(DatanodeReportType.ALL));
    assertThat(superuser.getClient().getDatanodeStorageReport(DatanodeReportType.ALL)).isEmpty();
  }

  @Test
  void ownersOfFiles() throws IOException {
    refused(() -> run(() -> stranger.setOwner(HOME, "another", null)));
    assertThatThrownBy(() -> stranger.setOwner(HOME, null, "wheel"))
        .isInstanceOf(AccessControlException.class)
        .hasMessageContaining("wheel");
    assertThat(superuser.getFileStatus(HOME).getOwner()).isEqualTo(STRANGER);
  }

  @Test
  void callsOfABalancer() throws Exception {
    refused(() -> run(() -> stranger.setBalancerBandwidth(1 << 20)));
    superuser.setBalancerBandwidth(1 << 20);
    assertThatThrownBy(() -> superuser.setBalancerBandwidth(Long.MAX_VALUE))
        .isInstanceOf(RemoteException.class)
        .hasMessageContaining("exceeds the maximum");
    NamenodeProtocol mine = namenodeProtocol(UserGroupInformation.getCurrentUser());
    NamenodeProtocol others = namenodeProtocol(UserGroupInformation.createRemoteUser(STRANGER));
    DatanodeInfo nobody =
        new DatanodeInfoBuilder()
            .setNodeID(new DatanodeID("127.0.0.1", "127.0.0.1", "nobody", 1, 2, 3, 4))
            .build();
    refused(() -> others.getBlocks(nobody, 1, 0, 0, null));
    refused(others::getBlockKeys);
    refused(others::versionRequest);
    refused(others::isUpgradeFinalized);
    assertThat(mine.getBlockKeys().isBlockTokenEnabled()).isFalse();
    assertThat(mine.versionRequest().getBlockPoolID()).startsWith("BP-");
    assertThat(mine.isUpgradeFinalized()).isTrue();
    assertThat(mine.isRollingUpgrade()).isFalse();
    assertThat(superuser.rollingUpgrade(RollingUpgradeAction.QUERY)).isNull();
    failsAs("HadoopIllegalArgumentException", () -> mine.getBlocks(nobody, 1, 0, 0, null));
    failsAs("IllegalArgumentException", () -> mine.getBlocks(nobody, 0, 0, 0, null));
    failsAs("UnsupportedOperationException", mine::rollEditLog);
  }

  private static void failsAs(String className, Call call) {
    assertThatThrownBy(call::run)
        .isInstanceOfSatisfying(
            RemoteException.class, e -> assertThat(e.getClassName()).endsWith("." + className));
  }

  private static NamenodeProtocol namenodeProtocol(UserGroupInformation user) throws IOException {
    return NameNodeProxies.createNonHAProxy(
            new Configuration(), namenode.address(), NamenodeProtocol.class, user, false)
        .getProxy();
  }

  private interface Action {
    void run() throws IOException;
  }

  private static Object run(Action action) throws IOException {
    action.run();
    return null;
  }
}
