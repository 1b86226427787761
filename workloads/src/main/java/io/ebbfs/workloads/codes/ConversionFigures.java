package io.ebbfs.workloads.codes;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.Conversion;
import io.ebbfs.coding.plan.Planner;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Blocks read and written when full stripes of one code become stripes of another.
 *
 * @param pair the pair of codes that this is a conversion of, or null
 * @param dataReads how many of the blocks read are data
 * @param keptParities parities that stay as they are
 * @param encodedAnew true if there is no shortcut: all data is read
 */
record ConversionFigures(
    String pair,
    String from,
    String to,
    int stripesFrom,
    int stripesTo,
    int reads,
    int dataReads,
    int writes,
    int keptParities,
    boolean encodedAnew) {

  /** The conversions between these codes: those of pairs first, then by the blocks moved. */
  static List<ConversionFigures> of(CodeRegistry registry, List<ErasureCode> codes) {
    List<ConversionFigures> figures = new ArrayList<>();
    for (ErasureCode from : codes) {
      for (ErasureCode to : codes) {
        if (!from.equals(to) && !from.fingerprint().equals(to.fingerprint())) {
          of(registry, from, to).ifPresent(figures::add);
        }
      }
    }
    figures.sort(
        Comparator.comparing(ConversionFigures::encodedAnew)
            .thenComparing(f -> f.pair == null)
            .thenComparing(f -> f.reads >= f.stripesFrom * registry.byName(f.from).dataCount()));
    return figures;
  }

  private static Optional<ConversionFigures> of(
      CodeRegistry registry, ErasureCode from, ErasureCode to) {
    return Planner.stripes(from, to).map(stripes -> of(registry, from, to, stripes[0], stripes[1]));
  }

  private static ConversionFigures of(
      CodeRegistry registry, ErasureCode from, ErasureCode to, int stripesFrom, int stripesTo) {
    List<Integer> full = IntStream.range(0, from.dataCount()).boxed().toList();
    Conversion conversion =
        Planner.convert(from, to, Collections.nCopies(stripesFrom, full), java.util.Set.of());
    return new ConversionFigures(
        registry
            .familyOf(from.name())
            .filter(family -> family.has(to.name()))
            .map(family -> family.name())
            .orElse(null),
        from.name(),
        to.name(),
        stripesFrom,
        stripesTo,
        conversion.reads(),
        conversion.dataReads(),
        conversion.writes(),
        conversion.kept().size() - stripesFrom * from.dataCount(),
        conversion.reencoded().isPresent());
  }
}
