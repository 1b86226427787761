package io.ebbfs.raid.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.raid.FakeNamenode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class ClaimedBatchTest {
  private static List<ClaimedTransitionProto> repairs(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> FakeNamenode.transition(i, TransitionKindProto.REPAIR, i, 10))
        .toList();
  }

  @Test
  void claimsNoMoreThanItsLimitAndCountsOnlyWhatItGot() throws IOException {
    List<Integer> asked = new ArrayList<>();
    List<ClaimedTransitionProto> held = new ArrayList<>();
    ClaimedBatch batch =
        new ClaimedBatch(
            5,
            limit -> {
              asked.add(limit);
              return repairs(Math.min(limit, 2));
            },
            held::add);
    assertThat(batch.claim(4)).hasSize(2);
    assertThat(batch.claim(4)).hasSize(2);
    assertThat(batch.claimOne()).isPresent();
    assertThat(batch.claimOne()).isEmpty();
    assertThat(batch.claim(4)).isEmpty();
    assertThat(asked).containsExactly(4, 3, 1);
    assertThat(held).isEqualTo(batch.claimed()).hasSize(5);
    assertThat(batch.kinds()).isEqualTo(Map.of("REPAIR", 5L));
  }

  @Test
  void aNamenodeThatIsAwayEndsTheJobWithWhatItHasAndCostsNoRoom() throws IOException {
    boolean[] away = {true};
    ClaimedBatch batch =
        new ClaimedBatch(
            1,
            limit -> {
              if (away[0]) {
                throw new IOException("namenode is away");
              }
              return repairs(limit);
            },
            claimed -> {});
    assertThat(batch.claimOne()).isEmpty();
    assertThatThrownBy(() -> batch.claim(1)).hasMessage("namenode is away");
    away[0] = false;
    assertThat(batch.claimOne()).isPresent();
  }

  @Test
  void aMapClaimsMoreOnlyWhenAllSplitsHaveBegun() throws IOException {
    ClaimedBatch batch = new ClaimedBatch(10, limit -> repairs(Math.min(limit, 3)), claimed -> {});
    batch.claim(3);
    try (RunningJob job = new RunningJob(batch, null, id -> false)) {
      assertThat(job.split(1)).hasSize(3);
      job.begun();
      job.begun();
      assertThat(job.more()).isEmpty();
      job.begun();
      assertThat(job.more()).isPresent();
    }
  }
}
