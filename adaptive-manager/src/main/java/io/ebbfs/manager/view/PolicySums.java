package io.ebbfs.manager.view;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.PackingCost;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.protocol.proto.ManagerProtos.ViewPackingSum;
import io.ebbfs.protocol.proto.ManagerProtos.ViewPolicySums;
import io.ebbfs.protocol.proto.ManagerProtos.ViewStateSum;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;

/**
 * Sums over all files and stripes of one policy, or over those that have none. Each file and stripe
 * adds to them, and is taken away again before it changes. Not thread-safe.
 */
public final class PolicySums {
  /** The key of the sums over what has no policy. */
  public static final String NO_POLICY = "";

  private final Map<String, PackingCost> packing = new TreeMap<>();
  private final Map<FileState, Count> states = new EnumMap<>(FileState.class);
  private long liveBytes;
  private long storedBytes;
  private long fastBytes;
  private long replicatedBytes;
  private long replicatedStoredBytes;
  private long positions;

  /** Files and their bytes. */
  public record Count(long files, long bytes) {
    static final Count NONE = new Count(0, 0);

    public Count plus(Count other) {
      return new Count(files + other.files, bytes + other.bytes);
    }
  }

  /** The sums by policy, of files and stripes that are all at hand. */
  public static Map<String, PolicySums> of(
      CodeRegistry codes,
      PolicySet policies,
      Collection<FileView> files,
      Map<Long, StripeView> stripes) {
    return of(codes, policies, files, List.of(), stripes);
  }

  /**
   * The sums by policy, of files and stripes that are all at hand.
   *
   * @param more files that do not count, but whose policies stripes may follow
   */
  public static Map<String, PolicySums> of(
      CodeRegistry codes,
      PolicySet policies,
      Collection<FileView> files,
      Collection<FileView> more,
      Map<Long, StripeView> stripes) {
    Map<String, PolicySums> sums = new HashMap<>();
    Map<Long, PolicyRule> ruleOfFile = new HashMap<>();
    for (FileView file : more) {
      file.policyOf(policies).ifPresent(rule -> ruleOfFile.put(file.id(), rule));
    }
    for (FileView file : files) {
      PolicyRule rule = file.policyOf(policies).orElse(null);
      if (rule != null) {
        ruleOfFile.put(file.id(), rule);
      }
      of(sums, rule).add(file, FileStates.of(file, rule, stripes::get), 1);
    }
    for (StripeView stripe : stripes.values()) {
      PolicyRule rule = PolicyOfStripe.find(policies, stripe, ruleOfFile::get).orElse(null);
      of(sums, rule).add(stripe, rule, codes, 1);
    }
    return sums;
  }

  static PolicySums of(Map<String, PolicySums> sums, PolicyRule rule) {
    return sums.computeIfAbsent(rule == null ? NO_POLICY : rule.name(), name -> new PolicySums());
  }

  /**
   * @param sign 1 to add, -1 to take away
   */
  void add(FileView file, FileState state, int sign) {
    replicatedBytes += sign * file.replicatedBytes();
    replicatedStoredBytes += sign * file.replicatedStoredBytes();
    states.merge(state, new Count(sign, sign * file.lengthBytes()), Count::plus);
  }

  /**
   * @param rule the policy of the stripe; null for none
   * @param sign 1 to add, -1 to take away
   */
  void add(StripeView stripe, PolicyRule rule, CodeRegistry codes, int sign) {
    liveBytes += sign * stripe.liveBytes();
    storedBytes += sign * stripe.storedBytes();
    positions += (long) sign * stripe.members().size();
    if (rule != null && !rule.isSingle() && stripe.code().equals(rule.family().fast())) {
      fastBytes += sign * stripe.liveBytes();
    }
    codes
        .find(stripe.code())
        .ifPresent(
            code ->
                packing.merge(
                    code.name(), packingCost(stripe, code).times(sign), PackingCost::plus));
    packing.remove(stripe.code(), PackingCost.NONE);
  }

  private static PackingCost packingCost(StripeView stripe, ErasureCode code) {
    return PackingCost.of(
        code,
        stripe.dataLengths(code.dataCount()).keySet(),
        stripe.liveBytes(),
        stripe.deadBytes(),
        stripe.parityBytes());
  }

  ViewPolicySums message(String policy) {
    ViewPolicySums.Builder message =
        ViewPolicySums.newBuilder()
            .setPolicy(policy)
            .setLiveBytes(liveBytes)
            .setStoredBytes(storedBytes)
            .setFastBytes(fastBytes)
            .setReplicatedBytes(replicatedBytes)
            .setReplicatedStoredBytes(replicatedStoredBytes)
            .setPositions(positions);
    states.forEach(
        (state, count) ->
            message.addStates(
                ViewStateSum.newBuilder()
                    .setState(state.name())
                    .setFiles(count.files)
                    .setBytes(count.bytes)));
    packing.forEach(
        (code, cost) ->
            message.addPacking(
                ViewPackingSum.newBuilder()
                    .setCode(code)
                    .setLiveBytes(cost.liveBytes())
                    .setOwnBytes(cost.ownBytes())
                    .setPaddingBytes(cost.paddingBytes())
                    .setUnfilledBytes(cost.unfilledBytes())
                    .setDeadBytes(cost.deadBytes())));
    return message.build();
  }

  static PolicySums of(ViewPolicySums message) {
    PolicySums sums = new PolicySums();
    sums.liveBytes = message.getLiveBytes();
    sums.storedBytes = message.getStoredBytes();
    sums.fastBytes = message.getFastBytes();
    sums.replicatedBytes = message.getReplicatedBytes();
    sums.replicatedStoredBytes = message.getReplicatedStoredBytes();
    sums.positions = message.getPositions();
    for (ViewStateSum sum : message.getStatesList()) {
      sums.states.put(FileState.valueOf(sum.getState()), new Count(sum.getFiles(), sum.getBytes()));
    }
    for (ViewPackingSum sum : message.getPackingList()) {
      sums.packing.put(
          sum.getCode(),
          new PackingCost(
              sum.getLiveBytes(),
              sum.getOwnBytes(),
              sum.getPaddingBytes(),
              sum.getUnfilledBytes(),
              sum.getDeadBytes()));
    }
    return sums;
  }

  PolicySums copy() {
    PolicySums copy = new PolicySums();
    copy.packing.putAll(packing);
    copy.states.putAll(states);
    copy.liveBytes = liveBytes;
    copy.storedBytes = storedBytes;
    copy.fastBytes = fastBytes;
    copy.replicatedBytes = replicatedBytes;
    copy.replicatedStoredBytes = replicatedStoredBytes;
    copy.positions = positions;
    return copy;
  }

  /** Encoded logical bytes. */
  public long liveBytes() {
    return liveBytes;
  }

  /** Of the stripes: live data, deleted data and parities. */
  public long storedBytes() {
    return storedBytes;
  }

  /** Whether the stripes store more than a bound allows; never without a bound. */
  public boolean exceeds(OptionalDouble bound) {
    return bound.isPresent() && storedBytes > bound.getAsDouble() * liveBytes;
  }

  /** The logical bytes in the fast code; 0 with a single code. */
  public long fastBytes() {
    return fastBytes;
  }

  /** Logical bytes in no stripe. */
  public long replicatedBytes() {
    return replicatedBytes;
  }

  /** Of all replicas of these bytes. */
  public long replicatedStoredBytes() {
    return replicatedStoredBytes;
  }

  /** Blocks of the stripes, parities and tombstones included. */
  public long positions() {
    return positions;
  }

  /** The costs of packing by code. */
  public Map<String, PackingCost> packing() {
    return Map.copyOf(packing);
  }

  /** Files in any state. */
  long files() {
    return states.values().stream().mapToLong(Count::files).sum();
  }

  /** Files in a state, as far as it depends on neither time nor heat. */
  public Count files(FileState state) {
    return states.getOrDefault(state, Count.NONE);
  }
}
