package io.ebbfs.ignite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ebbfs.namenode.NamenodeConfig;
import io.ebbfs.namenode.NamenodeConfig.Override;
import io.ebbfs.namenode.SharedNamenode;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.ha.HAServiceProtocol.HAServiceState;
import org.apache.hadoop.hdfs.DFSClient;
import org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.ipc.RemoteException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two namenodes on one store; clients find the leader as they find HDFS's active NameNode. */
class SharedNamenodeTest {
  private static final long LIMIT_NANOS = 240_000_000_000L;

  @TempDir Path directory;
  private StoreNodes nodes;
  private SharedNamenode first;
  private SharedNamenode second;

  @BeforeEach
  void start() throws Exception {
    nodes = StoreNodes.start(directory, 1);
    first = namenode("first");
    second = namenode("second");
  }

  @AfterEach
  void stop() throws IOException {
    try (StoreNodes last = nodes;
        SharedNamenode b = second;
        SharedNamenode a = first) {
      // Closes them in this order.
    }
  }

  private SharedNamenode namenode(String name) throws Exception {
    List<Override> keys =
        List.of(
            new Override("test", "data", directory.resolve(name).toString()),
            new Override("test", "port", "0"),
            new Override("test", "storeNodes", String.join(",", nodes.peers())));
    return SharedNamenode.start(
        NamenodeConfig.of(Optional.empty(), keys, Optional.empty()),
        Clock.systemUTC(),
        new Random(1));
  }

  private static URI uri(InetSocketAddress address) {
    return URI.create("hdfs://127.0.0.1:" + address.getPort());
  }

  private DFSClient clientOfBoth() throws IOException {
    return new DFSClient(
        URI.create(HaConfiguration.URI), HaConfiguration.of(List.of(first, second)));
  }

  private SharedNamenode awaitLeader() throws InterruptedException {
    long deadline = System.nanoTime() + LIMIT_NANOS;
    while (!first.isLeader() && !second.isLeader() && System.nanoTime() < deadline) {
      Thread.sleep(20);
    }
    assertThat(first.isLeader() ^ second.isLeader()).as("one of them leads").isTrue();
    return first.isLeader() ? first : second;
  }

  private SharedNamenode awaitFollowerOf(SharedNamenode leader) throws InterruptedException {
    SharedNamenode follower = leader == first ? second : first;
    long deadline = System.nanoTime() + LIMIT_NANOS;
    while (!follower.isServingFollower() && System.nanoTime() < deadline) {
      Thread.sleep(20);
    }
    assertThat(follower.isServingFollower()).as("the other one serves, too").isTrue();
    return follower;
  }

  private static DFSClient clientOf(SharedNamenode namenode) throws IOException {
    return new DFSClient(uri(namenode.address()), new Configuration());
  }

  private static String classOf(ThrowingCallable call) {
    Throwable thrown = catchThrowable(call);
    return thrown instanceof RemoteException remote
        ? remote.getClassName()
        : thrown.getClass().getName();
  }

  @Test
  void aNamenodeThatDoesNotLeadServesClients() throws Exception {
    SharedNamenode leader = awaitLeader();
    SharedNamenode follower = awaitFollowerOf(leader);
    try (DFSClient here = clientOf(follower);
        DFSClient there = clientOf(leader)) {
      ClientProtocol namenode = here.getNamenode();
      assertThat(namenode.getHAServiceState()).isEqualTo(HAServiceState.OBSERVER);
      assertThat(there.getNamenode().getHAServiceState()).isEqualTo(HAServiceState.ACTIVE);
      assertThat(here.mkdirs("/a/b", new FsPermission(0755), true)).isTrue();
      here.create("/a/b/file", false).close();
      long id = here.getFileInfo("/a/b/file").getFileId();
      assertThat(there.getFileInfo("/a/b/file").getFileId()).isEqualTo(id);
      assertThat(here.listPaths("/a/b", new byte[0]).getPartialListing()).hasSize(1);
      here.modifyAclEntries(
          "/a/b", AclEntry.parseAclSpec("user:ann:r-x,default:user:ann:rwx", true));
      there.mkdirs("/a/b/c", new FsPermission(0755), false);
      assertThat(there.getAclStatus("/a/b").getEntries()).hasSize(2 + 5);
      assertThat(here.getAclStatus("/a/b/c").getEntries()).hasSize(2 + 5);
      there.removeAcl("/a/b");
      assertThat(here.getFileInfo("/a/b").hasAcl()).isFalse();
      here.rename("/a/b/file", "/a/file");
      assertThat(there.getFileInfo("/a/b/file")).isNull();
      assertThat(there.getFileInfo("/a/file").getFileId()).isEqualTo(id);
      assertThat(here.getLocatedBlocks("/a/file", 0).getFileLength()).isZero();
      assertThat(here.delete("/a/file", false)).isTrue();
      assertThat(there.getFileInfo("/a/file")).isNull();
    }
  }

  @Test
  void whatOnlyTheLeaderKnowsIsAskedThere() throws Exception {
    SharedNamenode leader = awaitLeader();
    SharedNamenode follower = awaitFollowerOf(leader);
    try (DFSClient here = clientOf(follower);
        DFSClient there = clientOf(leader)) {
      there.create("/open", false); // its writer keeps the file open
      assertThat(here.setReplication("/open", (short) 2)).isTrue();
      assertThat(there.getFileInfo("/open").getReplication()).isEqualTo((short) 2);
      assertThat(here.getNamenode().getStats()).isEqualTo(there.getNamenode().getStats());
      // The failures are those of the leader, with the classes that clients know.
      assertThat(
              classOf(() -> here.append("/none", 512, EnumSet.of(CreateFlag.APPEND), null, null)))
          .isEqualTo(FileNotFoundException.class.getName());
      assertThat(classOf(() -> here.create("/open", false)))
          .isEqualTo(AlreadyBeingCreatedException.class.getName());
      assertThat(here.getNamenode().recoverLease("/open", "another")).isTrue();
      assertThat(here.isFileClosed("/open")).isTrue();
    }
  }

  @Test
  void theLeaderRemovesTheRowsOfWhatOthersDelete() throws Exception {
    SharedNamenode leader = awaitLeader();
    SharedNamenode follower = awaitFollowerOf(leader);
    try (DFSClient here = clientOf(follower)) {
      here.mkdirs("/tree/a/b", new FsPermission(0755), true);
      assertThat(here.delete("/tree", true)).isTrue();
      assertThat(here.getFileInfo("/tree")).isNull();
    }
    try (IgniteStore rows = IgniteStore.open(nodes.client())) {
      long deadline = System.nanoTime() + LIMIT_NANOS;
      Key pending = Key.of(Inode.PENDING_DELETION_ID);
      while (!below(rows, pending).isEmpty() && System.nanoTime() < deadline) {
        Thread.sleep(50);
      }
      assertThat(below(rows, pending)).isEmpty();
    }
  }

  private static List<Row<InodeRow>> below(IgniteStore store, Key directory) throws IOException {
    return store.transact(
        directory.partition(), t -> t.scan(Tables.INODE, directory.partition(), null, 10));
  }

  @Test
  void clientsFindTheLeaderAndTheNextOne() throws Exception {
    SharedNamenode leader = awaitLeader();
    SharedNamenode standby = awaitFollowerOf(leader);
    try (DFSClient client = clientOfBoth()) {
      assertThat(client.mkdirs("/a/b", new FsPermission(0755), true)).isTrue();
      long before = client.getFileInfo("/a/b").getFileId();
      leader.close();
      assertThat(client.mkdirs("/a/c", new FsPermission(0755), true)).isTrue();
      awaitLeader();
      assertThat(standby.isLeader()).isTrue();
      assertThat(client.getFileInfo("/a/b").getFileId()).isEqualTo(before);
      assertThat(client.getFileInfo("/a/c").getFileId()).isGreaterThan(before);
    }
  }
}
