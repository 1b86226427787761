package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.CallRow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.ipc.RetriableException;

/**
 * The call of a client that a thread works on. A call that must take effect once writes a row with
 * its id in the same transaction as its change. A client that lost the answer sends the call again,
 * perhaps to another namenode or after a restart: then the row tells that the change is there.
 *
 * <p>The row is kept until the client has made 4096 more such calls or some minutes have passed.
 * Used by one thread at a time.
 */
public final class ClientCall {
  private static final int CLIENT_ID_BYTES = 16;
  private static final int SLOTS = 4096;
  private static final ThreadLocal<ClientCall> CURRENT = new ThreadLocal<>();

  private final byte[] clientId;
  private final Key key;
  private final int callId;
  private final String user;
  private final int repetition;
  // Whether the row of the call tells of its effect, if the last transaction was committed.
  private boolean effective;
  private boolean mayHaveRun;

  private ClientCall(byte[] clientId, Key key, int callId, String user, int repetition) {
    this.clientId = clientId;
    this.key = key;
    this.callId = callId;
    this.user = user;
    this.repetition = repetition;
  }

  /**
   * A call.
   *
   * @param clientId of 16 bytes; a call of a client without such an id is never recognised again
   * @param repeated whether the client has sent the call before
   */
  public static Optional<ClientCall> of(
      byte[] clientId, int callId, String user, boolean repeated) {
    return of(clientId, callId, user, repeated ? 1 : 0);
  }

  /**
   * A call.
   *
   * @param clientId as above
   * @param repetition how often the client has sent the call before
   */
  public static Optional<ClientCall> of(byte[] clientId, int callId, String user, int repetition) {
    if (clientId.length != CLIENT_ID_BYTES) {
      return Optional.empty();
    }
    ByteBuffer id = ByteBuffer.wrap(clientId);
    byte[] rest =
        ByteBuffer.allocate(CLIENT_ID_BYTES + Short.BYTES)
            .put(clientId)
            .putShort((short) Math.floorMod(callId, SLOTS))
            .array();
    Key key = Key.of(id.getLong() ^ id.getLong(), rest);
    return Optional.of(new ClientCall(clientId.clone(), key, callId, user, repetition));
  }

  /** The call that this thread works on; null if it works on none. */
  public static ClientCall current() {
    return CURRENT.get();
  }

  public byte[] clientId() {
    return clientId.clone();
  }

  public int callId() {
    return callId;
  }

  /** Whether the call may have been run before. */
  public boolean isRepeated() {
    return repetition > 0;
  }

  /** Notes that this namenode has run the call before, and does not know with which outcome. */
  public void expectEarlierRun() {
    mayHaveRun = true;
  }

  /** Whether the call that this thread works on may have run before, here or elsewhere. */
  public static boolean mayHaveRun() {
    ClientCall call = CURRENT.get();
    return call != null && (call.mayHaveRun || call.isRepeated());
  }

  /** What a call does. */
  @FunctionalInterface
  public interface Work<R> {
    R run() throws IOException;
  }

  /**
   * Runs the work of a call; null runs work that belongs to no call. Afterwards the thread works on
   * the call that it worked on before.
   */
  public static <R> R run(ClientCall call, Work<R> work) throws IOException {
    ClientCall outer = CURRENT.get();
    if (call == outer) {
      return work.run();
    }
    become(call);
    try {
      return work.run();
    } finally {
      become(outer);
    }
  }

  private static void become(ClientCall call) {
    if (call == null) {
      CURRENT.remove();
    } else {
      CURRENT.set(call);
    }
  }

  /**
   * The row of the current call, if the call has taken effect. To be called before anything else is
   * read, so that an error that stems from the first run is not taken for the answer. Example: a
   * rename finds no source any more.
   *
   * <p>Whether a call that its client sends for the first time has run already is asked in a shared
   * store only: another namenode may have run its repetition, while this one was frozen. Within a
   * process, a repetition waits for the first run.
   */
  public static Optional<CallRow> earlierRun(Transaction transaction) throws IOException {
    ClientCall call = CURRENT.get();
    if (call == null || !call.isRepeated() && !transaction.isShared()) {
      return Optional.empty();
    }
    Optional<CallRow> row = call.row(transaction);
    call.effective = row.isPresent() && !row.get().hasEndedBy();
    if (row.isPresent() && row.get().hasEndedBy() && call.repetition < row.get().getEndedBy()) {
      throw new RetriableException(
          "the client has repeated the call meanwhile, and was told that the call has no effect");
    }
    return row.filter(found -> !found.hasEndedBy());
  }

  /**
   * The lock that {@link #earlierRun} takes, in a store that several processes share. Who takes it
   * together with other locks, and asks for an earlier run afterwards, saves a round trip. That is
   * right for a call that its client sends for the first time: a repetition may have run elsewhere,
   * but then the answer of the first run is nobody's.
   */
  public static List<RowLock> locks(Transaction transaction) {
    ClientCall call = CURRENT.get();
    return call != null && transaction.isShared()
        ? List.of(RowLock.exclusive(Tables.CALL, call.key))
        : List.of();
  }

  private Optional<CallRow> row(Transaction transaction) throws IOException {
    transaction.lock(List.of(RowLock.exclusive(Tables.CALL, key)));
    return transaction.get(Tables.CALL, key).filter(this::isOurs);
  }

  /**
   * Whether the last transaction of the call has found that the call took effect, or made it so.
   */
  public boolean isEffective() {
    return effective;
  }

  /**
   * Sees to it that no earlier run of the call takes effect any more, before the client is told
   * that the call has had none. Such a run may be in a namenode that is frozen, or in a commit
   * whose outcome nobody knows: its commit is refused, since it has read another row of the call.
   * Example: a create is refused by its repetition, because the name exists. The name is deleted.
   * Without this row, the first run could then make the file.
   *
   * <p>Does nothing in a store of one process, where a repetition waits for the first run.
   *
   * @throws IOException if an earlier run took effect meanwhile: then the call has to run again
   */
  public void end(MetadataStore store, long nowMillis) throws IOException {
    store.transact(
        key.partition(),
        transaction -> {
          if (transaction.isShared()) {
            end(transaction, nowMillis);
          }
          return null;
        });
  }

  private void end(Transaction transaction, long nowMillis) throws IOException {
    Optional<CallRow> row = row(transaction);
    if (row.isPresent() && !row.get().hasEndedBy()) {
      throw new RetriableException("an earlier run of the call has just taken effect; repeat it");
    }
    if (row.isEmpty() || row.get().getEndedBy() < repetition) {
      transaction.put(
          Tables.CALL,
          key,
          CallRow.newBuilder()
              .setCallId(callId)
              .setUser(user)
              .setMillis(nowMillis)
              .setEndedBy(repetition)
              .build());
    }
  }

  private boolean isOurs(CallRow row) {
    return row.getCallId() == callId && row.getUser().equals(user);
  }

  /**
   * Lets the current call take effect with this transaction, which has asked for {@link
   * #earlierRun}.
   *
   * @param inodeId the inode that the call made; 0 for none
   */
  public static void takeEffect(Transaction transaction, long inodeId, long nowMillis) {
    ClientCall call = CURRENT.get();
    if (call == null) {
      return;
    }
    CallRow.Builder row =
        CallRow.newBuilder().setCallId(call.callId).setUser(call.user).setMillis(nowMillis);
    if (inodeId != 0) {
      row.setInodeId(inodeId);
    }
    transaction.put(Tables.CALL, call.key, row.build());
    call.effective = true;
  }
}
