package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.files.leases.LeaseRows;
import io.ebbfs.namenode.files.snapshots.SnapshotGuard;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.NonBlocking;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.PendingSync;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.CallRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.UnderConstructionProto;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException;
import org.apache.hadoop.hdfs.protocol.SnapshotException;

/**
 * Truncates files. A transaction notes in the row of the file which length it gets, and {@link
 * LeaseRecovery} cuts the file: at once, or step by step while the file stays open. Thread-safe.
 */
public final class TruncateService {
  /** The lease of a file that is cut has no age: {@link LeaseMonitor} goes on with it soon. */
  private static final long NO_TIME = 0;

  /** The request of a client. */
  public record Request(String src, long newLengthBytes, String clientName, String clientMachine) {}

  private final MetadataStore store;
  private final Clock clock;
  private final LeaseRecovery recovery;

  public TruncateService(MetadataStore store, Clock clock, LeaseRecovery recovery) {
    this.store = store;
    this.clock = clock;
    this.recovery = recovery;
  }

  /**
   * Truncates a file.
   *
   * @return whether the file has its new length; else it gets it once its last block is cut, and is
   *     open until then
   */
  public boolean truncate(Caller caller, Request request) throws IOException {
    if (request.newLengthBytes() < 0) {
      throw new HadoopIllegalArgumentException(
          "Cannot truncate to a negative file size: %d.".formatted(request.newLengthBytes()));
    }
    OpenFileLookup.refuseRecoveryHolder(request.src(), request.clientName());
    NonBlocking.beforeWait(); // the file may have many blocks
    long stamp = recovery.nextStamp();
    // Chunk servers cut their replicas, so the disk has the decision before they hear of it.
    Begun begun =
        PendingSync.outside(
            () -> OptimisticTransactions.repeat(() -> lookAndBegin(caller, request, stamp)));
    return begun.decision() == null
        ? begun.done()
        : recovery.follow(begun.file().id(), LeaseManager.RECOVERY_HOLDER, begun.decision(), stamp);
  }

  /**
   * How far the call is.
   *
   * @param answered whether nothing is to be begun
   * @param done the answer, if nothing was begun
   * @param decision the next step of a truncation that has begun; null if none has begun
   */
  private record Begun(
      Inode file, boolean answered, boolean done, LeaseRecovery.Decision decision) {
    static Begun answer(boolean done) {
      return new Begun(null, true, done, null);
    }
  }

  private Begun lookAndBegin(Caller caller, Request request, long stamp) throws IOException {
    Begun seen =
        store.transact(
            Inode.ROOT_ID, Durability.RELAXED, transaction -> look(transaction, caller, request));
    if (seen.answered()) {
      return seen;
    }
    recovery.takeOver(seen.file(), request.src(), request.clientName(), "truncate");
    recovery.requireNoLastingObstacle(seen.file(), request.src(), request.newLengthBytes());
    return store.transact(
        seen.file().id(), transaction -> begin(transaction, caller, request, stamp));
  }

  private static Begun look(Transaction transaction, Caller caller, Request request)
      throws IOException {
    Optional<CallRow> earlier = ClientCall.earlierRun(transaction);
    if (earlier.isPresent()) {
      Optional<Inode> file = OpenFileLookup.ofEarlierRun(transaction, earlier.get().getInodeId());
      return Begun.answer(!file.map(TruncateService::isBeingTruncated).orElse(false));
    }
    Inode file = checked(transaction, caller, request).lastFound();
    if (isBeingTruncated(file)) {
      refuseOtherLength(file, request);
      return Begun.answer(false);
    }
    return new Begun(file, false, false, null);
  }

  private static ResolvedPath checked(Transaction transaction, Caller caller, Request request)
      throws IOException {
    ResolvedPath path = PathResolver.resolve(transaction, request.src());
    PermissionChecker.checkTraverse(caller, path);
    PermissionChecker.checkAccess(caller, path, FsAction.WRITE);
    if (path.requireFile().row().hasEcPolicyId()) {
      throw new UnsupportedOperationException(
          "Cannot truncate file with striped block " + request.src());
    }
    return path;
  }

  private static boolean isBeingTruncated(Inode file) {
    return file.row().getUnderConstruction().hasTruncatedLengthBytes();
  }

  private static void refuseOtherLength(Inode file, Request request)
      throws AlreadyBeingCreatedException {
    if (file.row().getUnderConstruction().getTruncatedLengthBytes() != request.newLengthBytes()) {
      throw new AlreadyBeingCreatedException(
          "Failed to TRUNCATE_FILE %s for %s on %s because %s is being truncated."
              .formatted(
                  request.src(), request.clientName(), request.clientMachine(), request.src()));
    }
  }

  private Begun begin(Transaction transaction, Caller caller, Request request, long stamp)
      throws IOException {
    if (ClientCall.earlierRun(transaction).isPresent()) {
      return look(transaction, caller, request);
    }
    ResolvedPath path = checked(transaction, caller, request);
    Inode file = InodeLocks.lock(transaction, List.of(path.lastFound())).get(0);
    if (file.isUnderConstruction()) {
      throw new StaleReadException(path.path() + " was opened by another client");
    }
    long length = file.row().getLengthBytes();
    if (length == request.newLengthBytes()) {
      return Begun.answer(true);
    }
    if (length < request.newLengthBytes()) {
      throw new HadoopIllegalArgumentException(
          "Cannot truncate to a larger file size. Current size: %d, truncate size: %d."
              .formatted(length, request.newLengthBytes()));
    }
    if (SnapshotGuard.isShown(transaction, file)) {
      throw new SnapshotException(
          "Failed to truncate %s: a snapshot shows the file, and EbbFS does not shorten it then. Copy the part that is wanted to a new file, or delete the snapshots"
              .formatted(path.path()));
    }
    long now = clock.millis();
    InodeRow marked =
        file.row().toBuilder()
            .setModifiedMillis(now)
            .setUnderConstruction(
                UnderConstructionProto.newBuilder()
                    .setClientName(LeaseManager.RECOVERY_HOLDER)
                    .setClientMachine(request.clientMachine())
                    .setTruncatedLengthBytes(request.newLengthBytes())
                    .setTruncatedBy(request.clientName()))
            .build();
    transaction.put(Tables.INODE, file.key(), marked);
    LeaseRows.add(transaction, LeaseManager.RECOVERY_HOLDER, file.id(), NO_TIME);
    LeaseRecovery.Decision decision = recovery.cut(transaction, file.with(marked), stamp);
    ClientCall.takeEffect(transaction, file.id(), now);
    return new Begun(file, true, false, decision);
  }
}
