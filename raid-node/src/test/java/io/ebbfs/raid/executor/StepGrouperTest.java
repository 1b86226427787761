package io.ebbfs.raid.executor;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import io.ebbfs.protocol.proto.CodingProtos.StepProto;
import io.ebbfs.raid.FakeNamenode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.junit.jupiter.api.Test;

final class StepGrouperTest {
  private static StepProto step(long[] reads, long... writes) {
    CombineRequestProto.Builder combine = CombineRequestProto.newBuilder().setId("c");
    for (long block : reads) {
      combine.addSources(SourceProto.newBuilder().setBlock(FakeNamenode.block(block, 1)));
    }
    for (long block : writes) {
      combine.addTargets(
          TargetProto.newBuilder()
              .setBlock(FakeNamenode.block(block, 1))
              .setLocation(FakeNamenode.location(1)));
    }
    combine.setCoefficients(ByteString.copyFrom(new byte[reads.length * writes.length]));
    return StepProto.newBuilder().setExecutor(FakeNamenode.server(1)).setCombine(combine).build();
  }

  private static long[] reads(long... blocks) {
    return blocks;
  }

  @Test
  void aStepThatReadsWhatAnotherWritesComesAfterItsGroup() {
    StepProto a = step(reads(1, 2), 10);
    StepProto b = step(reads(1, 3), 11, 12);
    StepProto c = step(reads(4, 12), 13);
    StepProto d = step(reads(4, 10), 14);
    assertThat(StepGrouper.of(List.of(a, b, c, d), 8))
        .containsExactly(List.of(a, b), List.of(c, d));
    assertThat(StepGrouper.of(List.of(a, b, c, d), 1))
        .containsExactly(List.of(a), List.of(b), List.of(c), List.of(d));
    assertThat(StepGrouper.of(List.of(), 8)).isEmpty();
  }

  @Test
  void anySequenceKeepsItsOrderAndItsNeeds() {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    for (int run = 0; run < 2000; run++) {
      List<StepProto> steps = new ArrayList<>();
      int count = random.nextInt(20);
      for (long id = 0; id < count; id++) {
        steps.add(step(random.longs(3, -10, id).toArray(), id));
      }
      int most = 1 + random.nextInt(5);
      List<List<StepProto>> groups = StepGrouper.of(steps, most);
      assertThat(groups.stream().flatMap(List::stream)).as("seed %d", seed).isEqualTo(steps);
      for (List<StepProto> group : groups) {
        assertThat(group).as("seed %d", seed).hasSizeBetween(1, most);
        Set<Long> written = new HashSet<>();
        group.forEach(s -> written.add(s.getCombine().getTargets(0).getBlock().getBlockId()));
        for (StepProto s : group) {
          assertThat(s.getCombine().getSourcesList())
              .as("seed %d, %s", seed, written)
              .noneMatch(source -> written.contains(source.getBlock().getBlockId()));
        }
      }
    }
  }
}
