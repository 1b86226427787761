package io.ebbfs.workloads.prove;

import io.ebbfs.coding.BlockRef;
import io.ebbfs.coding.CodeFamily;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.CombinePlan;
import io.ebbfs.coding.Conversion;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.Planner;
import io.ebbfs.coding.ReadCost;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What conversions and repairs take on a real cluster, as its chunk servers count it, beside what
 * the plans say that they take.
 */
final class Measurements {
  private static final int SERVERS = 10;
  private static final int DISKS = 6;
  private static final String LINE = "%-24s %-26s %9s %9s %21s %21s  %s%n";

  /** Pairs besides those that are always there. */
  private static final String PAIRS =
      """
      pairs:
        - name: rs-4-2
          fast: RS(4,2)
          compact: RS(12,2)
        - name: rs-10-4
          fast: RS(10,4)
          compact: RS(30,4)
        - name: xor
          fast: XOR(3,1)
          compact: XOR(9,1)
      """;

  /** Blocks and bytes, read and written. */
  record Figures(long blocksRead, long blocksWritten, long bytesRead, long bytesWritten) {
    Figures plus(Figures other) {
      return new Figures(
          blocksRead + other.blocksRead,
          blocksWritten + other.blocksWritten,
          bytesRead + other.bytesRead,
          bytesWritten + other.bytesWritten);
    }

    static Figures of(TransitionRow row) {
      return new Figures(
          row.getBlocksRead(), row.getBlocksWritten(), row.getBytesRead(), row.getBytesWritten());
    }
  }

  private final ProvingCluster cluster;
  private final Random random;
  private final Map<String, byte[]> files = new LinkedHashMap<>();
  private int compared;
  private int equal;

  private Measurements(ProvingCluster cluster, Random random) {
    this.cluster = cluster;
    this.random = random;
  }

  static boolean main(ProveOptions options) throws Exception {
    Path directory =
        options.directory().isPresent()
            ? options.directory().get()
            : Files.createTempDirectory("ebbfs-conversions");
    System.out.printf(
        "conversions and repairs, measured / planned; blocks of %d KiB, seed %d%n",
        ProvingCluster.BLOCK_BYTES >> 10, options.seed());
    try (ProvingCluster cluster = ProvingCluster.start(directory, SERVERS, DISKS, PAIRS)) {
      return new Measurements(cluster, new Random(options.seed())).all(options.only());
    } finally {
      if (options.directory().isEmpty()) {
        ProvingCluster.deleteTree(directory);
      }
    }
  }

  private boolean all(List<String> only) throws Exception {
    System.out.printf(LINE, "", "", "blk read", "written", "bytes read", "bytes written", "");
    for (CodeFamily family : Codes.families()) {
      if (only.isEmpty() || only.contains(family.name())) {
        family(family);
      }
    }
    System.out.printf("%d compared, %d equal%n", compared, equal);
    return compared == equal;
  }

  private void family(CodeFamily family) throws Exception {
    write("/" + family.name(), family.fastCode().dataCount() * family.groupSize());
    encode(family.fast());
    // A group is placed so that it can merge; what is repaired is placed for its stripe alone.
    convert(family, TransitionKindProto.UPCODE);
    repairs(family.compactCode());
    convert(family, TransitionKindProto.DOWNCODE);
    repairs(family.fastCode());
    clear("/" + family.name());
    write("/" + family.name() + "-compact", family.compactCode().dataCount());
    encode(family.compact());
    clear("/" + family.name() + "-compact");
  }

  /** Files of several blocks, the last of each of any length. */
  private void write(String directory, int blocks) throws Exception {
    for (int file = 0; blocks > 0; file++) {
      int ofFile = Math.min(blocks, 2 + random.nextInt(5));
      int spare = random.nextInt(ProvingCluster.BLOCK_BYTES - 1);
      byte[] bytes = new byte[ofFile * ProvingCluster.BLOCK_BYTES - spare];
      random.nextBytes(bytes);
      String path = directory + "/file-" + file;
      cluster.write(path, bytes);
      files.put(path, bytes);
      blocks -= ofFile;
    }
  }

  /** Everything is still there and right; then it goes. */
  private void clear(String directory) throws Exception {
    Audit audit = new Audit(cluster).all(files);
    if (!audit.wrong().isEmpty()) {
      throw new ProveException("what was converted is not right: " + audit.wrong());
    }
    cluster.delete(directory);
    files.clear();
    ProvingCluster.await(
        "the end of all stripes",
        30_000,
        () -> cluster.probe().stripes().isEmpty() ? null : "there are some");
  }

  // ---- what is measured -------------------------------------------------------------------------

  private void encode(String code) throws Exception {
    DecisionProto.Builder decision = decision(TransitionKindProto.ENCODE, code);
    for (String path : files.keySet()) {
      decision.addFileIds(cluster.fileId(path));
    }
    TransitionRow done = propose(decision.build());
    Figures planned = new Figures(0, 0, 0, 0);
    for (StripeRow stripe : stripes()) {
      Map<Integer, Long> lengths = lengths(stripe);
      Set<Integer> data = new TreeSet<>(lengths.keySet());
      data.removeIf(p -> p >= Codes.byName(code).dataCount());
      planned =
          planned.plus(
              figures(List.of(Planner.encode(Codes.byName(code), data)), lengths, lengths));
    }
    // Blocks without a replica where placement wants it are copied by the same combine.
    int copies = 0;
    for (TransitionOutputProto output : done.getOutputsList()) {
      if (output.getPosition() < Codes.byName(code).dataCount()) {
        copies++;
        planned = planned.plus(new Figures(0, 1, 0, output.getLengthBytes()));
      }
    }
    print(code, "ENCODE" + (copies > 0 ? " and " + copies + " copies" : ""), done, planned);
  }

  private void convert(CodeFamily family, TransitionKindProto kind) throws Exception {
    boolean up = kind == TransitionKindProto.UPCODE;
    List<StripeRow> before = stripes();
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
        up
            ? Planner.upcode(family.fastCode(), family.compactCode(), occupied, Set.of())
            : Planner.downcode(family.compactCode(), family.fastCode(), occupied.get(0), Set.of());
    Map<BlockRef, Long> after = new HashMap<>();
    conversion.kept().forEach(kept -> after.put(kept.after(), lengths.get(kept.before())));
    Figures planned = new Figures(0, 0, 0, 0);
    for (CombinePlan plan : conversion.plans()) {
      long read = plan.inputs().stream().mapToLong(lengths::get).sum();
      long written = 0;
      for (BlockRef ref : plan.outputs()) {
        written +=
            conversion
                .to()
                .lengthBytes(
                    ref.position(), d -> after.getOrDefault(new BlockRef(ref.stripe(), d), 0L));
      }
      planned = planned.plus(new Figures(plan.reads(), plan.writes(), read, written));
    }
    DecisionProto.Builder decision = decision(kind, up ? family.compact() : family.fast());
    before.forEach(stripe -> decision.addStripeIds(stripe.getId()));
    print(
        up ? family.fast() : family.compact(),
        kind + " to " + (up ? family.compact() : family.fast()),
        propose(decision.build()),
        planned);
  }

  /** One block of each kind of position, and two at once where the code survives it. */
  private void repairs(ErasureCode code) throws Exception {
    Map<String, Integer> kinds = new TreeMap<>();
    for (int p = 0; p < code.size(); p++) {
      String name = code.position(p).name();
      kinds.putIfAbsent(p < code.dataCount() ? "data" : name.replaceAll("[0-9,()]+", ""), p);
    }
    for (Map.Entry<String, Integer> kind : kinds.entrySet()) {
      repair(code, "REPAIR " + code.position(kind.getValue()).name(), List.of(kind.getValue()));
    }
    if (code.tolerance() > 1) {
      repair(code, "REPAIR two data", List.of(0, 1));
    }
  }

  private void repair(ErasureCode code, String what, List<Integer> positions) throws Exception {
    StripeRow stripe = stripes().get(0);
    Map<Integer, Long> lengths = lengths(stripe);
    List<StripeMemberProto> lost =
        stripe.getMembersList().stream().filter(m -> positions.contains(m.getPosition())).toList();
    long before = cluster.lastTransition();
    new Losses(cluster, cluster.blockPool(files.keySet().iterator().next()), lost).notice();
    List<TransitionRow> done = awaitDone(before);
    Figures planned = new Figures(0, 0, 0, 0);
    Figures measured = new Figures(0, 0, 0, 0);
    for (TransitionRow row : done) {
      Set<Integer> rebuilt = new TreeSet<>(row.getStripes(0).getPositionsList());
      planned =
          planned.plus(
              figures(
                  Planner.repair(code, lengths.keySet(), rebuilt, Set.of(), ReadCost.UNIFORM),
                  lengths,
                  lengths));
      measured = measured.plus(Figures.of(row));
    }
    print(code.name(), what, measured, planned);
  }

  // ---- helpers ----------------------------------------------------------------------------------

  private static DecisionProto.Builder decision(TransitionKindProto kind, String code) {
    return DecisionProto.newBuilder()
        .setKind(kind)
        .setToCode(code)
        .setPolicy("proof")
        .setReason("to be measured");
  }

  private TransitionRow propose(DecisionProto decision) throws Exception {
    long before = cluster.lastTransition();
    ProvingCluster.await(
        "a proposal",
        20_000,
        () -> {
          ProposedProto proposed = cluster.propose(decision);
          return proposed.getTransitionIdsCount() > 0 ? null : proposed.getRefusal();
        });
    List<TransitionRow> done = awaitDone(before);
    if (done.size() != 1) {
      throw new ProveException("one transition was expected: " + done);
    }
    return done.get(0);
  }

  private List<TransitionRow> awaitDone(long before) throws Exception {
    ProvingCluster.await(
        "the end of a transition",
        60_000,
        () -> cluster.transitionsAfter(before).isEmpty() ? "there is none" : cluster.unrest());
    List<TransitionRow> rows = cluster.transitionsAfter(before);
    for (TransitionRow row : rows) {
      if (row.getState() != TransitionStateProto.DONE) {
        throw new ProveException("a transition is not done: " + row);
      }
    }
    return rows;
  }

  /** By group and slot. */
  private List<StripeRow> stripes() throws Exception {
    return cluster.probe().stripes().stream()
        .map(StripeStatusProto::getStripe)
        .sorted(Comparator.comparingLong(StripeRow::getId))
        .toList();
  }

  private static Map<Integer, Long> lengths(StripeRow stripe) {
    Map<Integer, Long> lengths = new TreeMap<>();
    stripe.getMembersList().forEach(m -> lengths.put(m.getPosition(), m.getLengthBytes()));
    return lengths;
  }

  private static Figures figures(
      List<CombinePlan> plans, Map<Integer, Long> lengths, Map<Integer, Long> after) {
    Figures sum = new Figures(0, 0, 0, 0);
    for (CombinePlan plan : plans) {
      sum =
          sum.plus(
              new Figures(
                  plan.reads(),
                  plan.writes(),
                  plan.inputPositions().stream().mapToLong(lengths::get).sum(),
                  plan.outputPositions().stream().mapToLong(after::get).sum()));
    }
    return sum;
  }

  private void print(String code, String what, TransitionRow measured, Figures planned) {
    print(code, what, Figures.of(measured), planned);
  }

  private void print(String code, String what, Figures measured, Figures planned) {
    compared++;
    equal += measured.equals(planned) ? 1 : 0;
    System.out.printf(
        LINE,
        code,
        what,
        measured.blocksRead() + " / " + planned.blocksRead(),
        measured.blocksWritten() + " / " + planned.blocksWritten(),
        measured.bytesRead() + " / " + planned.bytesRead(),
        measured.bytesWritten() + " / " + planned.bytesWritten(),
        measured.equals(planned) ? "equal" : "NOT");
  }
}
