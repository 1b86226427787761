package io.ebbfs.namenode.files;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.common.time.ManualClock;
import io.ebbfs.namenode.datanodes.ClusterIdentity;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.files.acls.AclService;
import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.io.ConcatService;
import io.ebbfs.namenode.files.io.FileCreationService;
import io.ebbfs.namenode.files.io.FileReadService;
import io.ebbfs.namenode.files.io.FileSettings;
import io.ebbfs.namenode.files.io.FileWriteService;
import io.ebbfs.namenode.files.io.LeaseMonitor;
import io.ebbfs.namenode.files.io.LeaseRecovery;
import io.ebbfs.namenode.files.io.OpenListener;
import io.ebbfs.namenode.files.io.ReplicationFactorService;
import io.ebbfs.namenode.files.io.TruncateService;
import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.files.policies.PolicyService;
import io.ebbfs.namenode.files.quotas.QuotaService;
import io.ebbfs.namenode.files.quotas.TreeCounter;
import io.ebbfs.namenode.files.tree.AttributeService;
import io.ebbfs.namenode.files.tree.ContentSummaryService;
import io.ebbfs.namenode.files.tree.DeleteService;
import io.ebbfs.namenode.files.tree.InodeLookup;
import io.ebbfs.namenode.files.tree.MkdirService;
import io.ebbfs.namenode.files.tree.PendingDeletionReaper;
import io.ebbfs.namenode.files.tree.RenameService;
import io.ebbfs.namenode.files.xattrs.ReportedHeat;
import io.ebbfs.namenode.files.xattrs.XAttrLimits;
import io.ebbfs.namenode.files.xattrs.XAttrService;
import io.ebbfs.namenode.replicas.BlockManager;
import io.ebbfs.namenode.replicas.EncodedBlocks;
import io.ebbfs.namenode.rpc.datanode.DatanodeFrontEnd;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.stripes.StripeManager;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

  final ManualClock clock = new ManualClock();
  final ReportedHeat heat = new ReportedHeat(clock);
  final MetadataStore store;
  final Caller.Superuser superuser = new Caller.Superuser("root", "supergroup");
  final DatanodeRegistry cluster;
  final BlockManager blocks;
  final MkdirService mkdirs;
  final AttributeService attributes;
  final AclService acls;
  final XAttrService xattrs;
  final QuotaService quotas;
  final PolicyService policies;
  final InodeLookup inodes;
  final RenameService renames;
  final DeleteService deletions;
  final PendingDeletionReaper reaper;
  final FileCreationService creation;
  final FileWriteService writes;
  final FileReadService reads;
  final ReplicationFactorService replication;
  final ContentSummaryService summaries;
  final LeaseManager leases;
  final LeaseRecovery recovery;
  final TruncateService truncation;
  final ConcatService concat;
  final StripeManager stripes;

  /** Blocks that were asked to leave their stripes. */
  final List<Long> freed = new ArrayList<>();

  /** What keeps such blocks in their stripes. */
  Optional<EncodedBlocks.Obstacle> obstacle = Optional.empty();

  private final EncodedBlocks encoded =
      new EncodedBlocks() {
        @Override
        public void free(long fileId, BlockRow block) {
          freed.add(block.getBlockId());
        }

        @Override
        public Optional<Obstacle> obstacle(BlockRow block) {
          return obstacle;
        }
      };

  final LeaseMonitor monitor;
  final DatanodeFrontEnd datanodes;
  final ClusterIdentity identity;

  NamespaceFixture() throws IOException {
    this(NamespaceLimits.DEFAULT);
  }

  NamespaceFixture(NamespaceLimits limits) throws IOException {
    this(new InMemoryStore(), limits);
  }

  NamespaceFixture(MetadataStore store) throws IOException {
    this(store, NamespaceLimits.DEFAULT);
  }

  private NamespaceFixture(MetadataStore store, NamespaceLimits limits) throws IOException {
    this.store = store;
    Random random = new Random(1);
    identity = ClusterIdentity.of(store, clock, random);
    RedundancySettings redundancy = RedundancySettings.of(10_000, 20_000);
    cluster = new DatanodeRegistry(store, IdGenerator.storages(store), clock, redundancy);
    blocks = new BlockManager(store, cluster, identity.blockPoolId(), clock, random, redundancy);
    stripes = new StripeManager(CodeRegistry.builtIn(), blocks, cluster);
    blocks.bind(stripes);
    IdGenerators ids = IdGenerators.of(store);
    FileSettings settings = new FileSettings(10, RECOVERY_RETRY_MILLIS);
    reaper = new PendingDeletionReaper(store, blocks, stripes);
    leases = new LeaseManager(clock, SOFT_MILLIS, HARD_MILLIS);
    recovery =
        new LeaseRecovery(
            store, blocks, stripes, encoded, leases, ids.generationStamps(), clock, settings);
    truncation = new TruncateService(store, clock, recovery);
    concat = new ConcatService(store, blocks, stripes, encoded, clock);
    monitor = new LeaseMonitor(store, leases, recovery);
    mkdirs = new MkdirService(store, ids.inodes(), clock, limits);
    attributes = new AttributeService(store);
    acls = new AclService(store);
    xattrs = new XAttrService(store, clock, XAttrLimits.DEFAULT, heat);
    TreeCounter counter = new TreeCounter(store);
    quotas = new QuotaService(store, counter);
    policies = new PolicyService(store, counter);
    inodes = new InodeLookup(store);
    renames = new RenameService(store, clock, limits, counter, reaper::wake);
    deletions = new DeleteService(store, clock, reaper::wake);
    creation =
        new FileCreationService(store, ids.inodes(), clock, limits, leases, recovery, reaper::wake);
    writes =
        new FileWriteService(
            store,
            blocks,
            ids.blocks(),
            ids.inodes(),
            ids.generationStamps(),
            clock,
            limits,
            settings);
    reads = new FileReadService(store, blocks, clock, limits, OpenListener.NONE);
    replication = new ReplicationFactorService(store, blocks, limits);
    summaries = new ContentSummaryService(store);
    datanodes =
        new DatanodeFrontEnd(identity, cluster, blocks, recovery::commitBlockSynchronization);
    mkdirs.makeRoot(superuser);
  }

  Caller root() {
    return new Caller("root", Set::of, superuser);
  }

  Caller user(String name, String... groups) {
    return new Caller(name, () -> Set.of(groups), superuser);
  }

  boolean mkdirs(String path) throws IOException {
    return mkdirs.mkdirs(root(), path, new FsPermission(0755), true);
  }

  FileCreationService.Request request(String path, String client, boolean overwrite) {
    return new FileCreationService.Request(
        path, 0644, client, "127.0.0.1", true, overwrite, true, 3, BLOCK_BYTES);
  }

  /** Makes an empty file and closes it. */
  Inode touch(String path) throws IOException {
    return touch(root(), path, false);
  }

  Inode touch(Caller caller, String path, boolean overwrite) throws IOException {
    Inode file = creation.create(caller, request(path, "toucher", overwrite));
    writes.complete(new FileWriteService.Handle(path, file.id(), "toucher", "127.0.0.1"), null);
    return file;
  }

  HdfsFileStatus status(String path) throws IOException {
    return reads.status(root(), path, false, "127.0.0.1");
  }

  /** The whole tree by path; the path of a directory ends with a slash. Checks the rows, too. */
  Map<String, Long> tree() throws IOException {
    Map<String, Long> found = new HashMap<>();
    walk(Inode.ROOT_ID, "/", found, true);
    return found;
  }

  /** As {@link #tree}, but without checks, while other threads change the tree. */
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
      String below = path + inode.nameText() + (inode.isDirectory() ? "/" : "");
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
