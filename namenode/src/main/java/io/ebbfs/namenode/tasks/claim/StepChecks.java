package io.ebbfs.namenode.tasks.claim;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.code.ParityEquation;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.coding.plan.CombineCheck;
import io.ebbfs.coding.plan.DataVectors;
import io.ebbfs.namenode.tasks.plan.AttemptPlan;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Output;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Result;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Step;
import io.ebbfs.protocol.proto.ChunkProtos.OutputCheckProto;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * Plans which outputs the combines of an attempt check in memory before they write them. The rows
 * of these checks follow from the generator matrices of the stripes before and after the attempt,
 * and not from the coefficients of the steps. Not thread-safe.
 */
final class StepChecks {
  /**
   * The check of a step.
   *
   * @param name the checked outputs, for messages
   * @param outputs indices into the outputs of the step
   */
  record Check(String name, List<Integer> outputs, OutputCheckProto proto) {}

  private final AttemptPlan plan;
  private final Map<Integer, Result> results = new HashMap<>();
  // The numbers of the data blocks of the results.
  private final Set<Integer> live = new HashSet<>();
  private final DataVectors vectors;
  // By the index of a step: its outputs that are to be checked, by index.
  private final SortedMap<Integer, List<Integer>> chosen = new TreeMap<>();

  StepChecks(AttemptPlan plan) {
    this.plan = plan;
    plan.results().forEach(result -> results.put(result.stripeIndex(), result));
    for (Result result : plan.results()) {
      ErasureCode code = result.code();
      result.stored().keySet().forEach(p -> addData(code, result.stripeIndex(), p, live));
      result.lost().forEach(p -> addData(code, result.stripeIndex(), p, live));
    }
    for (Output output : outputs()) {
      ErasureCode code = results.get(output.stripeIndex()).code();
      addData(code, output.stripeIndex(), output.position(), live);
    }
    Set<Integer> data = new HashSet<>(live);
    for (BlockRef dead : plan.dead()) {
      addData(results.get(dead.stripe()).code(), dead.stripe(), dead.position(), data);
    }
    this.vectors = new DataVectors(data);
  }

  private static void addData(ErasureCode code, int stripe, int position, Set<Integer> data) {
    if (code.position(position).isData()) {
      data.add(stripe * code.dataCount() + position);
    }
  }

  private List<Output> outputs() {
    return plan.steps().stream().flatMap(step -> step.outputs().stream()).toList();
  }

  /**
   * The written positions of a stripe that a combine can check: the written positions in the
   * equation that it would check, with their coefficients.
   *
   * @param written the written positions, without copies
   */
  SortedMap<Integer, ParityEquation> possible(Result result, Set<Integer> written) {
    SortedMap<Integer, ParityEquation> possible = new TreeMap<>();
    for (Step step : plan.steps()) {
      if (readsWholeSources(step)) {
        for (Output output : step.outputs()) {
          if (isOf(output, result) && written.contains(output.position())) {
            CombineCheck.expression(inputs(step), vector(output))
                .ifPresent(
                    terms ->
                        possible.put(output.position(), equation(result, step, output, terms)));
          }
        }
      }
    }
    return possible;
  }

  /**
   * Whether a combine uses every source and reads it to its end, so that its checksum can be
   * compared with the stored one. A rebuilt block that is shorter than its siblings is computed
   * from their first bytes.
   */
  private static boolean readsWholeSources(Step step) {
    long longest = step.outputs().stream().mapToLong(Output::lengthBytes).max().orElse(0);
    int width = step.sources().size();
    for (int s = 0; s < width; s++) {
      boolean used = false;
      for (int at = s; at < step.coefficients().length; at += width) {
        used |= step.coefficients()[at] != 0;
      }
      if (!used || step.sources().get(s).lengthBytes() > longest) {
        return false;
      }
    }
    return true;
  }

  /** The output and the written blocks of the same stripe that an earlier step has computed. */
  private ParityEquation equation(Result result, Step step, Output output, byte[] terms) {
    Map<Long, Integer> written = new HashMap<>();
    outputs().stream()
        .filter(o -> isOf(o, result))
        .forEach(o -> written.put(o.blockId(), o.position()));
    SortedMap<Integer, Integer> equation = new TreeMap<>();
    equation.put(output.position(), 1);
    for (int s = 0; s < terms.length; s++) {
      Integer position = written.get(step.sources().get(s).blockId());
      if (terms[s] != 0 && position != null) {
        equation.put(position, terms[s] & 0xff);
      }
    }
    return new ParityEquation(equation);
  }

  /** Lets the combines check these positions of a stripe. */
  void choose(Result result, Set<Integer> positions) {
    for (int s = 0; s < plan.steps().size(); s++) {
      List<Output> outputs = plan.steps().get(s).outputs();
      for (int o = 0; o < outputs.size(); o++) {
        if (isOf(outputs.get(o), result) && positions.contains(outputs.get(o).position())) {
          chosen.computeIfAbsent(s, step -> new ArrayList<>()).add(o);
        }
      }
    }
  }

  /** The checks of the chosen outputs, by the index of the step. */
  SortedMap<Integer, Check> planned() {
    SortedMap<Integer, Check> checks = new TreeMap<>();
    chosen.forEach((index, outputs) -> checks.put(index, check(plan.steps().get(index), outputs)));
    return checks;
  }

  private Check check(Step step, List<Integer> outputs) {
    CombineCheck check =
        CombineCheck.plan(
            inputs(step), outputs.stream().map(o -> vector(step.outputs().get(o))).toList());
    SortedMap<Integer, List<Integer>> positions = new TreeMap<>();
    for (int o : outputs) {
      Output output = step.outputs().get(o);
      positions
          .computeIfAbsent(output.stripeIndex(), stripe -> new ArrayList<>())
          .add(output.position());
    }
    String name =
        positions.entrySet().stream()
            .map(of -> named(results.get(of.getKey()), of.getValue()))
            .collect(Collectors.joining("; "));
    return new Check(
        name,
        outputs,
        OutputCheckProto.newBuilder()
            .addAllDecodedSources(check.decoded())
            .addAllTargets(outputs)
            .setCoefficients(ByteString.copyFrom(check.coefficients()))
            .build());
  }

  private List<byte[]> inputs(Step step) {
    return step.places().stream().map(place -> vectors.of(step.code(), place)).toList();
  }

  private byte[] vector(Output output) {
    return vectors.of(
        results.get(output.stripeIndex()).code(),
        new BlockRef(output.stripeIndex(), output.position()),
        live::contains);
  }

  private static boolean isOf(Output output, Result result) {
    return output.stripeIndex() == result.stripeIndex();
  }

  /** Positions of a stripe, for messages: "P1, P2 of stripe 17". */
  static String named(Result result, Collection<Integer> positions) {
    return positions.stream()
        .map(p -> result.code().position(p).name())
        .collect(Collectors.joining(", ", "", " of " + result.name()));
  }
}
