package io.ebbfs.raid.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.raid.FakeNamenode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.junit.jupiter.api.Test;

final class BatchSplitterTest {
  @Property(tries = 200)
  void nothingIsLostAndAStripeStaysInOneSplit(
      @ForAll @Size(min = 1, max = 100) List<@IntRange(min = 1, max = 20) Integer> stripes,
      @ForAll @IntRange(min = 1, max = 8) int maps) {
    List<ClaimedTransitionProto> batch = new ArrayList<>();
    for (int i = 0; i < stripes.size(); i++) {
      batch.add(
          FakeNamenode.transition(
              i, TransitionKindProto.UPCODE, stripes.get(i), 1000L * stripes.get(i)));
    }
    Set<Long> ids = new HashSet<>();
    Set<Long> seen = new HashSet<>();
    for (List<ClaimedTransitionProto> split : BatchSplitter.of(batch, maps)) {
      assertThat(split).isNotEmpty();
      Set<Long> here = new HashSet<>();
      for (ClaimedTransitionProto claimed : split) {
        assertThat(ids.add(claimed.getTransition().getId())).isTrue();
        here.add(claimed.getTransition().getStripes(0).getStripeId());
      }
      assertThat(seen).doesNotContainAnyElementsOf(here);
      seen.addAll(here);
    }
    assertThat(ids).hasSize(stripes.size());
  }

  @Test
  void aSplitIsReadAsItWasWritten() throws Exception {
    TransitionSplit split =
        new TransitionSplit(
            List.of(
                FakeNamenode.transition(1, TransitionKindProto.ENCODE, 1, 10),
                FakeNamenode.transition(2, TransitionKindProto.REPAIR, 2, 20)));
    DataOutputBuffer out = new DataOutputBuffer();
    split.write(out);
    DataInputBuffer in = new DataInputBuffer();
    in.reset(out.getData(), out.getLength());
    TransitionSplit read = new TransitionSplit();
    read.readFields(in);
    assertThat(read.transitions()).isEqualTo(split.transitions());
    assertThat(read.getLength()).isEqualTo(60);
  }
}
