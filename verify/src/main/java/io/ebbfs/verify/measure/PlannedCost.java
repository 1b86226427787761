package io.ebbfs.verify.measure;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.coding.plan.CombinePlan;
import io.ebbfs.coding.plan.Conversion;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.coding.plan.ReadCost;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Computes the cost of transitions from the plans of the coding library. */
public final class PlannedCost {
  private PlannedCost() {}

  /** The cost of encoding, given the stripes that came of it. */
  static TransitionCost ofEncoding(ErasureCode code, List<StripeRow> encoded) {
    TransitionCost planned = TransitionCost.NONE;
    for (StripeRow stripe : encoded) {
      Map<Integer, Long> lengths = lengths(stripe);
      Set<Integer> data = new TreeSet<>(lengths.keySet());
      data.removeIf(position -> position >= code.dataCount());
      planned = planned.plus(of(List.of(Planner.encode(code, data)), lengths));
    }
    return planned;
  }

  /**
   * The data blocks that an encoding copied, by the same combines, because no replica was where
   * placement wants the block.
   */
  static List<TransitionOutputProto> copiedBlocks(ErasureCode code, TransitionRow encoding) {
    return encoding.getOutputsList().stream()
        .filter(output -> output.getPosition() < code.dataCount())
        .toList();
  }

  /** The cost of those copies. */
  static TransitionCost ofCopies(List<TransitionOutputProto> copied) {
    long bytes = copied.stream().mapToLong(TransitionOutputProto::getLengthBytes).sum();
    return new TransitionCost(0, copied.size(), 0, bytes);
  }

  /**
   * The cost of converting stripes of one group.
   *
   * @param kind UPCODE (to compact) or DOWNCODE (to fast)
   */
  static TransitionCost ofConversion(
      CodeFamily family, TransitionKindProto kind, List<StripeRow> before) {
    Map<BlockRef, Long> lengths = new HashMap<>();
    List<Set<Integer>> occupied = new ArrayList<>();
    for (int s = 0; s < before.size(); s++) {
      Map<Integer, Long> ofStripe = lengths(before.get(s));
      occupied.add(ofStripe.keySet());
      for (Map.Entry<Integer, Long> entry : ofStripe.entrySet()) {
        lengths.put(new BlockRef(s, entry.getKey()), entry.getValue());
      }
    }
    Conversion conversion =
        kind == TransitionKindProto.UPCODE
            ? Planner.upcode(family.fastCode(), family.compactCode(), occupied, Set.of())
            : Planner.downcode(family.compactCode(), family.fastCode(), occupied.get(0), Set.of());
    return of(conversion, lengths);
  }

  private static TransitionCost of(Conversion conversion, Map<BlockRef, Long> before) {
    Map<BlockRef, Long> after = new HashMap<>();
    conversion.kept().forEach(kept -> after.put(kept.after(), before.get(kept.before())));
    TransitionCost planned = TransitionCost.NONE;
    for (CombinePlan plan : conversion.plans()) {
      long read = plan.inputs().stream().mapToLong(before::get).sum();
      long written = 0;
      for (BlockRef ref : plan.outputs()) {
        written +=
            conversion
                .to()
                .lengthBytes(
                    ref.position(), d -> after.getOrDefault(new BlockRef(ref.stripe(), d), 0L));
      }
      planned = planned.plus(new TransitionCost(plan.reads(), plan.writes(), read, written));
    }
    return planned;
  }

  /** The cost of one repair of the stripe. */
  static TransitionCost ofRepair(ErasureCode code, StripeRow stripe, TransitionRow repair) {
    return ofRepair(code, stripe, new TreeSet<>(repair.getStripes(0).getPositionsList()));
  }

  /** The cost of rebuilding these positions of the stripe. */
  public static TransitionCost ofRepair(ErasureCode code, StripeRow stripe, Set<Integer> rebuilt) {
    Map<Integer, Long> lengths = lengths(stripe);
    return of(Planner.repair(code, lengths.keySet(), rebuilt, Set.of(), ReadCost.UNIFORM), lengths);
  }

  private static Map<Integer, Long> lengths(StripeRow stripe) {
    Map<Integer, Long> lengths = new TreeMap<>();
    stripe.getMembersList().forEach(m -> lengths.put(m.getPosition(), m.getLengthBytes()));
    return lengths;
  }

  private static TransitionCost of(List<CombinePlan> plans, Map<Integer, Long> lengths) {
    TransitionCost sum = TransitionCost.NONE;
    for (CombinePlan plan : plans) {
      sum =
          sum.plus(
              new TransitionCost(
                  plan.reads(),
                  plan.writes(),
                  plan.inputPositions().stream().mapToLong(lengths::get).sum(),
                  plan.outputPositions().stream().mapToLong(lengths::get).sum()));
    }
    return sum;
  }
}
