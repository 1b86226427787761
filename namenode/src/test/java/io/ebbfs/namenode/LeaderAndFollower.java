package io.ebbfs.namenode;

import io.ebbfs.namenode.NamenodeConfig.Override;
import io.ebbfs.namenode.leader.Leadership.Changes;
import io.ebbfs.namenode.leader.Leadership.Leader;
import io.ebbfs.namenode.rpc.RpcEndpoint;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.MetadataStore;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.DFSClient;

/** A leader, and a follower that a test tells who leads, on one store in memory. */
final class LeaderAndFollower implements AutoCloseable {
  static final String SECRET = "0123456789abcdef0123456789abcdef";

  final ConcurrentLinkedQueue<Leader> ended = new ConcurrentLinkedQueue<>();
  final InetSocketAddress leaderAddress;
  final NamenodeServer leader;
  volatile Optional<Leader> leading = Optional.empty();
  volatile Changes changes = Changes.ALLOWED;

  private final MetadataStore store;
  private final Path directory;
  private final List<AutoCloseable> parts = new ArrayList<>();

  LeaderAndFollower(Path directory) throws Exception {
    this(directory, InMemoryStore.shared());
  }

  /** On a store that other processes could share. */
  LeaderAndFollower(Path directory, MetadataStore store) throws Exception {
    this.store = store;
    this.directory = directory;
    Path key = directory.resolve("service.key");
    Files.createFile(
        key, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(key, SECRET + "\n");
    RpcEndpoint door = door();
    leaderAddress = door.address();
    leader =
        kept(
            NamenodeServer.startOn(
                store,
                door,
                config(),
                Clock.systemUTC(),
                new Random(1),
                NamenodeServer.Lead.ALONE));
  }

  <T extends AutoCloseable> T kept(T part) {
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
            new Override("test", "minBlockSize", "64KiB"),
            new Override("test", "serviceKey", directory.resolve("service.key").toString())),
        Optional.empty());
  }

  static Leader at(InetSocketAddress address, long term) {
    return new Leader("127.0.0.1:" + address.getPort(), term);
  }

  /** The follower finds the leader from now on. */
  void leaderIsKnown(long term) {
    leading = Optional.of(at(leaderAddress, term));
  }

  /** The follower takes for the leader an address at which nobody listens. */
  Leader nobodyLeads(long term) throws IOException {
    try (ServerSocket closed = new ServerSocket(0)) {
      Leader nobody = at(new InetSocketAddress("127.0.0.1", closed.getLocalPort()), term);
      leading = Optional.of(nobody);
      return nobody;
    }
  }

  /** A follower that serves; the URI for its clients. */
  URI follower() throws Exception {
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
                ended::add,
                () -> changes));
    follower.start();
    return URI.create("hdfs://127.0.0.1:" + door.address().getPort());
  }

  DFSClient client(URI namenode) throws IOException {
    return client(namenode, new Configuration());
  }

  DFSClient client(URI namenode, Configuration configuration) throws IOException {
    return kept(new DFSClient(namenode, configuration));
  }

  @java.lang.Override
  public void close() throws Exception {
    Collections.reverse(parts);
    for (AutoCloseable part : parts) {
      part.close();
    }
  }
}
