package io.ebbfs.verify.day;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceFlowProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.verify.day.NecessaryBytes.LostReplica;
import java.io.IOException;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class NecessaryBytesTest {
  private static final long LENGTH = 1000;

  private final CodeRegistry codes = CodeRegistry.builtIn();
  // Members have the ids 100 to 108, those of the other stripe 200 to 202.
  private final StripeRow wide = stripe("RS(6,3)", 100, 9);
  private final StripeRow narrow = stripe("XOR(2,1)", 200, 3);

  private static StripeRow stripe(String code, long firstBlock, int members) {
    StripeRow.Builder stripe =
        StripeRow.newBuilder().setId(firstBlock).setCode(code).setPolicy("day").setGeneration(1);
    for (int position = 0; position < members; position++) {
      stripe.addMembers(
          StripeMemberProto.newBuilder()
              .setPosition(position)
              .setBlockId(firstBlock + position)
              .setOwnerId(1)
              .setOwnerIndex(position)
              .setGenerationStamp(1)
              .setLengthBytes(LENGTH));
    }
    return stripe.buildPartial();
  }

  private long ofLoss(long... blockIds) {
    return NecessaryBytes.ofLoss(
        codes,
        List.of(wide, narrow),
        LongStream.of(blockIds).mapToObj(id -> new LostReplica(id, LENGTH)).toList());
  }

  @Test
  void eachLostReplicaIsCopiedOnce() {
    assertThat(ofLoss()).isZero();
    assertThat(ofLoss(1, 2)).isEqualTo(2 * LENGTH);
    // Two of the three replicas of a block.
    assertThat(ofLoss(1, 1)).isEqualTo(2 * LENGTH);
  }

  @Test
  void aMemberCostsWhatThePlanOfItsCodeReadsAndWrites() {
    assertThat(ofLoss(100)).isEqualTo((6 + 1) * LENGTH);
    assertThat(ofLoss(200)).isEqualTo((2 + 1) * LENGTH);
  }

  @Test
  void membersOfOneStripeAreRebuiltTogether() {
    assertThat(ofLoss(100, 101, 108)).isEqualTo((6 + 3) * LENGTH);
    assertThat(ofLoss(100, 200, 1)).isEqualTo((7 + 3 + 1) * LENGTH);
  }

  @Test
  void disksAreLevelOnceTheyAreWithinTheThreshold() {
    assertThat(NecessaryBytes.ofLevelling(0.5, 0.1, List.of())).isZero();
    // Disks of 1,000 bytes: one is empty, two are full by nine tenths.
    RebalanceFlowProto empty = flow(0, 500);
    RebalanceFlowProto full = flow(0.9, -400);
    assertThat(NecessaryBytes.ofLevelling(0.5, 0.1, List.of(empty))).isEqualTo(400);
    assertThat(NecessaryBytes.ofLevelling(0.5, 0.1, List.of(empty, full, full))).isEqualTo(600);
  }

  private static RebalanceFlowProto flow(double usedShare, long bytes) {
    return RebalanceFlowProto.newBuilder().setUsedShare(usedShare).setBytes(bytes).buildPartial();
  }

  @Test
  void aCounterThatBeginsAgainLosesNothing() {
    CounterSum sum = new CounterSum();
    sum.take(1, 100);
    sum.take(2, 5);
    sum.take(1, 150);
    sum.take(1, 30);
    sum.take(1, 40);
    assertThat(sum.total()).isEqualTo(150 + 5 + 40);
  }

  @Test
  void conversionsAreCountedOnceAndAlsoWhenTheirRowsAreGone() {
    ConvertedBytes converted = new ConvertedBytes();
    TransitionRow encoding = row(1, TransitionKindProto.ENCODE, TransitionStateProto.DONE, 70);
    TransitionRow running = row(2, TransitionKindProto.ENCODE, TransitionStateProto.RUNNING, 9);
    TransitionRow repair = row(3, TransitionKindProto.REPAIR, TransitionStateProto.DONE, 8);
    TransitionRow move = row(4, TransitionKindProto.MOVE, TransitionStateProto.DONE, 7);
    assertThat(converted.now(List.of(encoding, running, repair, move))).isEqualTo(70);
    assertThat(converted.now(List.of(encoding, repair))).isEqualTo(70);
    TransitionRow release = row(5, TransitionKindProto.RELEASE, TransitionStateProto.DONE, 3);
    assertThat(converted.now(List.of(release))).isEqualTo(73);
  }

  private static TransitionRow row(
      long id, TransitionKindProto kind, TransitionStateProto state, long remoteBytes) {
    return TransitionRow.newBuilder()
        .setId(id)
        .setKind(kind)
        .setState(state)
        .setRemoteBytes(remoteBytes)
        .buildPartial();
  }

  @Test
  void aFullDiskIsTakenForNoErrorOnlyIfTheErrorSaysSo() {
    String namenode =
        "File /f could only be written to 0 of the 1 minReplication nodes. There are 3 datanode(s)"
            + " running and no node(s) are excluded in this operation. ";
    assertThat(
            DayCounts.saysNoSpace(
                new IOException(
                    namenode + "127.0.0.1:1: no disk with 1048576 bytes free, at most 0.")))
        .isTrue();
    assertThat(DayCounts.saysNoSpace(new IOException("x", new IOException("NO_SPACE: disk 1"))))
        .isTrue();
    assertThat(DayCounts.saysNoSpace(new IOException(namenode + "127.0.0.1:1: no disk in service")))
        .isFalse();
    assertThat(DayCounts.saysNoSpace(new IOException("Unable to create new block."))).isTrue();
    assertThat(DayCounts.saysNoSpace(new IOException())).isFalse();
  }
}
