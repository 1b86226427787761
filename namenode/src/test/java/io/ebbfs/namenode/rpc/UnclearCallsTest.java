package io.ebbfs.namenode.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.rpc.server.LaterException;
import io.ebbfs.namenode.rpc.server.MethodHandler;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.OutcomeUnknownException;
import io.ebbfs.protocol.proto.StoreProtos.CallRow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Clock;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.ipc.RetriableException;
import org.apache.hadoop.ipc.StandbyException;
import org.junit.jupiter.api.Test;

/** With a real store and stock clients: UnclearCommitsTest. */
class UnclearCallsTest {
  private static final byte[] RESULT = {1};

  private int runs;

  private final InMemoryStore store = InMemoryStore.shared();

  /** The outcome of the first run is unknown. */
  private byte[] answer(byte[] frame, int offset, int length) throws IOException {
    if (runs++ == 0) {
      throw new OutcomeUnknownException("a node was lost", null);
    }
    return RESULT;
  }

  private UnclearCalls calls(UnclearCalls.Check check) {
    return new UnclearCalls(check, store, Clock.systemUTC());
  }

  private static byte[] call(MethodHandler handler) throws IOException {
    return handler.answer(new byte[0], 0, 0);
  }

  private static LaterException repetition(MethodHandler handler) throws Exception {
    try {
      call(handler);
    } catch (LaterException e) {
      e.event().toCompletableFuture().get(60, TimeUnit.SECONDS);
      return e;
    }
    throw new AssertionError("the call was not put off");
  }

  @Test
  void aCallRunsAgainAfterAPause() throws Exception {
    LaterException later = repetition(calls(() -> {}).around("setPermission", this::answer));
    assertThat(runs).isEqualTo(1);
    assertThat(later.rest().run()).isEqualTo(RESULT);
    assertThat(runs).isEqualTo(2);
  }

  @Test
  void aNamenodeThatMayNotRunTheCallAnyMoreDoesNotRunItAgain() throws Exception {
    UnclearCalls calls =
        calls(
            () -> {
              throw new StandbyException("another one leads");
            });
    LaterException later = repetition(calls.around("setPermission", this::answer));
    assertThatThrownBy(() -> later.rest().run()).isInstanceOf(StandbyException.class);
    assertThat(runs).isEqualTo(1);
  }

  @Test
  void aCallThatMustTakeEffectOnceRunsAgainOnlyIfItsRowTellsOfIt() throws Exception {
    MethodHandler handler = calls(() -> {}).around("delete", this::answer);
    assertThatThrownBy(() -> call(handler)).isInstanceOf(OutcomeUnknownException.class);
    runs = 0;
    ClientCall known = ClientCall.of(new byte[16], 1, "user", false).orElseThrow();
    LaterException later =
        ClientCall.run(
            known,
            () -> {
              try {
                return repetition(handler);
              } catch (IOException | RuntimeException e) {
                throw e;
              } catch (Exception e) {
                throw new IOException(e);
              }
            });
    assertThat(later.rest().run()).isEqualTo(RESULT);
  }

  /** Example: the outcome is unknown of the commit that draws ids for the call. */
  @Test
  void aRunThatTakesEffectAfterOneWithoutEffectSucceeds() throws Exception {
    MethodHandler handler =
        calls(() -> {})
            .around(
                "mkdirs",
                (frame, offset, length) -> {
                  assertThat(ClientCall.mayHaveRun()).isEqualTo(runs > 0);
                  byte[] result = answer(frame, offset, length);
                  return store.transact(
                      0,
                      transaction -> {
                        assertThat(ClientCall.earlierRun(transaction)).isEmpty();
                        ClientCall.takeEffect(transaction, 7, 0);
                        return result;
                      });
                });
    LaterException later =
        ClientCall.run(
            sent(1),
            () -> {
              try {
                return repetition(handler);
              } catch (Exception e) {
                throw new IOException(e);
              }
            });
    assertThat(ClientCall.run(sent(1), () -> later.rest().run())).isEqualTo(RESULT);
  }

  private static ClientCall sent(int times) {
    return ClientCall.of(new byte[16], 1, "user", times - 1).orElseThrow();
  }

  /** What a run would find. */
  private boolean hasEnded(ClientCall run) throws IOException {
    return ClientCall.run(
        run,
        () -> {
          try {
            store.transact(0, ClientCall::earlierRun);
            return false;
          } catch (RetriableException e) {
            return true;
          }
        });
  }

  @Test
  void afterARepetitionThatIsRefusedNoEarlierRunTakesEffect() throws Exception {
    MethodHandler refused =
        calls(() -> {})
            .around(
                "create",
                (frame, offset, length) -> {
                  throw new FileNotFoundException("no");
                });
    assertThatThrownBy(() -> ClientCall.run(sent(1), () -> call(refused)))
        .isInstanceOf(FileNotFoundException.class);
    assertThat(hasEnded(sent(1))).as("nothing came before the first run").isFalse();
    assertThatThrownBy(() -> ClientCall.run(sent(3), () -> call(refused)))
        .isInstanceOf(FileNotFoundException.class);
    assertThat(hasEnded(sent(1))).isTrue();
    assertThat(hasEnded(sent(2))).isTrue();
    assertThat(hasEnded(sent(3))).isFalse();
    assertThat(hasEnded(sent(4))).as("the client may ask again").isFalse();
  }

  @Test
  void afterARepetitionWithoutEffectNoEarlierRunTakesEffect() throws Exception {
    MethodHandler none = calls(() -> {}).around("rename", (frame, offset, length) -> RESULT);
    assertThat(ClientCall.run(sent(2), () -> call(none))).isEqualTo(RESULT);
    assertThat(hasEnded(sent(1))).isTrue();
  }

  @Test
  void aRepetitionThatTakesEffectIsFoundByOtherRuns() throws Exception {
    MethodHandler made =
        calls(() -> {})
            .around(
                "create",
                (frame, offset, length) ->
                    store.transact(
                        0,
                        transaction -> {
                          if (ClientCall.earlierRun(transaction).isEmpty()) {
                            ClientCall.takeEffect(transaction, 7, 0);
                          }
                          return RESULT;
                        }));
    assertThat(ClientCall.run(sent(2), () -> call(made))).isEqualTo(RESULT);
    assertThat(ClientCall.run(sent(3), () -> call(made))).isEqualTo(RESULT);
    Optional<CallRow> row =
        ClientCall.run(sent(1), () -> store.transact(0, ClientCall::earlierRun));
    assertThat(row.orElseThrow().getInodeId()).isEqualTo(7);
  }
}
