package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.NamenodeConfig;
import io.ebbfs.namenode.NamenodeConfig.Override;
import io.ebbfs.namenode.NamenodeServer;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetReadPlanRequestProto;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.RpcSettings;
import io.ebbfs.protocol.rpc.ServiceKey;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.PrivilegedExceptionAction;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who gets read plans from a namenode whose services have a key. */
class ReadPlanOfUserTest {
  @TempDir Path directory;
  private NamenodeServer namenode;

  @BeforeEach
  void start() throws Exception {
    Path key = Files.writeString(directory.resolve("service.key"), "0123456789abcdef".repeat(4));
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    List<Override> settings =
        List.of(
            new Override("test", "data", directory.resolve("data").toString()),
            new Override("test", "port", "0"),
            new Override("test", ServiceKey.SETTING, key.toString()));
    namenode =
        NamenodeServer.start(
            NamenodeConfig.of(Optional.empty(), settings, Optional.empty()),
            Clock.systemUTC(),
            new Random(1));
    try (DistributedFileSystem files = new DistributedFileSystem()) {
      files.initialize(
          URI.create("hdfs://127.0.0.1:" + namenode.address().getPort()), new Configuration());
      files.mkdirs(new org.apache.hadoop.fs.Path("/d"), new FsPermission((short) 0700));
      files.create(new org.apache.hadoop.fs.Path("/d/f")).close();
    }
  }

  @AfterEach
  void stop() throws IOException {
    namenode.close();
  }

  private static GetReadPlanRequestProto.Builder request() {
    return GetReadPlanRequestProto.newBuilder()
        .setBlock(
            ExtendedBlockProto.newBuilder()
                .setPoolId("")
                .setBlockId(1L << 30)
                .setGenerationStamp(1001));
  }

  private void ask(String user, GetReadPlanRequestProto request) throws Exception {
    UserGroupInformation.createRemoteUser(user)
        .doAs(
            (PrivilegedExceptionAction<Void>)
                () -> {
                  try (NamenodeClient coding = client()) {
                    coding.coding().getReadPlan(null, request);
                  }
                  return null;
                });
  }

  private NamenodeClient client() throws IOException {
    return new NamenodeClient(namenode.address(), RpcSettings.tryOnce(30_000), ServiceKey.NONE);
  }

  @Test
  void aUserNeedsThePathOfAFileThatTheUserMayRead() throws Exception {
    String owner = UserGroupInformation.getCurrentUser().getShortUserName();
    assertThatThrownBy(() -> ask(owner, request().build())).hasStackTraceContaining("key");
    assertThatThrownBy(() -> ask("guest", request().setPath("/d/f").build()))
        .hasStackTraceContaining("Permission denied: user=guest");
    assertThatThrownBy(() -> ask(owner, request().setPath("/d/none").build()))
        .hasStackTraceContaining("Path not found");
    assertThatThrownBy(() -> ask(owner, request().setPath("/d/f").build()))
        .hasStackTraceContaining("is not a block of /d/f");
  }

  /** Another request with a path stays a request of services. */
  @Test
  void noOtherCallIsForUsers() throws IOException {
    try (NamenodeClient coding = client()) {
      assertThatThrownBy(
              () -> coding.coding().getCluster(null, GetClusterRequestProto.getDefaultInstance()))
          .hasStackTraceContaining("key");
    }
  }
}
