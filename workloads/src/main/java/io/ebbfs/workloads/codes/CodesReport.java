package io.ebbfs.workloads.codes;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.reliability.MarkovModel;
import java.io.IOException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The costs of codes and of the conversions between them, as a table or as JSON. */
public final class CodesReport {
  /** Sizes that only the table of conversions shows, beside the codes in common use. */
  private static final List<String> MERGED_TOO = List.of("RS(30,4)", "RS(4,2)", "RS(12,2)");

  private CodesReport() {}

  /**
   * Prints the costs of codes, with the speeds of the kernels if these can be measured here.
   *
   * @param known the built-in codes, and perhaps codes of a file
   * @param shown the codes, in the order of the rows
   * @param all whether these are all known codes; then merges of further sizes are shown as well
   */
  public static void print(CodeRegistry known, List<ErasureCode> shown, boolean all, boolean json)
      throws IOException {
    print(shown, conversions(known, shown, all), json);
  }

  /**
   * Conversions between the shown codes and their partners, and to further sizes if there is a
   * shortcut. A code that equals another code by a second name converts within its pair only.
   */
  private static List<ConversionFigures> conversions(
      CodeRegistry registry, List<ErasureCode> shown, boolean all) {
    Set<ErasureCode> codes = new LinkedHashSet<>(shown);
    for (ErasureCode code : shown) {
      registry
          .familyOf(code.name())
          .ifPresent(family -> codes.addAll(List.of(family.fastCode(), family.compactCode())));
    }
    Set<String> fingerprints = new HashSet<>();
    Set<String> secondNames = new HashSet<>(all ? MERGED_TOO : List.of());
    for (ErasureCode code : codes) {
      if (!fingerprints.add(code.fingerprint())) {
        secondNames.add(code.name());
      }
    }
    if (all) {
      MERGED_TOO.forEach(name -> codes.add(registry.byName(name)));
    }
    return ConversionFigures.of(registry, List.copyOf(codes)).stream()
        .filter(
            c ->
                c.pair() != null
                    || isFirst(c, secondNames)
                    || !c.encodedAnew() && isMerge(registry, c))
        .toList();
  }

  private static boolean isFirst(ConversionFigures c, Set<String> secondary) {
    return !secondary.contains(c.from()) && !secondary.contains(c.to());
  }

  /** A code of a further size converts within its kind only, as RS(10,4) to RS(30,4). */
  private static boolean isMerge(CodeRegistry registry, ConversionFigures c) {
    boolean byParitiesAlone = c.dataReads() == 0 || c.stripesFrom() == 1 && c.stripesTo() > 1;
    return byParitiesAlone
        && (MERGED_TOO.contains(c.from()) || MERGED_TOO.contains(c.to()))
        && registry.byName(c.from()).parityCount() == registry.byName(c.to()).parityCount();
  }

  private static Optional<KernelSpeeds.Measurement> kernels(List<ErasureCode> codes) {
    try {
      return KernelSpeeds.measureShortly(codes);
    } catch (IOException e) {
      System.err.println("the kernels were not measured: " + e.getMessage());
      return Optional.empty();
    }
  }

  private static void print(
      List<ErasureCode> codes, List<ConversionFigures> conversions, boolean json)
      throws IOException {
    List<CodeFigures> figures = codes.stream().map(CodeFigures::of).toList();
    Optional<KernelSpeeds.Measurement> kernels = kernels(codes);
    if (json) {
      Map<String, Object> all = new LinkedHashMap<>();
      all.put("codes", figures);
      all.put("conversions", conversions);
      all.put("threeReplicasMeanTimeToLossYears", replicas());
      all.put("kernels", kernels.orElse(null));
      ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
      System.out.println(mapper.writeValueAsString(all));
      return;
    }
    System.out.println(
        "code            data+parity  overhead   blocks read per repair    read+write per  survives"
            + "  fatal share   MTTF of a   kernel GB/s");
    System.out.println(
        "                                         data   average  worst   lost data block      any "
            + "  of one more  stripe, years   enc / dec");
    figures.forEach(
        f ->
            System.out.println(
                line(f) + "   " + kernels.map(measured -> measured.speeds(f.code())).orElse("-")));
    System.out.printf(
        Locale.ROOT,
        "%-16s%-13s%8s%11s%10s%7s%18s%9s%14s%15.1e%n",
        "3 replicas",
        "1+2",
        "3.000",
        "1",
        "1",
        "1",
        "2.00",
        "2",
        "100%",
        replicas());
    kernels.ifPresent(measured -> System.out.println(measured.footnote()));
    System.out.println();
    System.out.println(
        "conversion of full stripes                  blocks read  of them data  written  parities"
            + " kept");
    conversions.stream().filter(c -> !c.encodedAnew()).forEach(c -> System.out.println(line(c)));
    System.out.println();
    System.out.println("encoded anew: all data is read, because parities do not help to read less");
    conversions.stream().filter(c -> c.encodedAnew()).forEach(c -> System.out.println(line(c)));
  }

  private static double replicas() {
    return MarkovModel.HACFS.meanTimeToLossYearsOfReplicas(3);
  }

  private static String line(CodeFigures f) {
    return String.format(
        Locale.ROOT,
        "%-16s%-13s%8.3f%11.2f%10.2f%7d%18.2f%9d%13.3f%%%15.1e",
        f.code(),
        f.dataBlocks() + "+" + f.parityBlocks(),
        f.overhead(),
        f.repairReadsData(),
        f.repairReadsAverage(),
        f.repairReadsWorst(),
        f.movedPerLostDataBlock(),
        f.tolerance(),
        100 * f.fatalShareOfOneMore(),
        f.meanTimeToLossYears());
  }

  private static String line(ConversionFigures c) {
    return String.format(
        Locale.ROOT,
        "%-42s%13d%14d%9d%15d%s",
        "%d x %s -> %d x %s".formatted(c.stripesFrom(), c.from(), c.stripesTo(), c.to()),
        c.reads(),
        c.dataReads(),
        c.writes(),
        c.keptParities(),
        c.pair() == null ? "" : "   pair " + c.pair());
  }
}
