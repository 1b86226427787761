package io.ebbfs.manager.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.manager.model.ModelNamenode;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Decisions go to the namenode in calls of 50; the namenode may go away between two calls. */
class ProposeInPartsTest {
  private static final DecisionProto DECISION =
      DecisionProto.newBuilder()
          .setKind(TransitionKindProto.UPCODE)
          .setPolicy("p")
          .setToCode("PC(6x5)")
          .setReason("for a test")
          .addStripeIds(404)
          .build();

  private final ModelNamenode namenode = new ModelNamenode();
  private final AtomicInteger calls = new AtomicInteger();

  private NamenodeGateway answering(int most) {
    return new NamenodeGateway(() -> next(most), 7);
  }

  private CodingProtocol next(int most) {
    if (calls.incrementAndGet() > most) {
      throw new IllegalStateException("it went away");
    }
    return namenode;
  }

  @Test
  void theAnswersBeforeACallThatFailsAreKept() {
    List<ProposedProto> answers = answering(1).propose(Collections.nCopies(120, DECISION));
    assertThat(answers).hasSize(120);
    assertThat(answers.subList(0, 50))
        .allMatch(answer -> answer.getRefusal().equals("stripe 404 is not free"));
    assertThat(answers.subList(50, 120))
        .allMatch(answer -> answer.getRefusal().contains("it went away"))
        .allMatch(answer -> answer.getTransitionIdsCount() == 0);
    assertThat(calls).as("the third call is not made").hasValue(2);
  }

  @Test
  void withoutAnyAnswerTheCallFails() {
    assertThatThrownBy(() -> answering(0).propose(List.of(DECISION)))
        .isInstanceOf(NamenodeException.class)
        .hasMessageContaining("it went away");
  }
}
