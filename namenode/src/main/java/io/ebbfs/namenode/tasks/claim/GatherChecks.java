package io.ebbfs.namenode.tasks.claim;

import io.ebbfs.namenode.tasks.claim.OutputCheckPlanner.GoneException;
import io.ebbfs.namenode.tasks.plan.AttemptPlan;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Gather;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Output;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Source;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Step;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.CodingProtos.CheckProto;
import io.ebbfs.protocol.proto.CodingProtos.GatheredCheckProto;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Plans how the blocks are verified that were gathered out of block groups: the checksum of each
 * written replica must follow from those of the cells of the group. Checksum files are read alone,
 * those of the group as they were before the attempt, so the checks do not rely on what a combine
 * has read or written.
 */
final class GatherChecks {
  private final StepMessageBuilder messages;

  GatherChecks(StepMessageBuilder messages) {
    this.messages = messages;
  }

  /** A check of each replica that the attempt writes. */
  List<CheckProto> of(AttemptPlan plan) throws GoneException {
    Map<Long, Step> gatheredBy = new HashMap<>();
    List<CheckProto> checks = new ArrayList<>();
    for (Step step : plan.steps()) {
      for (Output output : step.outputs()) {
        if (step.gather().isPresent()) {
          gatheredBy.put(output.blockId(), step);
        }
        checks.add(check(output, gatheredBy.get(output.blockId())));
      }
    }
    return checks;
  }

  /**
   * A raid-node of an earlier version takes it for a sum of the members. It holds for the sum that
   * a chunk server of an earlier version writes, so the commit asks how many checks of this kind
   * were passed.
   */
  private CheckProto check(Output output, Step gatheredBy) throws GoneException {
    Gather gather = gatheredBy.gather().orElseThrow();
    CheckProto.Builder check =
        CheckProto.newBuilder()
            .setName("block %d on disk %s".formatted(output.blockId(), output.storageUuid()))
            .setGathered(
                GatheredCheckProto.newBuilder()
                    .setCellBytes(gather.cellBytes())
                    .setUnits(gather.units())
                    .setStartBytes(gather.startBytes()))
            .addMembers(
                message(
                    new Source(
                        output.blockId(),
                        output.generationStamp(),
                        output.lengthBytes(),
                        List.of(output.storageUuid()))));
    long longest = output.lengthBytes();
    // The message of a block is the same in all checks, so that its server is asked once.
    Gather whole = new Gather(gather.cellBytes(), gather.units(), 0);
    for (int s = 0; s < gatheredBy.sources().size(); s++) {
      Source source = gatheredBy.sources().get(s);
      check.addMembers(
          StepMessageBuilder.byCells(
              message(source), whole, gatheredBy.places().get(s).position()));
      longest = Math.max(longest, source.lengthBytes());
    }
    return check.setLengthBytes(longest).build();
  }

  private SourceProto message(Source source) throws GoneException {
    return messages.source(source).orElseThrow(GoneException::new);
  }
}
