package io.ebbfs.workloads.demo;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.coding.plan.ReadCost;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.testbed.client.StockProcess;
import io.ebbfs.workloads.demo.DataSet.Family;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;

/**
 * Times reads of lost blocks, by code: their only server is dead and nothing was repaired. All
 * timed reads of one family read equally many bytes. Each lost block counts the same, however often
 * the background reads it. Not thread-safe.
 */
final class DegradedReadTimer {
  private static final int BLOCKS_PER_CODE = 8;
  private static final int READS_PER_BLOCK = 3;
  private static final int FEW_BLOCKS = 4;
  private static final long LEAST_BYTES = 4 << 10;

  private final FileCodes files;
  private final long blockBytes;
  private final Random random;
  private final Map<String, List<Double>> millisByCode = new HashMap<>();
  private final Map<String, List<Double>> sourcesByCode = new HashMap<>();
  private final Map<Family, Long> bytesPerRead = new EnumMap<>(Family.class);

  /**
   * A data block without a live replica.
   *
   * @param sources how many blocks its content is decoded from, given what else the stripe has lost
   */
  private record LostBlock(String path, long offset, long bytes, int sources) {}

  DegradedReadTimer(FileCodes files, long blockBytes, Random random) {
    this.files = files;
    this.blockBytes = blockBytes;
    this.random = random;
  }

  /**
   * Reads some of the blocks that are lost now. A family is left out if one of its codes has none.
   *
   * @return how many data blocks are lost, by code
   */
  Map<String, Integer> measure(StockProcess client, List<StripeStatusProto> stripes)
      throws IOException {
    Map<String, Integer> lostByCode = new TreeMap<>();
    for (Family family : Family.values()) {
      List<LostBlock> fast = lost(stripes, family.codes().fast());
      List<LostBlock> compact = lost(stripes, family.codes().compact());
      lostByCode.put(family.codes().fast(), fast.size());
      lostByCode.put(family.codes().compact(), compact.size());
      countSources(family.codes().fast(), fast);
      countSources(family.codes().compact(), compact);
      long bytes = bytesPerRead.computeIfAbsent(family, f -> bytesInBoth(fast, compact));
      if (bytes < LEAST_BYTES) {
        bytesPerRead.remove(family); // nothing to compare yet
        continue;
      }
      time(client, family.codes().fast(), fast, (int) bytes);
      time(client, family.codes().compact(), compact, (int) bytes);
    }
    return lostByCode;
  }

  /** The median of the reads in a code; empty if there was no lost block of sufficient length. */
  OptionalDouble medianMillis(String code) {
    return median(millisByCode.getOrDefault(code, List.of()));
  }

  /**
   * The median, over all lost blocks in a code, of the blocks that one is decoded from; empty if
   * none was lost.
   */
  OptionalDouble medianSources(String code) {
    return median(sourcesByCode.getOrDefault(code, List.of()));
  }

  private void countSources(String code, List<LostBlock> lost) {
    lost.forEach(
        block ->
            sourcesByCode
                .computeIfAbsent(code, c -> new ArrayList<>())
                .add((double) block.sources()));
  }

  private static OptionalDouble median(List<Double> values) {
    List<Double> sorted = new ArrayList<>(values);
    Collections.sort(sorted);
    return sorted.isEmpty()
        ? OptionalDouble.empty()
        : OptionalDouble.of(sorted.get(sorted.size() / 2));
  }

  /**
   * A power of two that half of the blocks in the fast code reach, and a few blocks in the compact
   * code, where most blocks may be short; 0 without blocks.
   */
  private static long bytesInBoth(List<LostBlock> fast, List<LostBlock> compact) {
    long[] fastLengths = fast.stream().mapToLong(LostBlock::bytes).sorted().toArray();
    long[] compactLengths = compact.stream().mapToLong(LostBlock::bytes).sorted().toArray();
    if (fastLengths.length == 0 || compactLengths.length == 0) {
      return 0;
    }
    return Long.highestOneBit(
        Math.min(
            fastLengths[fastLengths.length / 2],
            compactLengths[Math.max(0, compactLengths.length - FEW_BLOCKS)]));
  }

  /** The data blocks without a live replica, in random order. */
  private List<LostBlock> lost(List<StripeStatusProto> stripes, String code) {
    int dataCount = Codes.byName(code).dataCount();
    List<LostBlock> lost = new ArrayList<>();
    for (StripeStatusProto stripe : stripes) {
      if (stripe.getStripe().getCode().equals(code)) {
        stripe.getStripe().getMembersList().stream()
            .filter(member -> member.getPosition() < dataCount && !member.getTombstone())
            .filter(member -> stripe.getLostPositionsList().contains(member.getPosition()))
            .forEach(member -> add(member, stripe, lost));
      }
    }
    Collections.shuffle(lost, random);
    return lost;
  }

  private void add(StripeMemberProto member, StripeStatusProto stripe, List<LostBlock> lost) {
    files
        .path(member.getOwnerId())
        .ifPresent(
            path ->
                lost.add(
                    new LostBlock(
                        path,
                        member.getOwnerIndex() * blockBytes,
                        member.getLengthBytes(),
                        sources(member, stripe))));
  }

  private static int sources(StripeMemberProto member, StripeStatusProto stripe) {
    ErasureCode code = Codes.byName(stripe.getStripe().getCode());
    Set<Integer> occupied =
        stripe.getStripe().getMembersList().stream()
            .map(StripeMemberProto::getPosition)
            .collect(Collectors.toSet());
    Set<Integer> unreadable = Set.copyOf(stripe.getLostPositionsList());
    return Planner.readPlan(code, occupied, unreadable, member.getPosition(), ReadCost.UNIFORM)
        .reads();
  }

  private void time(StockProcess client, String code, List<LostBlock> lost, int bytes)
      throws IOException {
    List<Double> millis = millisByCode.computeIfAbsent(code, c -> new ArrayList<>());
    for (LostBlock block :
        lost.stream().filter(b -> b.bytes() >= bytes).limit(BLOCKS_PER_CODE).toList()) {
      for (int i = 0; i < READS_PER_BLOCK; i++) {
        try {
          millis.add(client.readAt(block.path, block.offset, bytes).join().micros() / 1000.0);
        } catch (CompletionException e) {
          throw new IOException(
              "cannot read '%s' at %d: %s"
                  .formatted(block.path, block.offset, e.getCause().getMessage()),
              e);
        }
      }
    }
  }
}
