package io.ebbfs.namenode.tasks.claim;

import io.ebbfs.coding.plan.CombinePlan;
import io.ebbfs.coding.plan.StripeCheck;
import io.ebbfs.coding.plan.StripeCheckPlanner;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings.Verification;
import io.ebbfs.namenode.tasks.plan.AttemptPlan;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Output;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Result;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Source;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Step;
import io.ebbfs.protocol.proto.ChunkProtos.OutputCheckProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.CodingProtos.CheckProto;
import io.ebbfs.protocol.proto.CodingProtos.CombinedCheckProto;
import io.ebbfs.protocol.proto.CodingProtos.StepProto;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Plans how the blocks that an attempt writes are verified before they are published. A copied
 * block must have the checksums of its source. For parities and rebuilt blocks {@link
 * StripeCheckPlanner} finds equations of the stripe that they must satisfy: the worker verifies
 * them, or the combine itself ({@link StepChecks}). Thread-safe.
 */
final class OutputCheckPlanner {
  /**
   * The checks of an attempt.
   *
   * @param checks what the worker does after the combines
   * @param inSteps what combines do in memory before they write, by the index of the step
   */
  record Checks(List<CheckProto> checks, Map<Integer, OutputCheckProto> inSteps) {}

  private final StepMessageBuilder messages;
  private final Verification verification;

  OutputCheckPlanner(StepMessageBuilder messages, Verification verification) {
    this.messages = messages;
    this.verification = verification;
  }

  /** A disk that a check needs went away while the check was planned. */
  static final class GoneException extends Exception {
    private static final long serialVersionUID = 1;
  }

  /**
   * The checks of an attempt.
   *
   * @param name the prefix of the names of the combines of the checks
   * @param plan its new blocks have their ids
   * @return empty if a server that a check needs is not in service any more
   */
  Optional<Checks> of(String name, AttemptPlan plan) {
    try {
      // Whatever the setting: a chunk server that does not know cells writes other bytes.
      if (plan.row().hasGroupFileId()) {
        return Optional.of(new Checks(new GatherChecks(messages).of(plan), Map.of()));
      }
      if (verification == Verification.OFF) {
        return Optional.of(new Checks(List.of(), Map.of()));
      }
      StepChecks inSteps = new StepChecks(plan);
      List<CheckProto> checks = new ArrayList<>();
      Map<Long, Source> stored = new HashMap<>();
      for (Result result : plan.results()) {
        OfStripe ofStripe = new OfStripe(name, plan.row().getId(), result, outputs(plan, result));
        ofStripe.addTo(checks, inSteps);
        ofStripe.blocks.values().forEach(block -> stored.put(block.blockId(), block));
      }
      SortedMap<Integer, StepChecks.Check> planned = inSteps.planned();
      Map<Integer, OutputCheckProto> protos = new TreeMap<>();
      for (Map.Entry<Integer, StepChecks.Check> check : planned.entrySet()) {
        protos.put(check.getKey(), check.getValue().proto());
        checks.add(combined(plan, check.getKey(), check.getValue(), stored));
      }
      return Optional.of(new Checks(checks, protos));
    } catch (GoneException e) {
      return Optional.empty();
    }
  }

  /**
   * The comparison of what a combine has checked in memory with what is stored. A raid-node of an
   * earlier version takes it for a sum of the members, which does not hold.
   */
  private CheckProto combined(
      AttemptPlan plan, int index, StepChecks.Check check, Map<Long, Source> stored)
      throws GoneException {
    Step step = plan.steps().get(index);
    CheckProto.Builder proto =
        CheckProto.newBuilder()
            .setName(check.name())
            .setCombined(
                CombinedCheckProto.newBuilder().setStep(index).addAllTargets(check.outputs()));
    long longest = 0;
    for (int target : check.outputs()) {
      Output output = step.outputs().get(target);
      proto.addMembers(message(stored.get(output.blockId())));
      longest = Math.max(longest, output.lengthBytes());
    }
    for (Source source : step.sources()) {
      proto.addMembers(message(stored.getOrDefault(source.blockId(), source)));
      longest = Math.max(longest, source.lengthBytes());
    }
    return proto.setLengthBytes(longest).build();
  }

  private SourceProto message(Source source) throws GoneException {
    return messages.source(source).orElseThrow(GoneException::new);
  }

  private static SortedMap<Integer, Source> outputs(AttemptPlan plan, Result result) {
    SortedMap<Integer, Source> outputs = new TreeMap<>();
    for (Step step : plan.steps()) {
      for (Output output : step.outputs()) {
        if (output.stripeIndex() == result.stripeIndex()) {
          outputs.put(
              output.position(),
              new Source(
                  output.blockId(),
                  output.generationStamp(),
                  output.lengthBytes(),
                  List.of(output.storageUuid())));
        }
      }
    }
    return outputs;
  }

  /** The checks of one stripe. */
  private final class OfStripe {
    private final String name;
    private final long transition;
    private final Result result;
    private final SortedMap<Integer, Source> outputs;
    // By position: every block of the stripe after the attempt, on the disk where it will stay.
    private final SortedMap<Integer, Source> blocks;

    OfStripe(String name, long transition, Result result, SortedMap<Integer, Source> outputs) {
      this.name = name;
      this.transition = transition;
      this.result = result;
      this.outputs = outputs;
      this.blocks = new TreeMap<>(result.stored());
      blocks.putAll(outputs);
    }

    void addTo(List<CheckProto> checks, StepChecks inSteps) throws GoneException {
      Set<Integer> written = new TreeSet<>(outputs.keySet());
      for (int position : outputs.keySet()) {
        if (result.stored().containsKey(position)) {
          written.remove(position);
          checks.add(copy(position));
        }
      }
      if (written.isEmpty()) {
        return;
      }
      Set<Integer> occupied = new TreeSet<>(blocks.keySet());
      occupied.addAll(result.lost());
      for (StripeCheck check :
          StripeCheckPlanner.plan(
              result.code(),
              occupied,
              written,
              result.lost(),
              result.derivedFrom(),
              inSteps.possible(result, written))) {
        if (check instanceof StripeCheck.Xor xor) {
          List<Source> members = xor.positions().stream().map(blocks::get).toList();
          checks.add(xor(named(xor.written()), members));
        } else if (check instanceof StripeCheck.InCombine inCombine) {
          inSteps.choose(result, inCombine.written());
        } else if (verification == Verification.ON) {
          checks.add(decode((StripeCheck.Decode) check, name + "-" + checks.size()));
        }
      }
    }

    private CheckProto copy(int position) throws GoneException {
      return xor(
          "the copy of " + named(Set.of(position)),
          List.of(outputs.get(position), result.stored().get(position)));
    }

    private String named(Collection<Integer> positions) {
      return StepChecks.named(result, positions);
    }

    private CheckProto xor(String what, List<Source> members) throws GoneException {
      CheckProto.Builder check =
          CheckProto.newBuilder().setName(what).setLengthBytes(longest(members));
      for (Source member : members) {
        check.addMembers(message(member));
      }
      return check.build();
    }

    private CheckProto decode(StripeCheck.Decode check, String combineName) throws GoneException {
      CombinePlan plan = check.plan();
      List<Source> sources = plan.inputPositions().stream().map(blocks::get).toList();
      List<Source> known = plan.outputPositions().stream().map(blocks::get).toList();
      long length = Math.max(longest(sources), longest(known));
      List<Output> targets = new ArrayList<>();
      for (int k = 0; k < known.size(); k++) {
        // All targets get the length of the longest: wrong bytes after the end of a short block
        // show.
        targets.add(
            new Output(
                result.stripeIndex(),
                plan.outputPositions().get(k),
                known.get(k).blockId(),
                known.get(k).generationStamp(),
                length,
                known.get(k).storageUuids().get(0)));
      }
      StepProto step =
          messages
              .check(
                  combineName,
                  transition,
                  new Step(result.code(), plan.inputs(), sources, targets, plan.coefficients()))
              .orElseThrow(GoneException::new);
      CheckProto.Builder proto =
          CheckProto.newBuilder().setName(named(check.written())).setDecode(step);
      for (Source member : known) {
        proto.addMembers(message(member));
      }
      return proto.build();
    }

    private static long longest(List<Source> sources) {
      return sources.stream().mapToLong(Source::lengthBytes).max().orElse(0);
    }
  }
}
