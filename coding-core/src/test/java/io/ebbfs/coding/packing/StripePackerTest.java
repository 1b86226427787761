package io.ebbfs.coding.packing;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

class StripePackerTest {
  @Provide
  Arbitrary<ErasureCode> codes() {
    return Arbitraries.of(Codes.builtIn());
  }

  @Property(tries = 300)
  void longestFirstIntoAsFewStripesAsPossible(
      @ForAll("codes") ErasureCode code,
      @ForAll @Size(max = 100) List<@LongRange(min = 1, max = 1000) Long> lengths) {
    List<PackedStripe> stripes = StripePacker.pack(code, lengths);
    assertThat(stripes).hasSize((lengths.size() + code.dataCount() - 1) / code.dataCount());
    assertThat(stripes.stream().limit(Math.max(0, stripes.size() - 1)))
        .allMatch(stripe -> stripe.blocks() == code.dataCount());
    List<Long> packed = new ArrayList<>();
    stripes.forEach(stripe -> packed.addAll(stripe.lengths().values()));
    assertThat(packed)
        .isSortedAccordingTo(java.util.Comparator.reverseOrder())
        .containsExactlyInAnyOrderElementsOf(lengths);
  }

  @Example
  void aGridIsFilledWithTheFewestRowsAndColumns() {
    ErasureCode code = Codes.byName("PC(6x5)");
    assertThat(StripePacker.positionsFor(code, 4)).containsExactly(0, 1, 5, 6);
    PackedStripe four = StripePacker.pack(code, List.of(10L, 10L, 10L, 10L)).get(0);
    assertThat(four.parityBytes()).isEqualTo(50);
    PackedStripe row = PackedStripe.of(code, Map.of(0, 10L, 1, 10L, 2, 10L, 3, 10L));
    assertThat(row.parityBytes()).isEqualTo(60);
    assertThat(four.storesAtMost(9.0 / 4)).isTrue();
    assertThat(four.storesAtMost(2.2)).isFalse();
  }

  @Property(tries = 200)
  void noExchangeOfSimilarBlocksStoresMoreThanForecast(
      @ForAll("codes") ErasureCode code,
      @ForAll @Size(min = 1, max = 60) List<@LongRange(min = 900, max = 1000) Long> lengths,
      @ForAll @IntRange(min = 1) int seed) {
    List<PackedStripe> stripes = StripePacker.pack(code, lengths);
    List<Long> most = StripePacker.mostParityBytes(stripes);
    List<SortedMap<Integer, Long>> exchanged = new ArrayList<>();
    stripes.forEach(stripe -> exchanged.add(new TreeMap<>(stripe.lengths())));
    Random random = new Random(seed);
    for (int i = 0; i < 200; i++) {
      exchange(any(exchanged, random), any(exchanged, random), random);
    }
    for (int s = 0; s < stripes.size(); s++) {
      assertThat(PackedStripe.of(code, exchanged.get(s)).parityBytes())
          .isLessThanOrEqualTo(most.get(s));
      assertThat(stripes.get(s).parityBytes())
          .isLessThanOrEqualTo(most.get(s))
          .isGreaterThanOrEqualTo((long) (most.get(s) * 0.97));
    }
  }

  @Property(tries = 50)
  void theForecastIsExactForBlocksOfOneLength(
      @ForAll("codes") ErasureCode code, @ForAll @IntRange(min = 1, max = 100) int blocks) {
    List<PackedStripe> stripes =
        StripePacker.pack(code, java.util.Collections.nCopies(blocks, 64L << 20));
    assertThat(StripePacker.mostParityBytes(stripes))
        .isEqualTo(stripes.stream().map(PackedStripe::parityBytes).toList());
  }

  private static <T> T any(List<T> list, Random random) {
    return list.get(random.nextInt(list.size()));
  }

  private static void exchange(
      SortedMap<Integer, Long> one, SortedMap<Integer, Long> other, Random random) {
    int p = any(List.copyOf(one.keySet()), random);
    int q = any(List.copyOf(other.keySet()), random);
    long a = one.get(p);
    long b = other.get(q);
    if (StripePacker.lengthClass(a) == StripePacker.lengthClass(b)) {
      one.put(p, b);
      other.put(q, a);
    }
  }
}
