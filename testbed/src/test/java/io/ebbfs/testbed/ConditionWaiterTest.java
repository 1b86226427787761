package io.ebbfs.testbed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class ConditionWaiterTest {
  @Test
  void endsWithTheFirstAnswerWithoutObjection() throws Exception {
    Iterator<String> answers = List.of("two left", "one left", "").iterator();
    List<String> told = new ArrayList<>();
    ConditionWaiter.within(60_000)
        .every(1)
        .reporting((elapsed, objection) -> told.add(objection))
        .until("the end", () -> emptyToNull(answers.next()));
    assertThat(told).containsExactly("two left", "one left");
  }

  @Test
  void theErrorTellsTheLastObjection() {
    assertThatThrownBy(() -> ConditionWaiter.within(0).until("rest", () -> "transition 7 runs"))
        .isInstanceOf(IOException.class)
        .hasMessage("rest did not come about within 0 s: transition 7 runs");
  }

  @Test
  void anObjectionBreaksTheQuiet() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    ConditionWaiter.within(60_000)
        .every(1)
        .quietFor(5)
        .until("quiet", () -> asked.incrementAndGet() == 2 ? "a noise" : null);
    assertThat(asked.get()).isGreaterThan(3);
    assertThat(ConditionWaiter.within(0).quietFor(1_000).objection(() -> null))
        .hasValueSatisfying(objection -> assertThat(objection).startsWith("quiet for 0 ms"));
  }

  private static String emptyToNull(String text) {
    return text.isEmpty() ? null : text;
  }
}
