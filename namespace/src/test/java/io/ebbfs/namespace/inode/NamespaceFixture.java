package io.ebbfs.namespace.inode;

import io.ebbfs.namespace.IdGenerator;
import io.ebbfs.namespace.IdGenerators;
import io.ebbfs.namespace.block.BlockManager;
import io.ebbfs.namespace.block.BlockSettings;
import io.ebbfs.namespace.block.ClusterIdentity;
import io.ebbfs.namespace.block.ClusterMap;
import io.ebbfs.namespace.block.DatanodeFrontEnd;
import io.ebbfs.namespace.lease.LeaseMonitor;
import io.ebbfs.namespace.lease.Leases;
import io.ebbfs.namespace.store.InMemoryStore;
import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.Row;
import io.ebbfs.namespace.store.Table;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.stripe.StripeManager;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;

/** The services of the namenode on the in-memory store, without RPC. */
final class NamespaceFixture {
  static final long SOFT_MILLIS = 60_000;
  static final long HARD_MILLIS = 1_200_000;
  static final long RECOVERY_RETRY_MILLIS = 30_000;
  static final long BLOCK_BYTES = 1 << 20;

  final SettableClock clock = new SettableClock();
  final MetadataStore store = new InMemoryStore();
  final Caller.Superuser superuser = new Caller.Superuser("root", "supergroup");
  final ClusterMap cluster;
  final BlockManager blocks;
  final Namespace namespace;
  final Renames renames;
  final Deletions deletions;
  final Reaper reaper;
  final FileCreation creation;
  final FileWrites writes;
  final FileReads reads;
  final Replication replication;
  final Summaries summaries;
  final Leases leases;
  final LeaseRecovery recovery;
  final LeaseMonitor monitor;
  final DatanodeFrontEnd datanodes;
  final ClusterIdentity identity;

  NamespaceFixture() throws IOException {
    this(Limits.DEFAULT);
  }

  NamespaceFixture(Limits limits) throws IOException {
    Random random = new Random(1);
    identity = ClusterIdentity.of(store, clock, random);
    BlockSettings blockSettings = BlockSettings.brisk(10_000);
    cluster = new ClusterMap(store, IdGenerator.storages(store), clock, blockSettings);
    blocks = new BlockManager(store, cluster, identity.blockPoolId(), clock, random, blockSettings);
    StripeManager stripes = new StripeManager(blocks);
    blocks.bind(stripes);
    IdGenerators ids = IdGenerators.of(store);
    FileSettings settings = new FileSettings(10, RECOVERY_RETRY_MILLIS);
    reaper = new Reaper(store, blocks, stripes);
    leases = new Leases(clock, SOFT_MILLIS, HARD_MILLIS);
    recovery = new LeaseRecovery(store, blocks, leases, ids.generationStamps(), clock, settings);
    monitor = new LeaseMonitor(store, leases, recovery);
    namespace = new Namespace(store, ids.inodes(), clock, limits);
    renames = new Renames(store, clock, limits, () -> {});
    deletions = new Deletions(store, clock, () -> {});
    creation = new FileCreation(store, ids.inodes(), clock, limits, leases, recovery, () -> {});
    writes =
        new FileWrites(
            store, blocks, ids.blocks(), ids.generationStamps(), clock, limits, settings);
    reads = new FileReads(store, blocks, clock, limits, OpenListener.NONE);
    replication = new Replication(store, blocks, limits);
    summaries = new Summaries(store);
    datanodes =
        new DatanodeFrontEnd(
            identity,
            cluster,
            blocks,
            (block, stamp, length, close, delete, storages) ->
                recovery.commitBlockSynchronization(
                    block.getBlockId(), stamp, length, close, delete, storages));
    namespace.initialize(superuser);
  }

  Caller root() {
    return new Caller("root", Set::of, superuser);
  }

  Caller user(String name, String... groups) {
    return new Caller(name, () -> Set.of(groups), superuser);
  }

  boolean mkdirs(String path) throws IOException {
    return namespace.mkdirs(root(), path, new FsPermission(0755), true);
  }

  FileCreation.Request request(String path, String client, boolean overwrite) {
    return new FileCreation.Request(
        path, 0644, client, "127.0.0.1", true, overwrite, true, 3, BLOCK_BYTES);
  }

  /** Makes an empty file and closes it. */
  Inode touch(String path) throws IOException {
    return touch(root(), path, false);
  }

  Inode touch(Caller caller, String path, boolean overwrite) throws IOException {
    Inode file = creation.create(caller, request(path, "toucher", overwrite));
    writes.complete(new FileWrites.Handle(path, file.id(), "toucher", "127.0.0.1"), null);
    return file;
  }

  HdfsFileStatus status(String path) throws IOException {
    return reads.status(root(), path, false, "127.0.0.1");
  }

  /** The whole tree, by path; a directory's path ends with a slash. Checks the rows on the way. */
  Map<String, Long> tree() throws IOException {
    Map<String, Long> found = new HashMap<>();
    walk(Inode.ROOT_ID, "/", found, true);
    return found;
  }

  /** As {@link #tree}, while others change it: what was seen on the way, unchecked. */
  Map<String, Long> glimpse() throws IOException {
    Map<String, Long> found = new HashMap<>();
    walk(Inode.ROOT_ID, "/", found, false);
    return found;
  }

  private void walk(long directoryId, String path, Map<String, Long> found, boolean check)
      throws IOException {
    List<Row<InodeRow>> rows = store.transact(directoryId, t -> t.scan(Tables.INODE, directoryId));
    for (Row<InodeRow> row : rows) {
      Inode inode = new Inode(row.key(), row.value());
      if (check) {
        requireWayBack(inode);
      }
      String below = path + Names.text(inode.name()) + (inode.isDirectory() ? "/" : "");
      found.put(below, inode.id());
      if (inode.isDirectory()) {
        walk(inode.id(), below, found, check);
      }
    }
  }

  private void requireWayBack(Inode inode) throws IOException {
    Key key = Tables.inodeName(inode.id());
    InodeNameRow name =
        store.transact(
            inode.id(), t -> t.get(Tables.INODE_NAME, key).orElseThrow(IllegalStateException::new));
    if (name.getParentId() != inode.parentId()
        || !Tables.inode(name.getParentId(), name.getName().toByteArray()).equals(inode.key())) {
      throw new IllegalStateException("inode " + inode.id() + " and its name row disagree");
    }
  }

  int rows(Table<?> table) throws IOException {
    return store.scanAll(table, null, Integer.MAX_VALUE).size();
  }
}
