package io.ebbfs.verify.kills;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.verify.cluster.BlockLossInjector;
import io.ebbfs.verify.cluster.VerifyCluster;
import io.ebbfs.verify.cluster.VerifyException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Prepares the files for a transition of one kind, and triggers it. The files have a directory of
 * their own in a cluster that is otherwise empty.
 */
public final class TransitionScenario {
  static final List<TransitionKindProto> KINDS =
      List.of(
          TransitionKindProto.ENCODE,
          TransitionKindProto.UPCODE,
          TransitionKindProto.DOWNCODE,
          TransitionKindProto.REPAIR,
          TransitionKindProto.REWRITE,
          TransitionKindProto.SUBTRACT,
          TransitionKindProto.RELEASE,
          TransitionKindProto.MOVE);

  /** Families whose stripes on nine servers survive the loss of any two. */
  private static final Set<String> SURVIVE_TWO_OF_NINE = Set.of("product", "rs");

  /** Kinds that files of one block are written for, so that some of a stripe's files are chosen. */
  private static final Set<TransitionKindProto> ONE_BLOCK_FILES =
      EnumSet.of(
          TransitionKindProto.REWRITE, TransitionKindProto.SUBTRACT, TransitionKindProto.RELEASE);

  private static final String POLICY = "verify";

  private final VerifyCluster cluster;
  private final TransitionKindProto kind;
  private final CodeFamily family;
  private final Random random;
  private final String directory;
  private final Map<String, byte[]> files = new LinkedHashMap<>();
  private final List<String> toDelete = new ArrayList<>();
  private final List<String> toRelease = new ArrayList<>();
  private BlockLossInjector losses;
  private volatile LateJoiningServers lateServers;

  public TransitionScenario(
      VerifyCluster cluster,
      TransitionKindProto kind,
      CodeFamily family,
      Random random,
      String directory) {
    this.cluster = cluster;
    this.kind = kind;
    this.family = family;
    this.random = random;
    this.directory = directory;
  }

  /** The families of codes with which a scenario of this kind is possible. */
  static List<CodeFamily> families(CodeRegistry codes, TransitionKindProto kind) {
    return codes.families().stream()
        .filter(
            family ->
                kind != TransitionKindProto.MOVE || SURVIVE_TWO_OF_NINE.contains(family.name()))
        .toList();
  }

  /** The files that exist now, with their bytes. */
  public Map<String, byte[]> files() {
    return files;
  }

  String directory() {
    return directory;
  }

  /** The code of the stripes once the transition is done. */
  ErasureCode result() {
    return kind == TransitionKindProto.UPCODE ? family.compactCode() : family.fastCode();
  }

  // ---- before -----------------------------------------------------------------------------------

  /** Writes files and encodes them in the code from which the transition starts. */
  public void prepare() throws IOException, ClusterException, InterruptedException {
    if (kind == TransitionKindProto.MOVE) {
      lateServers = new LateJoiningServers(cluster, random);
      lateServers.leave();
    }
    write();
    if (kind == TransitionKindProto.ENCODE) {
      return;
    }
    boolean compact =
        kind == TransitionKindProto.DOWNCODE
            || kind == TransitionKindProto.REPAIR && random.nextBoolean();
    VerifyCluster.await("a proposal to encode", 20_000, () -> encode(compact));
    VerifyCluster.await("rest", 60_000, () -> cluster.whyNotAtRest(away().size()));
  }

  private String encode(boolean compact) throws IOException {
    ProposedProto proposed =
        cluster.propose(
            encoding(compact ? family.compact() : family.fast(), List.copyOf(files.keySet())));
    return proposed.getTransitionIdsCount() > 0 ? null : proposed.getRefusal();
  }

  /** Writes blocks of about one length: one per file if files will be deleted, else several. */
  private void write() throws IOException {
    int blocks = blocks();
    boolean single = ONE_BLOCK_FILES.contains(kind);
    int file = 0;
    while (blocks > 0) {
      int ofFile = single ? 1 : Math.min(blocks, 1 + random.nextInt(5));
      int spare = random.nextInt(single ? 2_000 : VerifyCluster.BLOCK_BYTES / 2);
      byte[] bytes = new byte[ofFile * VerifyCluster.BLOCK_BYTES - spare];
      random.nextBytes(bytes);
      String path = directory + "/file-" + file++;
      cluster.write(path, bytes);
      files.put(path, bytes);
      blocks -= ofFile;
    }
    if (kind == TransitionKindProto.RELEASE) {
      List<String> paths = new ArrayList<>(files.keySet());
      Collections.shuffle(paths, random);
      toRelease.addAll(paths.subList(0, paths.size() / 2));
    }
  }

  private int blocks() {
    int data = family.fastCode().dataCount();
    return switch (kind) {
      case UPCODE, DOWNCODE -> data * Math.min(2, family.groupSize());
      default -> data;
    };
  }

  // ---- the transition ---------------------------------------------------------------------------

  /** Triggers the transition. May be repeated: a second call does only what is still missing. */
  public void trigger() throws IOException, ClusterException, InterruptedException {
    switch (kind) {
      case ENCODE -> cluster.propose(encoding(family.fast(), List.copyOf(files.keySet())));
      case UPCODE -> cluster.propose(conversion(family.compact()));
      case DOWNCODE -> cluster.propose(conversion(family.fast()));
      case REPAIR -> loseBlocks();
      case REWRITE -> deleteUntil(family.fastCode().dataCount() / 2 - 1);
      case SUBTRACT -> {
        deleteUntil(family.fastCode().dataCount() - 1);
        cluster.propose(subtraction());
      }
      case RELEASE -> cluster.propose(release());
      case MOVE -> lateServers.join();
      default -> throw new VerifyException("nothing triggers a transition of kind " + kind);
    }
  }

  private DecisionProto encoding(String code, List<String> paths) throws IOException {
    DecisionProto.Builder decision = decision(TransitionKindProto.ENCODE, code);
    for (String path : paths) {
      decision.addFileIds(cluster.fileId(path));
    }
    return decision.build();
  }

  private DecisionProto conversion(String code) throws IOException {
    DecisionProto.Builder decision = decision(kind, code);
    for (StripeStatusProto stripe : cluster.probe().stripes()) {
      if (!stripe.getStripe().getCode().equals(code)) {
        decision.addStripeIds(stripe.getStripe().getId());
      }
    }
    return decision.build();
  }

  private DecisionProto subtraction() throws IOException {
    DecisionProto.Builder decision = decision(kind, family.fast());
    for (StripeStatusProto stripe : cluster.probe().stripes()) {
      decision.addStripeIds(stripe.getStripe().getId());
    }
    return decision.build();
  }

  /** Half of the files, of one block each, become replicas; the seed chooses them. */
  private DecisionProto release() throws IOException {
    DecisionProto.Builder decision = decision(kind, family.fast());
    for (StripeStatusProto stripe : cluster.probe().stripes()) {
      decision.addStripeIds(stripe.getStripe().getId());
    }
    for (String path : toRelease) {
      decision.addFileIds(cluster.fileId(path));
    }
    return decision.build();
  }

  private static DecisionProto.Builder decision(TransitionKindProto kind, String code) {
    return DecisionProto.newBuilder()
        .setKind(kind)
        .setToCode(code)
        .setPolicy(POLICY)
        .setReason("to be verified");
  }

  /** Loses two blocks of a stripe on two servers. */
  private void loseBlocks() throws IOException, ClusterException, InterruptedException {
    if (losses == null) {
      StripeRow stripe = cluster.probe().stripes().get(0).getStripe();
      List<StripeMemberProto> members = new ArrayList<>(stripe.getMembersList());
      Collections.shuffle(members, random);
      losses =
          new BlockLossInjector(
              cluster, cluster.blockPool(files.keySet().iterator().next()), members.subList(0, 2));
    }
    losses.makeServersNotice();
  }

  /** Deletes files until so many are left. Each has one block. */
  private void deleteUntil(int keep) throws IOException {
    List<String> paths = new ArrayList<>(files.keySet());
    Collections.shuffle(paths, random);
    while (files.size() > keep) {
      String path = paths.remove(0);
      toDelete.add(path);
      files.remove(path);
    }
    for (String path : toDelete) {
      cluster.delete(path);
    }
  }

  /** The processes that the scenario wants to be down. */
  Set<String> away() {
    return lateServers == null ? Set.of() : lateServers.away();
  }

  /** The work that is left although no transition runs; null if no work is left. */
  String unfinished() throws IOException {
    return lateServers == null ? null : lateServers.unfinished();
  }

  // ---- after ------------------------------------------------------------------------------------

  /** Deletes all files and waits until no stripe is left. */
  void clear() throws IOException, InterruptedException {
    cluster.delete(directory);
    VerifyCluster.await(
        "the deletion of all stripes",
        30_000,
        () -> {
          int stripes = cluster.probe().stripes().size();
          return stripes == 0 ? null : stripes + " stripes are left";
        });
  }
}
