package io.ebbfs.ignite;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.io.FileCreationService;
import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.files.policies.PolicyService;
import io.ebbfs.namenode.files.quotas.QuotaService;
import io.ebbfs.namenode.files.quotas.TreeCounter;
import io.ebbfs.namenode.files.snapshots.SnapshotService;
import io.ebbfs.namenode.files.tree.ContentSummaryService;
import io.ebbfs.namenode.files.tree.DeleteService;
import io.ebbfs.namenode.files.tree.InodeLookup;
import io.ebbfs.namenode.files.tree.MkdirService;
import io.ebbfs.namenode.files.tree.RenameService;
import io.ebbfs.namenode.store.IdGenerators;
import java.io.IOException;
import java.time.Clock;
import java.util.Set;
import org.apache.hadoop.fs.permission.FsPermission;

/** The names of one namenode: what it does to the rows of a store, for clients without blocks. */
record NamenodeServices(
    MkdirService mkdirs,
    FileCreationService creation,
    RenameService renames,
    DeleteService deletions,
    QuotaService quotas,
    PolicyService policies,
    ContentSummaryService summaries,
    SnapshotService snapshots,
    InodeLookup inodes) {
  private static final Caller.Superuser SUPERUSER = new Caller.Superuser("root", "supergroup");
  static final Caller ROOT = new Caller("root", Set::of, SUPERUSER);

  static NamenodeServices on(IgniteStore store) throws IOException {
    Clock clock = Clock.systemUTC();
    IdGenerators ids = IdGenerators.of(store);
    LeaseManager leases = new LeaseManager(clock, Long.MAX_VALUE, Long.MAX_VALUE);
    NamespaceLimits limits = NamespaceLimits.DEFAULT;
    TreeCounter counter = new TreeCounter(store);
    return new NamenodeServices(
        new MkdirService(store, ids.inodes(), clock, limits),
        new FileCreationService(
            store, ids.inodes(), clock, limits, leases, null, () -> {}), // no lease ends
        new RenameService(store, clock, limits, counter, () -> {}),
        new DeleteService(store, clock, () -> {}),
        new QuotaService(store, counter),
        new PolicyService(store, counter),
        new ContentSummaryService(store),
        new SnapshotService(store, clock, () -> {}),
        new InodeLookup(store));
  }

  void makeRoot() throws IOException {
    mkdirs.makeRoot(SUPERUSER);
  }

  void mkdirs(String path) throws IOException {
    mkdirs.mkdirs(ROOT, path, new FsPermission(0755), true);
  }

  Inode create(String path) throws IOException {
    return creation.create(
        ROOT,
        new FileCreationService.Request(
            path, 0644, "client", "127.0.0.1", true, true, false, 1, 1 << 20));
  }
}
