package io.ebbfs.verify.measure;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.verify.audit.ClusterAudit;
import io.ebbfs.verify.cluster.BlockLossInjector;
import io.ebbfs.verify.cluster.RunFiles;
import io.ebbfs.verify.cluster.VerifyCluster;
import io.ebbfs.verify.cluster.VerifyException;
import io.ebbfs.verify.cluster.VerifyOptions;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * Compares the blocks and bytes that encodings, conversions and repairs read and write with the
 * figures of their plans. Chunk servers of a real cluster count the former.
 */
public final class CostComparison {
  private static final int SERVERS = 10;
  private static final int DISKS = 6;

  /** Pairs of codes that are measured besides the built-in ones. */
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

  private final VerifyCluster cluster;
  private final Random random;
  private final Map<String, byte[]> files = new LinkedHashMap<>();
  private final CostTable table = new CostTable();

  private CostComparison(VerifyCluster cluster, Random random) {
    this.cluster = cluster;
    this.random = random;
  }

  /** Whether everything held; the findings are printed. */
  public static boolean run(VerifyOptions options) throws Exception {
    Path directory = RunFiles.place(options.directory(), "ebbfs-conversions");
    System.out.printf(
        "conversions and repairs, measured / planned; blocks of %d KiB, seed %d%n",
        VerifyCluster.BLOCK_BYTES >> 10, options.seed());
    try (VerifyCluster cluster = VerifyCluster.start(directory, SERVERS, DISKS, PAIRS)) {
      return new CostComparison(cluster, new Random(options.seed())).all(options.only());
    } finally {
      if (options.directory().isEmpty()) {
        VerifyCluster.deleteTree(directory);
      }
    }
  }

  private boolean all(List<String> only) throws Exception {
    table.printHeader();
    for (CodeFamily family : cluster.codes().families()) {
      if (only.isEmpty() || only.contains(family.name())) {
        family(family);
      }
    }
    table.printSummary();
    return table.allEqual();
  }

  private void family(CodeFamily family) throws Exception {
    write("/" + family.name(), family.fastCode().dataCount() * family.groupSize());
    encode(family.fastCode());
    // Before the repairs: a rebuilt block is placed for its stripe alone, and then the group may be
    // unable to merge.
    convert(family, TransitionKindProto.UPCODE);
    repairs(family.compactCode());
    convert(family, TransitionKindProto.DOWNCODE);
    repairs(family.fastCode());
    clear("/" + family.name());
    write("/" + family.name() + "-compact", family.compactCode().dataCount());
    encode(family.compactCode());
    clear("/" + family.name() + "-compact");
  }

  /** Writes files of several blocks. The last block of each file has a random length. */
  private void write(String directory, int blocks) throws Exception {
    for (int file = 0; blocks > 0; file++) {
      int ofFile = Math.min(blocks, 2 + random.nextInt(5));
      int spare = random.nextInt(VerifyCluster.BLOCK_BYTES - 1);
      byte[] bytes = new byte[ofFile * VerifyCluster.BLOCK_BYTES - spare];
      random.nextBytes(bytes);
      String path = directory + "/file-" + file;
      cluster.write(path, bytes);
      files.put(path, bytes);
      blocks -= ofFile;
    }
  }

  /** Audits the cluster and then deletes the files. */
  private void clear(String directory) throws Exception {
    ClusterAudit audit = new ClusterAudit(cluster).all(files);
    if (!audit.wrong().isEmpty()) {
      throw new VerifyException("the audit after the conversions found: " + audit.wrong());
    }
    cluster.delete(directory);
    files.clear();
    VerifyCluster.await(
        "the deletion of all stripes",
        30_000,
        () -> cluster.probe().stripes().isEmpty() ? null : "some stripes are left");
  }

  // ---- transitions ------------------------------------------------------------------------------

  private void encode(ErasureCode code) throws Exception {
    DecisionProto.Builder decision = decision(TransitionKindProto.ENCODE, code.name());
    for (String path : files.keySet()) {
      decision.addFileIds(cluster.fileId(path));
    }
    TransitionRow done = propose(decision.build());
    List<TransitionOutputProto> copied = PlannedCost.copiedBlocks(code, done);
    table.compare(
        code.name(),
        "ENCODE" + (copied.isEmpty() ? "" : " and " + copied.size() + " copies"),
        TransitionCost.measured(done),
        PlannedCost.ofEncoding(code, stripes()).plus(PlannedCost.ofCopies(copied)));
  }

  private void convert(CodeFamily family, TransitionKindProto kind) throws Exception {
    boolean toCompact = kind == TransitionKindProto.UPCODE;
    String from = toCompact ? family.fast() : family.compact();
    String to = toCompact ? family.compact() : family.fast();
    List<StripeRow> before = stripes();
    TransitionCost planned = PlannedCost.ofConversion(family, kind, before);
    DecisionProto.Builder decision = decision(kind, to);
    before.forEach(stripe -> decision.addStripeIds(stripe.getId()));
    TransitionRow done = propose(decision.build());
    table.compare(from, kind + " to " + to, TransitionCost.measured(done), planned);
  }

  /** Repairs one block of each kind of position, and two at once if the code survives that. */
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

  private void repair(ErasureCode code, String transition, List<Integer> positions)
      throws Exception {
    StripeRow stripe = stripes().get(0);
    List<StripeMemberProto> lost =
        stripe.getMembersList().stream().filter(m -> positions.contains(m.getPosition())).toList();
    long before = cluster.lastTransition();
    String pool = cluster.blockPool(files.keySet().iterator().next());
    new BlockLossInjector(cluster, pool, lost).makeServersNotice();
    TransitionCost planned = TransitionCost.NONE;
    TransitionCost measured = TransitionCost.NONE;
    for (TransitionRow repair : awaitDone(before)) {
      planned = planned.plus(PlannedCost.ofRepair(code, stripe, repair));
      measured = measured.plus(TransitionCost.measured(repair));
    }
    table.compare(code.name(), transition, measured, planned);
  }

  // ---- helpers ----------------------------------------------------------------------------------

  private static DecisionProto.Builder decision(TransitionKindProto kind, String code) {
    return DecisionProto.newBuilder()
        .setKind(kind)
        .setToCode(code)
        .setPolicy("verify")
        .setReason("to be measured");
  }

  private TransitionRow propose(DecisionProto decision) throws Exception {
    long before = cluster.lastTransition();
    VerifyCluster.await(
        "a proposal",
        20_000,
        () -> {
          ProposedProto proposed = cluster.propose(decision);
          return proposed.getTransitionIdsCount() > 0 ? null : proposed.getRefusal();
        });
    List<TransitionRow> done = awaitDone(before);
    if (done.size() != 1) {
      throw new VerifyException("one transition was expected: " + done);
    }
    return done.get(0);
  }

  private List<TransitionRow> awaitDone(long before) throws Exception {
    VerifyCluster.await(
        "the end of a transition",
        60_000,
        () ->
            cluster.transitionsAfter(before).isEmpty()
                ? "no transition has begun"
                : cluster.whyNotAtRest());
    List<TransitionRow> rows = cluster.transitionsAfter(before);
    for (TransitionRow row : rows) {
      if (row.getState() != TransitionStateProto.DONE) {
        throw new VerifyException("a transition is not done: " + row);
      }
    }
    return rows;
  }

  /** All stripes, ordered by group and slot. */
  private List<StripeRow> stripes() throws Exception {
    return cluster.probe().stripes().stream()
        .map(StripeStatusProto::getStripe)
        .sorted(Comparator.comparingLong(StripeRow::getId))
        .toList();
  }
}
