package io.ebbfs.workloads.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.workloads.results.Recording;
import io.ebbfs.workloads.results.Recording.Moves;
import io.ebbfs.workloads.results.Recording.Step;
import io.ebbfs.workloads.traffic.Workload;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RecorderTest {
  private static TransitionRow row(TransitionKindProto kind, int read, int written) {
    return TransitionRow.newBuilder()
        .setId(1)
        .setKind(kind)
        .setState(TransitionStateProto.DONE)
        .setPolicy("all")
        .setToCode("PC(6x5)")
        .setReason("a test")
        .setCreatedMillis(0)
        .setUpdatedMillis(0)
        .setPriority(0)
        .setAttempt(1)
        .setBlocksRead(read)
        .setBlocksWritten(written)
        .build();
  }

  @Test
  void movesAreSummedByWhatTheyAreFor() {
    List<TransitionRow> done =
        List.of(
            row(TransitionKindProto.ENCODE, 30, 12),
            row(TransitionKindProto.UPCODE, 15, 6),
            row(TransitionKindProto.DOWNCODE, 25, 18),
            row(TransitionKindProto.REWRITE, 20, 8),
            row(TransitionKindProto.REPAIR, 5, 1),
            row(TransitionKindProto.REPAIR, 2, 1));
    assertThat(Recorder.moves(done, 7)).isEqualTo(new Moves(42, 92, 9, 7));
  }

  @Test
  void aRecordingIsWrittenAndReadAgain() throws Exception {
    Recording recording =
        new Recording(
            2_000,
            30_000,
            1 << 18,
            24_000,
            420_000,
            "policies: []",
            List.of(new Recording.File("/CC1/a", 3, -4_000)),
            List.of(new Step(Map.of(0, 2), 0.01, 0.02, 1.5), new Step(Map.of(), 0, 0, 1.4)),
            new Moves(1, 2, 3, 4));
    ObjectMapper json = new ObjectMapper();
    assertThat(json.readValue(json.writeValueAsString(recording), Recording.class))
        .isEqualTo(recording);
  }

  @Test
  void lengthsAreRoundedUpToWholeBlocks() {
    Workload workload =
        new Workload(
            "w",
            List.of(
                new Workload.File("a", 1), new Workload.File("b", 8), new Workload.File("c", 9)),
            List.of(new Workload.Read(0, 1)),
            1,
            10);
    Workload whole = workload.withWholeBlocks(8);
    assertThat(whole.files()).extracting(Workload.File::bytes).containsExactly(8L, 8L, 16L);
    assertThat(whole.reads()).isEqualTo(workload.reads());
  }
}
