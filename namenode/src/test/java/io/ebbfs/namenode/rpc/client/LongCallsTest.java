package io.ebbfs.namenode.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.ipc.RetriableException;
import org.junit.jupiter.api.Test;

class LongCallsTest {
  @Test
  void oneMoreCallIsToldToComeAgain() throws IOException {
    LongCalls calls = new LongCalls(2);
    String answer = calls.run("outer", () -> calls.run("inner", () -> refused(calls)));
    assertThat(answer).contains("third has to wait").contains("2 long calls");
    assertThat(calls.<Integer>run("later", () -> 1)).isEqualTo(1);
  }

  private static String refused(LongCalls calls) {
    try {
      return calls.run("third", () -> "it ran");
    } catch (RetriableException e) {
      return e.getMessage();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aCallThatFailsLeavesItsPlace() throws IOException {
    LongCalls calls = new LongCalls(1);
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(
              () ->
                  calls.run(
                      "fails",
                      () -> {
                        throw new FileNotFoundException("none");
                      }))
          .isInstanceOf(FileNotFoundException.class);
    }
    assertThat(calls.<Integer>run("later", () -> 1)).isEqualTo(1);
  }
}
