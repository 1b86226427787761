package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ebbfs.namenode.leader.Leadership.Changes;
import io.ebbfs.namenode.leader.Leadership.Leader;
import io.ebbfs.protocol.proto.CodingProtos.ReportHeatRequestProto;
import io.ebbfs.protocol.proto.PeerProtos.ForwardedCallProto;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.PeerClient;
import io.ebbfs.protocol.rpc.RemoteCall;
import io.ebbfs.protocol.rpc.RpcSettings;
import io.ebbfs.protocol.rpc.ServiceKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DFSClient;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A follower beside a leader, on one store in memory. */
@Timeout(60)
class FollowerServerTest {
  @TempDir Path directory;
  private LeaderAndFollower both;

  @BeforeEach
  void start() throws Exception {
    both = new LeaderAndFollower(directory);
  }

  @AfterEach
  void stop() throws Exception {
    both.close();
  }

  @Test
  void aForwardedCallRunsInTheNameOfItsCaller() throws Exception {
    both.leaderIsKnown(1);
    URI follower = both.follower();
    DFSClient superuser = both.client(follower);
    superuser.mkdirs("/private", new FsPermission(0700), true);
    superuser.create("/private/file", false).close();
    UserGroupInformation stranger = UserGroupInformation.createRemoteUser("stranger");
    DFSClient other =
        stranger.doAs((PrivilegedExceptionAction<DFSClient>) () -> both.client(follower));
    // The leader runs setReplication, the follower getFileInfo: both know the user.
    assertThatThrownBy(() -> other.setReplication("/private/file", (short) 2))
        .isInstanceOf(AccessControlException.class)
        .hasMessageContaining("stranger");
    assertThatThrownBy(() -> other.getFileInfo("/private/file"))
        .isInstanceOf(AccessControlException.class);
    assertThat(superuser.setReplication("/private/file", (short) 2)).isTrue();
    assertThat(superuser.getFileInfo("/private/file").getReplication()).isEqualTo((short) 2);
  }

  @Test
  void aCallWaitsForTheNextLeader() throws Exception {
    Leader nobody = both.nobodyLeads(1);
    DFSClient client = both.client(both.follower());
    assertThat(client.getFileInfo("/").isDirectory()).as("a read needs no leader").isTrue();
    CompletableFuture<long[]> stats =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return client.getNamenode().getStats();
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    assertThat(catchThrowable(() -> stats.get(500, TimeUnit.MILLISECONDS)))
        .as("no leader has answered")
        .isInstanceOf(TimeoutException.class);
    assertThat(both.ended).as("the machine refuses the connection").contains(nobody);
    both.leaderIsKnown(2);
    assertThat(stats.get(20, TimeUnit.SECONDS)).isNotEmpty();
  }

  @Test
  void filesAreCreatedWhileNobodyLeads() throws Exception {
    both.nobodyLeads(1);
    DFSClient client = both.client(both.follower());
    client.create("/file", false).close();
    assertThat(client.mkdirs("/directory", new FsPermission(0755), true)).isTrue();
    client.rename("/file", "/directory/file");
    client.getNamenode().renewLease(client.getClientName(), List.of());
    assertThat(client.isFileClosed("/directory/file")).isTrue();
  }

  @Test
  void safeModeIsKnownWithoutTheLeader() throws Exception {
    both.nobodyLeads(1);
    both.changes = Changes.REFUSED;
    DFSClient client = both.client(both.follower());
    assertThatThrownBy(() -> client.mkdirs("/directory", new FsPermission(0755), true))
        .hasMessageContaining("an operator entered it");
    both.changes = Changes.UNKNOWN;
    CompletableFuture<Boolean> made =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return client.mkdirs("/directory", new FsPermission(0755), true);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    assertThat(catchThrowable(() -> made.get(500, TimeUnit.MILLISECONDS)))
        .as("the leader has to decide")
        .isInstanceOf(TimeoutException.class);
    both.leaderIsKnown(2);
    assertThat(made.get(20, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void theHeatThatIsReportedToTheLeaderIsReadFromAFollowerToo() throws Exception {
    both.leaderIsKnown(1);
    DFSClient client = both.client(both.follower());
    client.create("/file", false).close();
    assertThat(attribute(client, "heat")).as("nobody has reported").isEqualTo("unknown");
    ReportHeatRequestProto report =
        ReportHeatRequestProto.newBuilder()
            .addInodeIds(client.getFileInfo("/file").getFileId())
            .addReads(7)
            .setOtherFilesAtMost(0)
            .setOtherDirectoriesAtMost(0)
            .setValidMillis(3_600_000)
            .build();
    RpcSettings settings = RpcSettings.tryOnce(10_000);
    try (NamenodeClient stranger =
            new NamenodeClient(both.leaderAddress, settings, ServiceKey.NONE);
        NamenodeClient manager =
            new NamenodeClient(
                both.leaderAddress,
                settings,
                ServiceKey.of(LeaderAndFollower.SECRET, "the test"))) {
      assertThatThrownBy(
              () -> RemoteCall.answerOf(() -> stranger.coding().reportHeat(null, report)))
          .isInstanceOf(AccessControlException.class);
      RemoteCall.answerOf(() -> manager.coding().reportHeat(null, report));
    }
    assertThat(attribute(client, "heat")).startsWith("7.00 as of ");
    both.nobodyLeads(2);
    assertThat(attribute(client, "state")).as("a row tells it").isEqualTo("replicas");
  }

  private static String attribute(DFSClient client, String name) throws IOException {
    return new String(client.getXAttr("/file", "user.ebbfs." + name), StandardCharsets.UTF_8);
  }

  @Test
  void onlyANamenodeMayNameTheUserOfACall() throws Exception {
    ForwardedCallProto call =
        ForwardedCallProto.newBuilder()
            .setMethod("getFsStats")
            .setRequest(ByteString.EMPTY)
            .setUser("somebody")
            .setAddress(ByteString.copyFrom(new byte[] {127, 0, 0, 1}))
            .build();
    RpcSettings settings = RpcSettings.tryOnce(10_000);
    try (PeerClient stranger = new PeerClient(both.leaderAddress, settings, ServiceKey.NONE);
        PeerClient namenode =
            new PeerClient(
                both.leaderAddress,
                settings,
                ServiceKey.of(LeaderAndFollower.SECRET, "the test"))) {
      assertThatThrownBy(() -> stranger.forward(call)).isInstanceOf(AccessControlException.class);
      assertThatThrownBy(() -> stranger.view(List.of())).isInstanceOf(AccessControlException.class);
      assertThat(namenode.forward(call).hasResult()).isTrue();
      assertThat(namenode.view(List.of()).getServersCount()).isZero();
      assertThatThrownBy(() -> namenode.forward(call.toBuilder().setMethod("none").build()))
          .hasMessageContaining("the forwarded method none is not known here");
    }
  }
}
