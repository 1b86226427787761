package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.common.time.ManualClock;
import io.ebbfs.namenode.NamenodeConfig.Override;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.DFSUtilClient;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.ReconfigurationProtocol;
import org.apache.hadoop.hdfs.tools.DFSAdmin;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.ToolRunner;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an operator does with a namenode, by the stock tools: safe mode, backups and a restore. */
class OperatorCallsTest {
  @TempDir Path directory;
  private NamenodeServer namenode;
  private Configuration conf;
  private DistributedFileSystem client;

  private void start(Clock clock, String data, String... settings) throws Exception {
    List<Override> overrides = new ArrayList<>();
    overrides.add(new Override("--data", "data", directory.resolve(data).toString()));
    overrides.add(new Override("--port", "port", "0"));
    for (String setting : settings) {
      String[] pair = setting.split("=", 2);
      overrides.add(new Override("--set " + setting, pair[0], pair[1]));
    }
    namenode =
        NamenodeServer.start(
            NamenodeConfig.of(Optional.empty(), overrides, Optional.empty()), clock, new Random(1));
    conf = new Configuration();
    conf.set("fs.defaultFS", "hdfs://127.0.0.1:" + namenode.address().getPort());
    conf.setBoolean("fs.hdfs.impl.disable.cache", true);
    client = new DistributedFileSystem();
    client.initialize(URI.create(conf.get("fs.defaultFS")), conf);
  }

  @AfterEach
  void stop() throws IOException {
    if (namenode != null) {
      client.close();
      namenode.close();
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private int admin(String... words) throws Exception {
    return ToolRunner.run(new DFSAdmin(conf), words);
  }

  private static org.apache.hadoop.fs.Path path(String name) {
    return new org.apache.hadoop.fs.Path(name);
  }

  @Test
  void aNamenodeTellsHowItsConfigurationIsChanged() throws Exception {
    start(Clock.systemUTC(), "data");
    ReconfigurationProtocol proxy =
        DFSUtilClient.createReconfigurationProtocolProxy(
            namenode.address(),
            UserGroupInformation.getCurrentUser(),
            conf,
            NetUtils.getDefaultSocketFactory(conf));
    List<ThrowingCallable> calls =
        List.of(
            proxy::startReconfiguration,
            proxy::getReconfigurationStatus,
            proxy::listReconfigurableProperties);
    for (ThrowingCallable call : calls) {
      assertThatThrownBy(call)
          .isInstanceOf(RemoteException.class)
          .hasMessageContaining("EbbFS does not support the call")
          .hasMessageContaining("change namenode.yaml and restart the process");
    }
    int port = namenode.address().getPort();
    assertThat(admin("-reconfig", "namenode", "127.0.0.1:" + port, "start")).isEqualTo(1);
  }

  @Test
  void dfsadminEntersGetsAndLeavesSafeMode() throws Exception {
    start(Clock.systemUTC(), "data");
    assertThat(client.isInSafeMode()).isFalse();
    assertThat(admin("-safemode", "enter")).isZero();
    assertThat(client.isInSafeMode()).isTrue();
    assertThatThrownBy(() -> client.mkdirs(path("/refused")))
        .hasMessageContaining("safe mode")
        .hasMessageContaining("-safemode leave");
    assertThat(client.exists(path("/refused"))).isFalse();
    assertThat(admin("-safemode", "get")).isZero();
    assertThat(admin("-safemode", "leave")).isZero();
    assertThat(admin("-safemode", "wait")).isZero();
    assertThat(client.mkdirs(path("/made"))).isTrue();
  }

  @Test
  void aBackupIsTakenWhileTheNamenodeServesAndCanBeRestored() throws Exception {
    start(Clock.systemUTC(), "data", "backupsKept=2");
    client.mkdirs(path("/before"));
    assertThat(client.saveNamespace(0, 0)).isTrue();
    client.mkdirs(path("/after"));
    Path backup;
    try (Stream<Path> backups = Files.list(directory.resolve("data/backups"))) {
      backup = backups.reduce((a, b) -> a.compareTo(b) > 0 ? a : b).orElseThrow();
    }
    stop();
    Files.createDirectories(directory.resolve("restored"));
    Files.move(backup, directory.resolve("restored/metadata"));
    start(Clock.systemUTC(), "restored");
    assertThat(client.exists(path("/before"))).isTrue();
    assertThat(client.exists(path("/after"))).isFalse();
    assertThat(client.mkdirs(path("/new"))).isTrue();
  }

  @Test
  void theServicePortServesBesideTheFirstOne() throws Exception {
    int port = freePort();
    start(Clock.systemUTC(), "data", "servicePort=" + port);
    client.mkdirs(path("/made"));
    try (DistributedFileSystem other = new DistributedFileSystem()) {
      other.initialize(URI.create("hdfs://127.0.0.1:" + port), conf);
      assertThat(other.exists(path("/made"))).isTrue();
    }
  }

  @Test
  void theOldestBackupsGo() throws Exception {
    ManualClock clock = new ManualClock();
    start(clock, "data", "backupsKept=2");
    for (int i = 0; i < 4; i++) {
      clock.advance(1_000);
      assertThat(client.saveNamespace(0, 0)).isTrue();
    }
    try (Stream<Path> backups = Files.list(directory.resolve("data/backups"))) {
      assertThat(backups).hasSize(2);
    }
  }

  /** The time of day is set forward by a day: no lease ends and no server dies by that. */
  @Test
  void aJumpOfTheTimeOfDayEndsNoLease() throws Exception {
    ManualClock clock = new ManualClock();
    start(clock, "data");
    try (var out = client.create(path("/open"), false)) {
      clock.advance(86_400_000);
      try (DistributedFileSystem other = new DistributedFileSystem()) {
        other.initialize(URI.create(conf.get("fs.defaultFS")), conf);
        assertThatThrownBy(() -> other.append(path("/open")).close())
            .hasMessageContaining("currently owned by");
      }
    }
  }
}
