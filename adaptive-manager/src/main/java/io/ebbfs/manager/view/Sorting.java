package io.ebbfs.manager.view;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.view.ViewStore.StripeIndex;
import io.ebbfs.protocol.proto.ManagerProtos.ViewPlacement;
import io.ebbfs.protocol.proto.ManagerProtos.ViewPolicySums;
import io.ebbfs.protocol.proto.ManagerProtos.ViewSumsRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.LongFunction;
import java.util.function.Predicate;

/**
 * The rows of the view by one set of policies: the sums by policy, and a part of each index, whose
 * keys begin with the number of the sorting. A row that is in the sums and indexes holds its {@link
 * ViewPlacement}, so that it can be taken out of them although the policies or other rows have
 * changed. Not thread-safe.
 */
final class Sorting {
  /** Changes when there are other indexes: a view of an earlier release is sorted anew. */
  private static final String INDEXES =
      "due, fast, worn of all policies, other, pinned, leaving, client-striped\n";

  private final long number;
  private final ViewStore store;
  private final CodeRegistry codes;
  private final Map<String, PolicySums> sums = new HashMap<>();
  private final Map<String, NewFiles> newFiles = new HashMap<>();
  private PolicySet policies;

  /** A sorting that holds no row yet. */
  Sorting(long number, PolicySet policies, ViewStore store, CodeRegistry codes) {
    this.number = number;
    this.policies = policies;
    this.store = store;
    this.codes = codes;
  }

  /** A sorting whose rows and indexes are in the store. */
  static Sorting restore(ViewSumsRow row, PolicySet policies, ViewStore store, CodeRegistry codes) {
    Sorting sorting = new Sorting(row.getSorting(), policies, store, codes);
    row.getSumsList().forEach(of -> sorting.sums.put(of.getPolicy(), PolicySums.of(of)));
    return sorting;
  }

  ViewSumsRow message() {
    List<ViewPolicySums> all = new ArrayList<>();
    sums.forEach((policy, of) -> all.add(of.message(policy)));
    return ViewSumsRow.newBuilder()
        .setSorting(number)
        .setSortedBy(sortedBy(policies))
        .addAllSums(all)
        .build();
  }

  long number() {
    return number;
  }

  PolicySet policies() {
    return policies;
  }

  /** What of the policies tells where files and stripes belong. */
  static String sortedBy(PolicySet policies) {
    StringBuilder text = new StringBuilder(INDEXES);
    for (PolicyRule rule : policies.rules()) {
      text.append(rule.name())
          .append(rule.files().show())
          .append(rule.showCodes())
          .append(rule.minFileBytes())
          .append(rule.convertsClientStriped() ? " with client-striped files" : "")
          .append('\n');
    }
    return text.toString();
  }

  /** Takes over policies by which files and stripes belong where they are; false for others. */
  boolean takeOver(PolicySet others) {
    boolean same = sortedBy(others).equals(sortedBy(policies));
    policies = same ? others : policies;
    return same;
  }

  /** The placement of a row in this sorting; null if the row is not in it. */
  ViewPlacement placementIn(List<ViewPlacement> placements) {
    for (ViewPlacement placement : placements) {
      if (placement.getSorting() == number) {
        return placement;
      }
    }
    return null;
  }

  private PolicyRule ruleOf(ViewPlacement placement) {
    return placement.hasPolicy() ? policies.named(placement.getPolicy()).orElse(null) : null;
  }

  private ViewPlacement.Builder placement(PolicyRule rule) {
    ViewPlacement.Builder placement = ViewPlacement.newBuilder().setSorting(number);
    if (rule != null) {
      placement.setPolicy(rule.name());
    }
    return placement;
  }

  /** What the keys of the indexes begin with. */
  private String key(String policy) {
    return ViewStore.prefixOf(number) + policy;
  }

  private PolicySums sumsOf(PolicyRule rule) {
    return PolicySums.of(sums, rule);
  }

  // ---- files ------------------------------------------------------------------------------------

  ViewPlacement enter(FileView file, LongFunction<StripeView> stripes) {
    PolicyRule rule = file.policyOf(policies).orElse(null);
    FileState state = FileStates.of(file, rule, stripes);
    sumsOf(rule).add(file, state, 1);
    if (state == FileState.WAITING) {
      store.putDue(key(rule.name()), file.modifiedMillis(), file.id(), file.lengthBytes());
      newFilesOf(rule.name()).note(file.modifiedMillis(), file.lengthBytes(), 1);
    }
    return placement(rule).setState(state.name()).build();
  }

  void leave(FileView file, ViewPlacement placement) {
    FileState state = FileState.valueOf(placement.getState());
    sumsOf(ruleOf(placement)).add(file, state, -1);
    if (state == FileState.WAITING) {
      String policy = placement.getPolicy();
      store.deleteDue(key(policy), file.modifiedMillis(), file.id());
      newFilesOf(policy).note(file.modifiedMillis(), file.lengthBytes(), -1);
    }
  }

  // ---- stripes ----------------------------------------------------------------------------------

  /**
   * @param files gives a file by its id, or null: a stripe whose policy is gone follows its files
   */
  ViewPlacement enter(StripeView stripe, LongFunction<FileView> files) {
    PolicyRule rule =
        PolicyOfStripe.find(
                policies,
                stripe,
                id -> {
                  FileView file = files.apply(id);
                  return file == null ? null : file.policyOf(policies).orElse(null);
                })
            .orElse(null);
    sumsOf(rule).add(stripe, rule, codes, 1);
    indexOf(stripe, rule)
        .ifPresent(index -> store.putStripe(index, key(rule.name()), groupOf(stripe), stripe.id()));
    price(stripe, rule).ifPresent(price -> store.putWorn(key(rule.name()), price, stripe.id()));
    if (isMisplaced(stripe, rule)) {
      store.putPinned(key(rule.name()), stripe.id());
    }
    return placement(rule).build();
  }

  void leave(StripeView stripe, ViewPlacement placement) {
    PolicyRule rule = ruleOf(placement);
    sumsOf(rule).add(stripe, rule, codes, -1);
    indexOf(stripe, rule)
        .ifPresent(
            index -> store.deleteStripe(index, key(rule.name()), groupOf(stripe), stripe.id()));
    price(stripe, rule).ifPresent(price -> store.deleteWorn(key(rule.name()), price, stripe.id()));
    if (isMisplaced(stripe, rule)) {
      store.deletePinned(key(rule.name()), stripe.id());
    }
  }

  /** Whether a stripe has no policy of its own, and follows its files. */
  boolean followsFiles(StripeView stripe) {
    return policies.named(stripe.policy()).isEmpty();
  }

  /**
   * Whether a stripe is in the one code of its policy and pinned to the other one, or holds blocks
   * that are pinned to replicas.
   */
  private static boolean isMisplaced(StripeView stripe, PolicyRule rule) {
    if (rule != null && !stripe.leaving().isEmpty()) {
      return true;
    }
    if (rule == null || rule.isSingle() || stripe.pin() == Pin.NONE) {
      return false;
    }
    return stripe
        .code()
        .equals(stripe.pin() == Pin.FAST ? rule.family().compact() : rule.family().fast());
  }

  /** What it costs to free space of a stripe, in thousandths; empty if none is to be freed. */
  private OptionalLong price(StripeView stripe, PolicyRule rule) {
    if (rule == null || !rule.family().has(stripe.code())) {
      return OptionalLong.empty(); // without a policy, or on its way into another code
    }
    OptionalDouble price =
        codes
            .find(stripe.code())
            .map(code -> Wear.price(stripe, code))
            .orElse(OptionalDouble.empty());
    return price.isEmpty()
        ? OptionalLong.empty()
        : OptionalLong.of((long) (1_000 * price.getAsDouble()));
  }

  private static Optional<StripeIndex> indexOf(StripeView stripe, PolicyRule rule) {
    if (rule == null) {
      return Optional.empty();
    }
    if (!rule.family().has(stripe.code())) {
      return Optional.of(StripeIndex.OTHER_CODE);
    }
    boolean fast = !rule.isSingle() && stripe.code().equals(rule.family().fast());
    return fast ? Optional.of(StripeIndex.FAST) : Optional.empty();
  }

  private static long groupOf(StripeView stripe) {
    return stripe.groupId() != 0 ? stripe.groupId() : -stripe.id();
  }

  // ---- reads ------------------------------------------------------------------------------------

  /** The number of files in this sorting. */
  long files() {
    return sums.values().stream().mapToLong(PolicySums::files).sum();
  }

  /** A copy of the sums by policy. */
  Map<String, PolicySums> sums() {
    Map<String, PolicySums> copies = new HashMap<>();
    sums.forEach((policy, of) -> copies.put(policy, of.copy()));
    return copies;
  }

  /** Visits the files of a policy that have to be encoded, the one that was written first first. */
  void eachDue(String policy, ViewStore.DueVisitor visitor) {
    eachDueFrom(policy, 0, 0, visitor);
  }

  /** The same from a file on; files of one time come by their ids. */
  void eachDueFrom(String policy, long modifiedMillis, long fileId, ViewStore.DueVisitor visitor) {
    store.eachDueFrom(key(policy), modifiedMillis, fileId, visitor);
  }

  /** Visits stripes of a policy from a group on. */
  void eachStripe(
      StripeIndex index, String policy, long fromGroup, ViewStore.StripeVisitor visitor) {
    store.eachStripe(index, key(policy), fromGroup, visitor);
  }

  /** Visits the stripes of a policy that are not as their files are pinned. */
  void eachPinned(String policy, long afterId, Predicate<Long> visit) {
    store.eachPinned(key(policy), afterId, visit);
  }

  /** The first stripes of a policy with space to free, the cheapest first. */
  List<Long> worn(String policy, int most) {
    return store.worn(key(policy), most);
  }

  /** The stripes in the group of a stripe; empty if it cannot merge with them. */
  List<Long> groupOf(StripeView stripe, ViewPlacement placement) {
    List<Long> ids = new ArrayList<>();
    long group = groupOf(stripe);
    indexOf(stripe, ruleOf(placement))
        .ifPresent(
            index ->
                eachStripe(
                    index, placement.getPolicy(), group, (of, id) -> of == group && ids.add(id)));
    return ids;
  }

  /** Counts the files that have to be encoded and were written after a time. */
  PolicySums.Count newerThan(String policy, long millis) {
    return newFilesOf(policy).newerThan(millis);
  }

  private NewFiles newFilesOf(String policy) {
    return newFiles.computeIfAbsent(policy, NewFiles::new);
  }

  /** Counts files that were written after a time that moves on; so each file is visited once. */
  private final class NewFiles {
    private final String policy;
    private long sinceMillis = Long.MAX_VALUE;
    private PolicySums.Count count = PolicySums.Count.NONE;

    NewFiles(String policy) {
      this.policy = policy;
    }

    void note(long modifiedMillis, long bytes, int sign) {
      if (modifiedMillis > sinceMillis) {
        count = count.plus(new PolicySums.Count(sign, sign * bytes));
      }
    }

    PolicySums.Count newerThan(long millis) {
      boolean onwards = millis >= sinceMillis;
      PolicySums.Count[] sum = {onwards ? count : PolicySums.Count.NONE};
      store.eachDue(
          key(policy),
          onwards ? sinceMillis : millis,
          (modified, id, bytes) -> {
            if (onwards && modified > millis) {
              return false;
            }
            int sign = onwards ? -1 : 1;
            sum[0] = sum[0].plus(new PolicySums.Count(sign, sign * bytes));
            return true;
          });
      sinceMillis = millis;
      count = sum[0];
      return count;
    }
  }
}
