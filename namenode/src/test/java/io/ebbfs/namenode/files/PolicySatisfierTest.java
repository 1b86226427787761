package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.files.policies.PolicySatisfier;
import io.ebbfs.namenode.replicas.TypeMover;
import io.ebbfs.namenode.replicas.TypeMoves.Ordered;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The walks over paths whose replicas are to move, with an answer of the test for each block. */
class PolicySatisfierTest {
  @FunctionalInterface
  private interface Answer {
    Ordered get() throws IOException;
  }

  /** Notes the blocks that it is asked for. */
  private static final class ToldMover implements TypeMover {
    private final List<Long> asked = new ArrayList<>();
    private final Map<Long, Answer> answers = new HashMap<>();
    private boolean replicates;

    @Override
    public Ordered satisfy(long blockId, BlockStoragePolicy policy) throws IOException {
      asked.add(blockId);
      Answer answer = answers.get(blockId);
      return answer == null ? Ordered.NOTHING : answer.get();
    }

    @Override
    public boolean isReplicating() {
      return replicates;
    }
  }

  private final ToldMover mover = new ToldMover();
  private NamespaceFixture real;
  private PolicySatisfier satisfier;

  @BeforeEach
  void start() throws IOException {
    real = new NamespaceFixture();
    satisfier = new PolicySatisfier(real.store, mover, real.clock);
  }

  private void order(String path) throws IOException {
    satisfier.order(real.root(), path);
  }

  private void file(String path, long firstBlock, int blocks) throws IOException {
    long id = real.touch(path).id();
    real.store.transact(
        id,
        t -> {
          for (int i = 0; i < blocks; i++) {
            t.put(
                Tables.BLOCK,
                Tables.block(id, i),
                BlockRow.newBuilder()
                    .setBlockId(firstBlock + i)
                    .setGenerationStamp(1)
                    .setLengthBytes(1)
                    .setReplication(1)
                    .setState(BlockStateProto.COMPLETE)
                    .build());
          }
          return null;
        });
  }

  private int paths() throws IOException {
    return real.rows(Tables.SATISFY);
  }

  @Test
  void anOrderThatComesDuringAWalkIsServedAfterIt() throws IOException {
    real.mkdirs("/d");
    file("/d/f", 1, 1);
    order("/d");
    mover.answers.put(
        1L,
        () -> {
          mover.answers.clear();
          order("/d");
          return Ordered.NOTHING;
        });
    satisfier.tick();
    assertThat(paths()).isEqualTo(1);
    satisfier.tick();
    assertThat(mover.asked).containsExactly(1L, 1L);
    assertThat(paths()).isZero();
  }

  @Test
  void aPathThatWaitsKeepsNoOtherWaiting() throws IOException {
    for (int i = 1; i <= 3; i++) {
      real.mkdirs("/" + i);
      file("/" + i + "/f", i, 1);
      order("/" + i);
    }
    mover.answers.put(1L, () -> Ordered.of(1));
    mover.answers.put(
        2L,
        () -> {
          throw new IOException("the test lets block 2 fail");
        });
    mover.replicates = true; // a drain, for days
    for (int i = 0; i < 5; i++) {
      satisfier.tick();
    }
    assertThat(mover.asked).contains(3L).containsOnlyOnce(1L);
    assertThat(paths()).isEqualTo(2);
    mover.answers.clear();
    real.clock.advance(31_000);
    for (int i = 0; i < 5; i++) {
      satisfier.tick();
    }
    assertThat(paths()).isZero();
  }

  @Test
  void blocksThatNeverComeToRestEndTheWork() throws IOException {
    file("/f", 1, 1);
    order("/f");
    mover.answers.put(1L, () -> Ordered.LATER);
    for (int i = 0; i < 60; i++) {
      real.clock.advance(31_000);
      satisfier.tick();
    }
    assertThat(paths()).isZero();
    assertThat(mover.asked).hasSize(10);
  }

  @Test
  void aTickIsBoundedAndTheNextOneGoesOnInTheFile() throws IOException {
    file("/f", 1, 1_200);
    order("/f");
    mover.answers.put(
        300L,
        () -> {
          mover.answers.clear();
          return Ordered.BUSY;
        });
    satisfier.tick();
    assertThat(mover.asked).hasSize(300);
    mover.asked.clear();
    for (int i = 0; i < 4; i++) {
      int before = mover.asked.size();
      satisfier.tick();
      assertThat(mover.asked.size() - before).isLessThanOrEqualTo(500);
    }
    assertThat(mover.asked)
        .containsExactlyElementsOf(LongStream.rangeClosed(300, 1_200).boxed().toList());
    assertThat(paths()).isZero();
  }

  @Test
  void directoriesWithoutAFileAreWalkedInParts() throws IOException {
    for (int i = 0; i < 150; i++) {
      real.mkdirs("/d/%03d/a".formatted(i));
    }
    real.mkdirs("/d/100/b/c");
    file("/d/100/b/f", 1, 1);
    file("/d/f", 2, 1);
    order("/d");
    satisfier.tick();
    assertThat(mover.asked).containsExactly(1L, 2L);
    assertThat(paths()).isZero();
  }
}
