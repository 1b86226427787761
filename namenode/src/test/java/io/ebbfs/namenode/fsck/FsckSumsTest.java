package io.ebbfs.namenode.fsck;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.replicas.BlockHealth;
import io.ebbfs.namenode.replicas.BlockHealth.Found;
import io.ebbfs.namenode.replicas.BlockHealth.State;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.io.StringWriter;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.hadoop.hdfs.protocol.SystemErasureCodingPolicies;
import org.junit.jupiter.api.Test;

class FsckSumsTest {
  private static final Server SERVER =
      new Server("s", "h", "127.0.0.1", 1, 2, 3, "/rack", true, 0, 0, List.of());

  private static BlockHealth block(boolean encoded, boolean decodes, State... states) {
    BlockRow.Builder row =
        BlockRow.newBuilder()
            .setBlockId(7)
            .setGenerationStamp(1)
            .setLengthBytes(10)
            .setState(BlockStateProto.COMPLETE)
            .setReplication(2);
    if (encoded) {
      row.setStripeId(5);
    }
    List<Found> found = Stream.of(states).map(state -> new Found(SERVER, "d", state, 7)).toList();
    return new BlockHealth(row.build(), found, decodes);
  }

  private static String print(FsckSums sums) throws Exception {
    ClusterView cluster =
        new ClusterView() {
          @Override
          public List<Server> liveServers() {
            return List.of(SERVER);
          }

          @Override
          public Optional<Server> server(String uuid) {
            return Optional.empty();
          }

          @Override
          public Optional<Disk> disk(String uuid) {
            return Optional.empty();
          }

          @Override
          public boolean inSafeMode() {
            return false;
          }
        };
    StringWriter out = new StringWriter();
    sums.print(cluster, out);
    return out.toString();
  }

  @Test
  void aBlockThatItsStripeDecodesIsNotLost() throws Exception {
    FsckSums sums = new FsckSums(3);
    sums.addFile(20);
    sums.add(block(true, false, State.LIVE));
    sums.add(block(true, true));
    assertThat(sums.healthy()).isTrue();
    assertThat(print(sums))
        .contains("\nStatus: HEALTHY\n")
        .contains(" Minimally replicated blocks:\t2 (100.0 %)")
        .contains(" Under-replicated blocks:\t1 (50.0 %)")
        .contains(" Missing blocks:\t\t0")
        .contains(" Blocks without a replica that decode:\t1");
  }

  @Test
  void lostAndCorruptBlocksAreNamedAsOnHdfs() throws Exception {
    FsckSums sums = new FsckSums(3);
    sums.addFile(30);
    sums.addDamagedFile();
    sums.add(block(true, false));
    sums.add(block(false, false, State.CORRUPT));
    sums.add(block(false, false, State.LIVE, State.LIVE, State.LIVE, State.EXCESS));
    assertThat(sums.healthy()).isFalse();
    assertThat(print(sums))
        .contains("\nStatus: CORRUPT\n")
        .contains("  CORRUPT FILES:\t1\n")
        .contains("  MISSING BLOCKS:\t2\n")
        .contains("  MISSING SIZE:\t\t20 B\n")
        .contains("  CORRUPT BLOCKS: \t1\n")
        .contains(" Minimally replicated blocks:\t1 (33.333332 %)")
        .contains(" Over-replicated blocks:\t1 (33.333332 %)")
        .contains(" Corrupt blocks:\t\t1\n");
  }

  private static BlockHealth group(State... states) {
    BlockRow row =
        BlockRow.newBuilder()
            .setBlockId(16)
            .setGenerationStamp(1)
            .setLengthBytes(3 << 20)
            .setState(BlockStateProto.COMPLETE)
            .setReplication(1)
            .setEcPolicyId(SystemErasureCodingPolicies.RS_3_2_POLICY_ID)
            .setInternalOwnerId(5)
            .build();
    List<Found> found = Stream.of(states).map(state -> new Found(SERVER, "d", state, 17)).toList();
    return new BlockHealth(row, found, false);
  }

  @Test
  void aGroupIsWholeAsLongAsItsDataCanBeRead() throws Exception {
    FsckSums sums = new FsckSums(3);
    sums.groups().addFile(6 << 20);
    sums.add(group(State.LIVE, State.LIVE, State.LIVE, State.LIVE, State.LIVE, State.EXCESS));
    sums.add(group(State.LIVE, State.LIVE, State.LIVE, State.CORRUPT));
    assertThat(sums.healthy()).isTrue();
    assertThat(print(sums))
        .contains(" Total blocks (validated):\t0")
        .contains(" Total block groups (validated):\t2 (avg. block group size 3145728 B)")
        .contains(" Minimally erasure-coded block groups:\t2 (100.0 %)")
        .contains(" Over-erasure-coded block groups:\t1 (50.0 %)")
        .contains(" Under-erasure-coded block groups:\t1 (50.0 %)")
        .contains(" Missing internal blocks:\t2 (20.0 %)");
  }

  @Test
  void aGroupWithTooFewBlocksIsLost() throws Exception {
    FsckSums sums = new FsckSums(3);
    sums.groups().addFile(3 << 20);
    sums.groups().addDamagedFile();
    sums.add(group(State.LIVE, State.LIVE, State.CORRUPT));
    assertThat(sums.healthy()).isFalse();
    assertThat(print(sums))
        .contains("\nStatus: CORRUPT\n")
        .contains("  UNRECOVERABLE BLOCK GROUPS:\t1 (100.0 %)")
        .contains("  MISSING SIZE:\t\t3145728 B")
        .contains(" Missing block groups:\t\t1")
        .contains(" Corrupt block groups:\t\t1");
  }

  @Test
  void aBlockWithoutReplicasIsMissingInItsLine() {
    FsckText text = new FsckText("BP");
    assertThat(text.line(0, block(false, false), FsckQuestion.Detail.NONE))
        .isEqualTo("0. BP:blk_7_1 len=10 MISSING!\n");
    assertThat(text.line(1, block(true, true), FsckQuestion.Detail.NONE))
        .isEqualTo("1. BP:blk_7_1 len=10 Live_repl=0 decoded from stripe 5\n");
    assertThat(
            text.line(
                2, block(false, false, State.CORRUPT, State.LIVE), FsckQuestion.Detail.STATES))
        .isEqualTo(
            "2. BP:blk_7_1 len=10 Live_repl=1  [DatanodeInfoWithStorage[127.0.0.1:1,d,DISK](CORRUPT), DatanodeInfoWithStorage[127.0.0.1:1,d,DISK](LIVE)]\n");
  }
}
