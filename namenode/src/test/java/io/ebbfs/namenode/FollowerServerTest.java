package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ebbfs.namenode.NamenodeConfig.Override;
import io.ebbfs.namenode.leader.Leadership.Leader;
import io.ebbfs.namenode.rpc.RpcEndpoint;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.protocol.proto.PeerProtos.ForwardedCallProto;
import io.ebbfs.protocol.rpc.PeerClient;
import io.ebbfs.protocol.rpc.RpcSettings;
import io.ebbfs.protocol.rpc.ServiceKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.PrivilegedExceptionAction;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.conf.Configuration;
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
  private static final String SECRET = "0123456789abcdef0123456789abcdef";

  @TempDir Path directory;
  private final InMemoryStore store = new InMemoryStore();
  private final List<AutoCloseable> parts = new ArrayList<>();
  private final ConcurrentLinkedQueue<Leader> ended = new ConcurrentLinkedQueue<>();
  private volatile Optional<Leader> leading = Optional.empty();
  private NamenodeServer leader;
  private InetSocketAddress leaderAddress;

  @BeforeEach
  void startLeader() throws Exception {
    Path key = directory.resolve("service.key");
    Files.createFile(
        key, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(key, SECRET + "\n");
    RpcEndpoint door = door();
    leaderAddress = door.address();
    leader =
        kept(
            NamenodeServer.startOn(
                store, door, config(), Clock.systemUTC(), new Random(1), () -> 1));
  }

  @AfterEach
  void stop() throws Exception {
    Collections.reverse(parts);
    for (AutoCloseable part : parts) {
      part.close();
    }
  }

  private <T extends AutoCloseable> T kept(T part) {
    parts.add(part);
    return part;
  }

  private RpcEndpoint door() throws IOException {
    RpcEndpoint door = kept(new RpcEndpoint(4, RpcEndpoint.newRetryAnswers()));
    door.start("127.0.0.1", 0);
    return door;
  }

  private NamenodeConfig config() throws Exception {
    return NamenodeConfig.of(
        Optional.empty(),
        List.of(
            new Override("test", "data", directory.toString()),
            new Override("test", "serviceKey", directory.resolve("service.key").toString())),
        Optional.empty());
  }

  private Leader at(InetSocketAddress address, long term) {
    return new Leader("127.0.0.1:" + address.getPort(), term);
  }

  /** A follower that serves; the URI for its clients. */
  private URI follower() throws Exception {
    RpcEndpoint door = door();
    FollowerServer follower =
        kept(
            new FollowerServer(
                config(),
                Clock.systemUTC(),
                new Random(2),
                store,
                door,
                () -> leading,
                ended::add));
    follower.start();
    return URI.create("hdfs://127.0.0.1:" + door.address().getPort());
  }

  private DFSClient client(URI namenode) throws IOException {
    return kept(new DFSClient(namenode, new Configuration()));
  }

  @Test
  void aForwardedCallRunsInTheNameOfItsCaller() throws Exception {
    leading = Optional.of(at(leaderAddress, 1));
    URI follower = follower();
    DFSClient superuser = client(follower);
    superuser.mkdirs("/private", new FsPermission(0700), true);
    superuser.create("/private/file", false).close();
    UserGroupInformation stranger = UserGroupInformation.createRemoteUser("stranger");
    DFSClient other = stranger.doAs((PrivilegedExceptionAction<DFSClient>) () -> client(follower));
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
    InetSocketAddress nobody;
    try (ServerSocket closed = new ServerSocket(0)) {
      nobody = new InetSocketAddress("127.0.0.1", closed.getLocalPort());
    }
    leading = Optional.of(at(nobody, 1));
    DFSClient client = client(follower());
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
    assertThat(ended).as("the machine refuses the connection").contains(at(nobody, 1));
    leading = Optional.of(at(leaderAddress, 2));
    assertThat(stats.get(20, TimeUnit.SECONDS)).isNotEmpty();
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
    try (PeerClient stranger = new PeerClient(leaderAddress, settings, ServiceKey.NONE);
        PeerClient namenode =
            new PeerClient(leaderAddress, settings, ServiceKey.of(SECRET, "the test"))) {
      assertThatThrownBy(() -> stranger.forward(call)).isInstanceOf(AccessControlException.class);
      assertThatThrownBy(stranger::view).isInstanceOf(AccessControlException.class);
      assertThat(namenode.forward(call).hasResult()).isTrue();
      assertThat(namenode.view().getServersCount()).isZero();
      assertThatThrownBy(() -> namenode.forward(call.toBuilder().setMethod("none").build()))
          .hasMessageContaining("the forwarded method none is not known here");
    }
  }
}
