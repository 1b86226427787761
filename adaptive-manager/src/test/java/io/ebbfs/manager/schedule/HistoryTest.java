package io.ebbfs.manager.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.manager.heat.ManagerStore;
import io.ebbfs.manager.policy.Decision;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HistoryTest {
  @TempDir Path directory;

  private static DecisionProposer.Outcome outcome(
      TransitionKindProto kind, String policy, String refusal, Long... transitionIds) {
    Decision decision =
        new Decision(
            kind, List.of(1L), List.of(), "RS(6,3)", policy, "cold", 1, 0, 0, false, false);
    return new DecisionProposer.Outcome(1, decision, List.of(transitionIds), refusal);
  }

  @Test
  void refusalsThatTakeTurnsAreNotedOnceEach() throws Exception {
    try (ManagerStore store = ManagerStore.open(directory)) {
      History history = new History(store);
      history.noteAction(1, "pause", "paused");
      for (int run = 0; run < 3; run++) {
        history.note(outcome(TransitionKindProto.ENCODE, "a", "no room"), "policy");
        history.note(outcome(TransitionKindProto.ENCODE, "a", "safe mode"), "policy");
        history.note(outcome(TransitionKindProto.ENCODE, "b", "no room"), "policy");
        history.note(outcome(TransitionKindProto.UPCODE, "a", "no room"), "policy");
      }
      assertThat(history.page(null, 100).entries())
          .extracting(History.Entry::what)
          .containsExactly("UPCODE", "ENCODE", "ENCODE", "ENCODE", "pause");
    }
  }

  @Test
  void aDecisionThatWasTakenInPartIsNotedEachTime() throws Exception {
    try (ManagerStore store = ManagerStore.open(directory)) {
      History history = new History(store);
      history.note(outcome(TransitionKindProto.ENCODE, "a", "one file is gone", 1L), "policy");
      history.note(outcome(TransitionKindProto.ENCODE, "a", "one file is gone", 2L), "policy");
      history.note(outcome(TransitionKindProto.ENCODE, "a", "one file is gone"), "policy");
      assertThat(history.page(null, 100).entries())
          .extracting(History.Entry::transitionIds)
          .containsExactly(List.of(2L), List.of(1L));
    }
  }
}
