package io.ebbfs.verify.policy;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.Conversion;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.manager.policy.Decision;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.Pin;
import io.ebbfs.manager.view.StripeView;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Files of whole blocks and the stripes that hold them. A file begins with three replicas of each
 * block; its id is its index plus 1. Stripes fill their data positions from the first one on. Not
 * thread-safe.
 */
final class StoredFiles {
  static final long BLOCK = 64L << 20;
  private static final int REPLICAS = 3;
  private static final int REPLICA_REPAIR = 2 * REPLICAS;

  private final CodeRegistry codes;
  private final List<File> files;
  private final long blockBytes;
  private final int[] blocks;
  private final int[] striped;
  private final Map<Long, Stripe> stripes = new LinkedHashMap<>();
  private final Set<Integer> changed = new HashSet<>();
  private final FileView[] views;
  private long unencoded;
  private long lastId;
  private long nowMillis;

  /**
   * A file.
   *
   * @param writtenMillis when it was written; the first step begins at 0
   */
  record File(String path, int blocks, long writtenMillis) {}

  /** A stripe; the file of each data position, and its view. */
  private record Stripe(ErasureCode code, List<Integer> files, StripeView view) {}

  /** Files with so many blocks of 64 MiB each, which are written when the first step begins. */
  StoredFiles(CodeRegistry codes, int[] blocks) {
    this(codes, numbered(blocks), BLOCK);
  }

  StoredFiles(CodeRegistry codes, List<File> files, long blockBytes) {
    this.codes = codes;
    this.files = List.copyOf(files);
    this.blockBytes = blockBytes;
    this.blocks = files.stream().mapToInt(File::blocks).toArray();
    this.striped = new int[blocks.length];
    this.views = new FileView[blocks.length];
    // A member whose owner has the id of the stripe is a parity.
    this.lastId = blocks.length;
    for (int file = 0; file < blocks.length; file++) {
      unencoded += blocks[file];
      changed.add(file);
    }
  }

  private static List<File> numbered(int[] blocks) {
    List<File> files = new ArrayList<>();
    for (int file = 0; file < blocks.length; file++) {
      files.add(new File("/data/file-%05d".formatted(file), blocks[file], 0));
    }
    return files;
  }

  int fileCount() {
    return blocks.length;
  }

  /** The data blocks of all files. */
  long totalBlocks() {
    long sum = 0;
    for (int count : blocks) {
      sum += count;
    }
    return sum;
  }

  /** The blocks of all stripes, parities included. */
  long stripeBlocks() {
    return stripes.values().stream()
        .mapToLong(s -> s.files().size() + s.view().parityBytes() / blockBytes)
        .sum();
  }

  boolean allEncoded() {
    return unencoded == 0;
  }

  /** Carries a decision out and counts its moves. */
  void apply(Decision decision, long atMillis, Ledger ledger) {
    nowMillis = atMillis;
    ErasureCode to = codes.byName(decision.toCode());
    switch (decision.kind()) {
      case ENCODE -> encode(decision, to, ledger);
      case REWRITE -> rewrite(decision, to, ledger);
      case UPCODE, DOWNCODE -> convert(decision, to, ledger);
      default ->
          throw new IllegalStateException(
              "nothing is deleted here, so a %s has nothing to do".formatted(decision.kind()));
    }
  }

  /** Encodes the data of short stripes again into full ones; the moves count as conversions. */
  private void rewrite(Decision decision, ErasureCode to, Ledger ledger) {
    List<Integer> members = new ArrayList<>();
    decision.stripeIds().forEach(id -> members.addAll(stripes.remove(id).files()));
    for (List<Integer> stripe : addStripes(to, members, decision)) {
      ledger.convert += StripeCost.of(to, stripe.size()).encode();
    }
    ledger.conversions += new HashSet<>(members).size();
  }

  private void encode(Decision decision, ErasureCode code, Ledger ledger) {
    List<Integer> members = new ArrayList<>();
    for (long id : decision.fileIds()) {
      int file = (int) id - 1;
      for (int i = striped[file]; i < blocks[file]; i++) {
        if (decision.longestBlocks() == 0 || members.size() < decision.longestBlocks()) {
          members.add(file);
        }
      }
    }
    for (int file : members) {
      striped[file]++;
      changed.add(file);
    }
    unencoded -= members.size();
    for (List<Integer> stripe : addStripes(code, members, decision)) {
      ledger.encode += StripeCost.of(code, stripe.size()).encode();
    }
  }

  private void convert(Decision decision, ErasureCode to, Ledger ledger) {
    List<Integer> members = new ArrayList<>();
    List<Set<Integer>> occupied = new ArrayList<>();
    ErasureCode from = null;
    for (long id : decision.stripeIds()) {
      Stripe old = stripes.remove(id);
      from = old.code();
      members.addAll(old.files());
      occupied.add(Set.copyOf(from.occupied(StripeCost.firstData(old.files().size()))));
    }
    Conversion plan = Planner.convert(from, to, occupied, Set.of());
    ledger.convert += plan.reads() + plan.writes();
    ledger.conversions += new HashSet<>(members).size();
    addStripes(to, members, decision);
  }

  private List<List<Integer>> addStripes(
      ErasureCode code, List<Integer> members, Decision decision) {
    List<List<Integer>> added = new ArrayList<>();
    int perGroup = decision.single() ? 1 : codes.stripesPerGroup(code);
    long group = 0;
    for (int at = 0; at < members.size(); at += code.dataCount()) {
      List<Integer> files =
          List.copyOf(members.subList(at, Math.min(members.size(), at + code.dataCount())));
      int slot = added.size() % perGroup;
      if (slot == 0) {
        group = perGroup > 1 ? ++lastId : 0;
      }
      StripeView view = view(code, files, decision.policy(), group, slot);
      stripes.put(view.id(), new Stripe(code, files, view));
      added.add(files);
    }
    changed.addAll(members);
    return added;
  }

  private StripeView view(
      ErasureCode code, List<Integer> files, String policy, long group, int slot) {
    List<StripeView.Member> members = new ArrayList<>();
    for (int position = 0; position < files.size(); position++) {
      members.add(new StripeView.Member(position, blockBytes, files.get(position) + 1, false));
    }
    return new StripeView(
        ++lastId,
        code.name(),
        policy,
        blockBytes,
        members,
        files.size() * blockBytes,
        0,
        StripeCost.of(code, files.size()).parities() * blockBytes,
        Set.of(),
        group,
        slot,
        nowMillis,
        0,
        Pin.NONE,
        Set.of());
  }

  /**
   * Counts a step: storage, repairs of the lost share, and opens while a share is absent.
   *
   * @param hot whether a file is one of those that are read most in the day
   */
  void count(int[] opens, boolean[] hot, double lost, double absent, Ledger ledger) {
    double stored = 0;
    double repair = 0;
    double repairOfReplicas = 0;
    double[] degraded = new double[blocks.length];
    for (Stripe stripe : stripes.values()) {
      int size = stripe.files().size();
      StripeCost cost = StripeCost.of(stripe.code(), size);
      stored += size + cost.parities();
      repair += cost.repair();
      for (int file : stripe.files()) {
        degraded[file] += (double) cost.degraded() / size;
      }
    }
    for (int file = 0; file < blocks.length; file++) {
      int replicated = blocks[file] - striped[file];
      stored += REPLICAS * replicated;
      repairOfReplicas += REPLICA_REPAIR * replicated;
      double absentOpens = absent * opens[file];
      ledger.addReads(
          absentOpens * blocks[file], absentOpens * (degraded[file] + replicated), hot[file]);
      ledger.degradedOfReplicas += absentOpens * replicated;
    }
    repair += repairOfReplicas;
    ledger.storedBlockHours += stored;
    ledger.repair += lost * repair;
    ledger.repairOfReplicas += lost * repairOfReplicas;
  }

  /** The share of a file's blocks that are in a code. */
  double shareIn(int file, String code) {
    long count = 0;
    for (Stripe stripe : stripes.values()) {
      if (stripe.code().name().equals(code)) {
        count += stripe.files().stream().filter(f -> f == file).count();
      }
    }
    return (double) count / blocks[file];
  }

  Map<Long, StripeView> stripeViews() {
    Map<Long, StripeView> all = new LinkedHashMap<>();
    stripes.forEach((id, stripe) -> all.put(id, stripe.view()));
    return all;
  }

  List<FileView> fileViews() {
    if (!changed.isEmpty()) {
      renew();
      changed.clear();
    }
    return List.of(views);
  }

  private void renew() {
    List<Set<Long>> ids = new ArrayList<>();
    double[] stored = new double[blocks.length];
    for (int file = 0; file < blocks.length; file++) {
      ids.add(new TreeSet<>());
    }
    for (Stripe stripe : stripes.values()) {
      for (int file : stripe.files()) {
        ids.get(file).add(stripe.view().id());
        stored[file] += (double) stripe.view().storedBytes() / stripe.files().size();
      }
    }
    for (int file : changed) {
      long replicated = (blocks[file] - striped[file]) * blockBytes;
      views[file] =
          new FileView(
              file + 1,
              files.get(file).path(),
              "o",
              "g",
              blocks[file] * blockBytes,
              files.get(file).writtenMillis(),
              false,
              blocks[file],
              striped[file],
              (long) stored[file] + REPLICAS * replicated,
              replicated,
              REPLICAS * replicated,
              List.copyOf(ids.get(file)),
              0,
              REPLICAS,
              Pin.NONE,
              0);
    }
  }
}
