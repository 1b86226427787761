package io.ebbfs.workloads.prove;

import io.ebbfs.cluster.ClusterException;
import io.ebbfs.coding.CodeFamily;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * What has to be there so that a transition of one kind can happen, and what makes it happen. Each
 * has a directory of its own in a cluster that is otherwise empty.
 */
final class Scenario {
  static final List<TransitionKindProto> KINDS =
      List.of(
          TransitionKindProto.ENCODE,
          TransitionKindProto.UPCODE,
          TransitionKindProto.DOWNCODE,
          TransitionKindProto.REPAIR,
          TransitionKindProto.REWRITE,
          TransitionKindProto.MOVE);

  /** Of these, any two servers may be lost of stripes on nine. */
  private static final Set<String> PAIRS_OF_SERVERS = Set.of("product", "rs");

  private static final String POLICY = "proof";

  private final ProvingCluster cluster;
  private final TransitionKindProto kind;
  private final CodeFamily family;
  private final Random random;
  private final String directory;
  private final Map<String, byte[]> files = new LinkedHashMap<>();
  private final List<String> doomed = new ArrayList<>();
  private Losses losses;
  private volatile Joining joining;

  Scenario(
      ProvingCluster cluster,
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

  /** The pairs of codes that the scenario of a kind is possible with. */
  static List<CodeFamily> families(TransitionKindProto kind) {
    return Codes.families().stream()
        .filter(
            family -> kind != TransitionKindProto.MOVE || PAIRS_OF_SERVERS.contains(family.name()))
        .toList();
  }

  /** The files that are there now, with their bytes. */
  Map<String, byte[]> files() {
    return files;
  }

  String directory() {
    return directory;
  }

  /** The code that stripes have once the transition is done. */
  ErasureCode result() {
    return kind == TransitionKindProto.UPCODE ? family.compactCode() : family.fastCode();
  }

  // ---- before -----------------------------------------------------------------------------------

  /** Writes files and brings them into the code that the transition starts from. */
  void prepare() throws IOException, ClusterException, InterruptedException {
    if (kind == TransitionKindProto.MOVE) {
      joining = new Joining(cluster, random);
      joining.leave();
    }
    write();
    if (kind == TransitionKindProto.ENCODE) {
      return;
    }
    boolean compact =
        kind == TransitionKindProto.DOWNCODE
            || kind == TransitionKindProto.REPAIR && random.nextBoolean();
    ProvingCluster.await("a proposal to encode", 20_000, () -> encode(compact));
    ProvingCluster.await("rest", 60_000, () -> cluster.unrest(away().size()));
  }

  private String encode(boolean compact) throws IOException {
    ProposedProto proposed =
        cluster.propose(
            encoding(compact ? family.compact() : family.fast(), List.copyOf(files.keySet())));
    return proposed.getTransitionIdsCount() > 0 ? null : proposed.getRefusal();
  }

  /** Blocks of about one length, several to a file, or one where files are to be deleted. */
  private void write() throws IOException {
    int blocks = blocks();
    boolean single = kind == TransitionKindProto.REWRITE;
    int file = 0;
    while (blocks > 0) {
      int ofFile = single ? 1 : Math.min(blocks, 1 + random.nextInt(5));
      int spare = random.nextInt(single ? 2_000 : ProvingCluster.BLOCK_BYTES / 2);
      byte[] bytes = new byte[ofFile * ProvingCluster.BLOCK_BYTES - spare];
      random.nextBytes(bytes);
      String path = directory + "/file-" + file++;
      cluster.write(path, bytes);
      files.put(path, bytes);
      blocks -= ofFile;
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

  /** Makes the transition happen. Called again, it does only what is still missing. */
  void trigger() throws IOException, ClusterException, InterruptedException {
    switch (kind) {
      case ENCODE -> cluster.propose(encoding(family.fast(), List.copyOf(files.keySet())));
      case UPCODE -> cluster.propose(conversion(family.compact()));
      case DOWNCODE -> cluster.propose(conversion(family.fast()));
      case REPAIR -> lose();
      case REWRITE -> deleteSome();
      case MOVE -> joining.join();
      default -> throw new ProveException("nothing triggers a transition of kind " + kind);
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

  private static DecisionProto.Builder decision(TransitionKindProto kind, String code) {
    return DecisionProto.newBuilder()
        .setKind(kind)
        .setToCode(code)
        .setPolicy(POLICY)
        .setReason("to be proven");
  }

  /** Loses two blocks of a stripe, on two servers. */
  private void lose() throws IOException, ClusterException, InterruptedException {
    if (losses == null) {
      StripeRow stripe = cluster.probe().stripes().get(0).getStripe();
      List<StripeMemberProto> members = new ArrayList<>(stripe.getMembersList());
      Collections.shuffle(members, random);
      losses =
          new Losses(
              cluster, cluster.blockPool(files.keySet().iterator().next()), members.subList(0, 2));
    }
    losses.notice();
  }

  /** Deletes a bit more than half of the files, each of one block. */
  private void deleteSome() throws IOException {
    int keep = family.fastCode().dataCount() / 2 - 1;
    List<String> paths = new ArrayList<>(files.keySet());
    Collections.shuffle(paths, random);
    while (files.size() > keep) {
      String path = paths.remove(0);
      doomed.add(path);
      files.remove(path);
    }
    for (String path : doomed) {
      cluster.delete(path);
    }
  }

  /** The processes that are down because the scenario wants it. */
  Set<String> away() {
    return joining == null ? Set.of() : joining.away();
  }

  /** What is still to be done though no transition is under way; null if nothing is. */
  String unfinished() throws IOException {
    return joining == null ? null : joining.unfinished();
  }

  // ---- after ------------------------------------------------------------------------------------

  /** Removes everything and waits until no stripe is left. */
  void clear() throws IOException, InterruptedException {
    cluster.delete(directory);
    ProvingCluster.await(
        "the end of all stripes",
        30_000,
        () -> {
          int stripes = cluster.probe().stripes().size();
          return stripes == 0 ? null : stripes + " stripes are left";
        });
  }
}
