package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.erasure.EnabledPolicies;
import io.ebbfs.namenode.files.inodes.AclRows;
import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.CreateModes;
import io.ebbfs.namenode.files.inodes.DirectoryRows;
import io.ebbfs.namenode.files.inodes.FsPath;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.InodePolicies;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.inodes.NewInodeIds;
import io.ebbfs.namenode.files.inodes.PathErrors;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PendingDeletions;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.QuotaMarks;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.files.leases.LeaseRows;
import io.ebbfs.namenode.files.policies.PolicyService;
import io.ebbfs.namenode.policies.StoragePolicies;
import io.ebbfs.namenode.store.BlockGroupsFormat;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.CallRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.PinProto;
import io.ebbfs.protocol.proto.StoreProtos.UnderConstructionProto;
import java.io.IOException;
import java.time.Clock;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.hdfs.protocol.ErasureCodingPolicy;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;

/** Creates files. Thread-safe. */
public final class FileCreationService {
  /**
   * The request of a client.
   *
   * @param flags CREATE: the file may be new; OVERWRITE: it may replace a file; SHOULD_REPLICATE:
   *     it is never encoded. Others ask for nothing here: SYNC_BLOCK and what says where blocks go
   *     come with the blocks, and every block is on disks at once, also with LAZY_PERSIST
   * @param makeParents whether missing directories above the file are made
   * @param storagePolicy the name of a storage policy of its own; empty for none
   * @param ecPolicyName the erasure coding policy; null or empty for that of the directory
   */
  public record Request(
      String src,
      CreateModes modes,
      String clientName,
      String clientMachine,
      Set<CreateFlag> flags,
      boolean makeParents,
      int replication,
      long blockSizeBytes,
      String storagePolicy,
      String ecPolicyName) {
    /** A request without policies. */
    public Request(
        String src,
        CreateModes modes,
        String clientName,
        String clientMachine,
        Set<CreateFlag> flags,
        boolean makeParents,
        int replication,
        long blockSizeBytes) {
      this(
          src,
          modes,
          clientName,
          clientMachine,
          flags,
          makeParents,
          replication,
          blockSizeBytes,
          "",
          null);
    }

    /** A request of a client without further flags, and before Hadoop 3. */
    public Request(
        String src,
        int mode,
        String clientName,
        String clientMachine,
        boolean create,
        boolean overwrite,
        boolean makeParents,
        int replication,
        long blockSizeBytes) {
      this(
          src,
          CreateModes.of(mode),
          clientName,
          clientMachine,
          flags(create, overwrite),
          makeParents,
          replication,
          blockSizeBytes);
    }

    private static Set<CreateFlag> flags(boolean create, boolean overwrite) {
      Set<CreateFlag> flags = EnumSet.noneOf(CreateFlag.class);
      if (create) {
        flags.add(CreateFlag.CREATE);
      }
      if (overwrite) {
        flags.add(CreateFlag.OVERWRITE);
      }
      return flags;
    }

    boolean create() {
      return flags.contains(CreateFlag.CREATE);
    }

    boolean namesPolicy() {
      return ecPolicyName != null && !ecPolicyName.isEmpty();
    }

    boolean overwrite() {
      return flags.contains(CreateFlag.OVERWRITE);
    }
  }

  private final MetadataStore store;
  private final IdGenerator inodeIds;
  private final Clock clock;
  private final NamespaceLimits limits;
  private final LeaseManager leases;
  private final LeaseRecovery recovery;
  private final Runnable onPendingDeletion;

  public FileCreationService(
      MetadataStore store,
      IdGenerator inodeIds,
      Clock clock,
      NamespaceLimits limits,
      LeaseManager leases,
      LeaseRecovery recovery,
      Runnable onPendingDeletion) {
    this.store = store;
    this.inodeIds = inodeIds;
    this.clock = clock;
    this.limits = limits;
    this.leases = leases;
    this.recovery = recovery;
    this.onPendingDeletion = onPendingDeletion;
  }

  /** Creates an empty file and opens it for writing by the client. */
  public Inode create(Caller caller, Request request) throws IOException {
    FsPath path = FsPath.parseNew(request.src());
    OpenFileLookup.refuseRecoveryHolder(request.src(), request.clientName());
    checkRequest(request);
    leases.renew(request.clientName());
    NewInodeIds ids = new NewInodeIds(inodeIds);
    Outcome outcome =
        BlockGroupsFormat.use(
            store,
            format ->
                OptimisticTransactions.repeat(
                    () -> {
                      ids.draw();
                      return store.transact(
                          Inode.ROOT_ID,
                          transaction -> attempt(transaction, caller, path, request, ids, format));
                    }));
    if (!outcome.made()) {
      recovery.takeOver(outcome.file(), request.src(), request.clientName(), "create");
      throw PathErrors.alreadyExists(
          "%s for client %s already exists".formatted(path, request.clientMachine()));
    }
    if (request.overwrite()) {
      onPendingDeletion.run();
    }
    return outcome.file().showing(outcome.policyId());
  }

  /** The new file, or the file that exists already and that the client does not overwrite. */
  private record Outcome(Inode file, boolean made, int policyId) {}

  private Outcome attempt(
      Transaction transaction,
      Caller caller,
      FsPath path,
      Request request,
      NewInodeIds ids,
      BlockGroupsFormat.Gate format)
      throws IOException {
    Optional<CallRow> earlier = ClientCall.earlierRun(transaction);
    if (earlier.isPresent()) {
      return new Outcome(made(transaction, caller, path, request, earlier.get()), true, 0);
    }
    ResolvedPath resolved = checked(transaction, caller, path, request);
    Optional<ErasureCodingPolicy> policy = policy(transaction, resolved, request);
    checkSizes(request, policy);
    if (resolved.exists() && !request.overwrite()) {
      return new Outcome(resolved.lastFound(), false, 0);
    }
    if (policy.isPresent() && request.namesPolicy()) { // of a directory, the format is raised
      format.require(transaction);
    }
    Iterator<Long> fresh = ids.take(Math.max(1, resolved.missing()));
    Inode file = make(transaction, caller, resolved, request, policy, fresh);
    return new Outcome(file, true, resolved.policyIdAbove());
  }

  /**
   * The file that the first run of the call made. If the file was deleted since, the client hears
   * of the file as it was made, with the group of the root: the call has taken effect. As with any
   * file that is deleted while it is open, its next call is refused.
   *
   * @throws StaleReadException if the file is being renamed, or its rows are being written
   */
  private Inode made(
      Transaction transaction, Caller caller, FsPath path, Request request, CallRow call)
      throws IOException {
    Optional<Inode> file = OpenFileLookup.ofEarlierRun(transaction, call.getInodeId());
    if (file.isPresent()) {
      return file.get();
    }
    ResolvedPath now = PathResolver.resolve(transaction, path);
    DirectoryRows.Maker maker = new DirectoryRows.Maker(caller.user(), call.getMillis());
    InodeRow row =
        row(call.getInodeId(), request, policy(transaction, now, request), maker, root(now))
            .build();
    return new Inode(Tables.inode(Inode.ROOT_ID, path.nameBytes(path.depth())), row);
  }

  private static InodeRow root(ResolvedPath path) {
    return path.inodes().get(0).row();
  }

  private void checkRequest(Request request) throws IOException {
    if (request.blockSizeBytes() < limits.minBlockSizeBytes()) {
      throw new IOException(
          "Specified block size %d of file %s is less than the configured minimum minBlockSize %d"
              .formatted(request.blockSizeBytes(), request.src(), limits.minBlockSizeBytes()));
    }
  }

  /** The erasure coding policy of the new file; empty if it is replicated. */
  private Optional<ErasureCodingPolicy> policy(
      Transaction transaction, ResolvedPath path, Request request) throws IOException {
    if (request.flags().contains(CreateFlag.SHOULD_REPLICATE)) {
      return Optional.empty();
    }
    if (request.namesPolicy()) {
      return Optional.of(EnabledPolicies.require(transaction, request.ecPolicyName()))
          .filter(policy -> !policy.isReplicationPolicy());
    }
    int above = Math.min(path.inodes().size(), path.path().depth());
    OptionalInt inherited = InodePolicies.inherited(path.inodes().subList(0, above));
    return inherited.isEmpty()
        ? Optional.empty()
        : Optional.ofNullable(BlockGroupLayout.shown(true, inherited.getAsInt()));
  }

  private void checkSizes(Request request, Optional<ErasureCodingPolicy> policy)
      throws IOException {
    if (policy.isEmpty()) {
      checkReplication(request.src(), request.replication(), limits);
    } else if (request.blockSizeBytes() < policy.get().getCellSize()) {
      throw new IOException(
          "Specified block size (%d) is less than the cell size (%d) of the erasure coding policy (%s)."
              .formatted(request.blockSizeBytes(), policy.get().getCellSize(), policy.get()));
    }
  }

  static void checkReplication(String src, int replication, NamespaceLimits limits)
      throws IOException {
    if (replication < 1 || replication > limits.maxReplication()) {
      throw new IOException(
          "Requested replication factor of %d is not within 1 and %d for %s"
              .formatted(replication, limits.maxReplication(), src));
    }
  }

  private ResolvedPath checked(Transaction transaction, Caller caller, FsPath path, Request request)
      throws IOException {
    ResolvedPath resolved = PathResolver.resolve(transaction, path);
    PermissionChecker.checkTraverseToCreate(caller, resolved);
    PermissionChecker.checkAncestorWrite(caller, resolved);
    if (resolved.exists() && resolved.lastFound().isDirectory()) {
      throw PathErrors.alreadyExists(path + " already exists as a directory");
    }
    if (resolved.exists() && request.overwrite()) {
      PermissionChecker.checkAccess(caller, resolved, FsAction.WRITE);
    }
    if (resolved.exists()) {
      return resolved;
    }
    if (!request.makeParents()) {
      resolved.checkParentExists();
    }
    if (!request.create()) {
      throw PathErrors.notFound("Can't overwrite non-existent " + path);
    }
    limits.checkNames(resolved);
    return resolved;
  }

  private Inode make(
      Transaction transaction,
      Caller caller,
      ResolvedPath resolved,
      Request request,
      Optional<ErasureCodingPolicy> policy,
      Iterator<Long> ids)
      throws IOException {
    FsPath path = resolved.path();
    Inode above = lock(transaction, resolved);
    DirectoryRows.Maker maker = new DirectoryRows.Maker(caller.user(), clock.millis());
    Inode parent =
        DirectoryRows.makeMissing(
            transaction,
            path,
            above,
            resolved.inodes().size(),
            path.depth() - 1,
            CreateModes.of(above.row().getPermission()),
            maker,
            ids);
    DirectoryRows.touch(transaction, above, maker.nowMillis());
    Key key = Tables.inode(parent.id(), path.nameBytes(path.depth()));
    InodeRow.Builder row = row(ids.next(), request, policy, maker, parent.row());
    ownPolicy(request, resolved.policyIdAbove()).ifPresent(row::setStoragePolicy);
    Inode file = DirectoryRows.put(transaction, key, row.build());
    LeaseRows.add(transaction, request.clientName(), file.id(), maker.nowMillis());
    ClientCall.takeEffect(transaction, file.id(), maker.nowMillis());
    return file;
  }

  /** Locks the inodes that change, and deletes a replaced file. Returns the deepest directory. */
  private static Inode lock(Transaction transaction, ResolvedPath resolved) throws IOException {
    if (!resolved.exists()) {
      return InodeLocks.lockEntries(
              transaction,
              List.of(resolved.lastFound()),
              List.of(),
              List.of(resolved.firstMissingKey()))
          .get(0);
    }
    List<Inode> locked =
        InodeLocks.lockEntries(
            transaction,
            List.of(resolved.parent().orElseThrow()),
            List.of(resolved.lastFound()),
            List.of());
    PendingDeletions.put(transaction, locked.get(1));
    return locked.get(0);
  }

  /** As in HDFS, a file keeps LAZY_PERSIST of its directory, whatever the directory gets later. */
  private static Optional<Integer> ownPolicy(Request request, int inherited) {
    if (!request.storagePolicy().isEmpty()) {
      return Optional.of((int) PolicyService.named(request.storagePolicy()).getId());
    }
    if (request.flags().contains(CreateFlag.LAZY_PERSIST)) {
      return Optional.of((int) HdfsConstants.StoragePolicy.LAZY_PERSIST.value());
    }
    return StoragePolicies.withId(inherited).isCopyOnCreateFile()
        ? Optional.of(inherited)
        : Optional.empty();
  }

  private static InodeRow.Builder row(
      long id,
      Request request,
      Optional<ErasureCodingPolicy> policy,
      DirectoryRows.Maker maker,
      InodeRow directory) {
    InodeRow.Builder row =
        InodeRow.newBuilder()
            .setId(id)
            .setKind(InodeKindProto.FILE)
            .setOwner(maker.user())
            .setGroup(directory.getGroup())
            .setModifiedMillis(maker.nowMillis())
            .setAccessedMillis(maker.nowMillis())
            .setBlockSizeBytes(request.blockSizeBytes())
            .setReplication(request.replication())
            .setLengthBytes(0)
            .setBlocks(0)
            .setUnderConstruction(
                UnderConstructionProto.newBuilder()
                    .setClientName(request.clientName())
                    .setClientMachine(request.clientMachine()));
    if (policy.isPresent()) {
      row.setEcPolicyId(policy.get().getId()).setReplication(1);
    }
    if (request.flags().contains(CreateFlag.SHOULD_REPLICATE)) {
      row.setPin(PinProto.REPLICAS);
    }
    AclRows.inherit(row, directory, request.modes());
    return QuotaMarks.entering(row, directory);
  }
}
