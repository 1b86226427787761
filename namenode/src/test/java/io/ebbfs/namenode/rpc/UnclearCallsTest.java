package io.ebbfs.namenode.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.rpc.server.LaterException;
import io.ebbfs.namenode.rpc.server.MethodHandler;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.OutcomeUnknownException;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.ipc.StandbyException;
import org.junit.jupiter.api.Test;

/** With a real store and stock clients: UnclearCommitsTest. */
class UnclearCallsTest {
  private static final byte[] RESULT = {1};

  private int runs;

  /** The outcome of the first run is unknown. */
  private byte[] answer(byte[] frame, int offset, int length) throws IOException {
    if (runs++ == 0) {
      throw new OutcomeUnknownException("a node was lost", null);
    }
    return RESULT;
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
    LaterException later =
        repetition(new UnclearCalls(() -> {}).around("setPermission", this::answer));
    assertThat(runs).isEqualTo(1);
    assertThat(later.rest().run()).isEqualTo(RESULT);
    assertThat(runs).isEqualTo(2);
  }

  @Test
  void aNamenodeThatMayNotRunTheCallAnyMoreDoesNotRunItAgain() throws Exception {
    UnclearCalls calls =
        new UnclearCalls(
            () -> {
              throw new StandbyException("another one leads");
            });
    LaterException later = repetition(calls.around("setPermission", this::answer));
    assertThatThrownBy(() -> later.rest().run()).isInstanceOf(StandbyException.class);
    assertThat(runs).isEqualTo(1);
  }

  @Test
  void aCallThatMustTakeEffectOnceRunsAgainOnlyIfItsRowTellsOfIt() throws Exception {
    MethodHandler handler = new UnclearCalls(() -> {}).around("delete", this::answer);
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
}
