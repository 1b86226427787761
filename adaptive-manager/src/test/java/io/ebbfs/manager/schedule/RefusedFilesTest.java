package io.ebbfs.manager.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.manager.policy.Decision;
import io.ebbfs.manager.view.TransitionView;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.List;
import org.junit.jupiter.api.Test;

class RefusedFilesTest {
  private final RefusedFiles refused = new RefusedFiles();

  private void note(long file, List<Long> stripes, String refusal, Long... transitions) {
    Decision decision =
        new Decision(
            TransitionKindProto.RELEASE,
            List.of(file),
            stripes,
            "RS(6,3)",
            "p",
            "cold",
            1,
            0,
            0,
            false,
            false);
    refused.note(new DecisionProposer.Outcome(100, decision, List.of(transitions), refusal));
  }

  @Test
  void aFileThatWasRefusedWaitsLikeOneThatHasFailed() {
    note(1, List.of(), "more than the 1000 of one transition");
    note(2, List.of(), null, 7L);
    note(3, List.of(9L), "the release of a part of a stripe");
    assertThat(refused.beside(List.of(), 100))
        .singleElement()
        .matches(view -> view.groupFileId() == 1 && !view.active() && view.policy().equals("p"))
        .extracting(TransitionView::updatedMillis)
        .isEqualTo(100L);
    assertThat(refused.beside(List.of(), 101)).isEmpty();
  }
}
