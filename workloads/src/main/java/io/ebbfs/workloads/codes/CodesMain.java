package io.ebbfs.workloads.codes;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.reliability.MarkovModel;
import io.ebbfs.settings.ConfigException;
import io.ebbfs.settings.codes.CodesFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** {@code ebb codes}: what every code costs and survives, and what converting costs. */
public final class CodesMain {
  private static final String USAGE =
      """
      usage: ebb codes [NAME ...] [--codes FILE] [--kernels | --simulate] [--json]
        NAME       codes to show, as PC(2x5), LRC(12,2,2), RS(10,4) (default: those in common use)
        --codes    a file that defines codes of your own, such as conf/codes.yaml
        --kernels  instead: GB/s of every kernel, of ISA-L and jerasure alone, and of a memory copy
        --simulate instead: the Monte Carlo simulation beside the model, and on a cluster
        --json     the same for programs
      """;

  /** Sizes that only the table of conversions shows, beside the codes in common use. */
  private static final List<String> MERGED_TOO = List.of("RS(30,4)", "RS(4,2)", "RS(12,2)");

  private CodesMain() {}

  public static void main(String[] arguments) throws IOException {
    boolean json = false;
    boolean kernels = false;
    boolean simulate = false;
    List<String> names = new ArrayList<>();
    Iterator<String> rest = List.of(arguments).iterator();
    while (rest.hasNext()) {
      String argument = rest.next();
      switch (argument) {
        case "--json" -> json = true;
        case "--kernels" -> kernels = true;
        case "--simulate" -> simulate = true;
        case "--codes" -> define(rest);
        default -> {
          if (argument.startsWith("-")) {
            refuse("unknown option '" + argument + "'\n" + USAGE);
          }
          names.add(argument);
        }
      }
    }
    List<ErasureCode> shown =
        names.isEmpty() ? Codes.known() : names.stream().map(CodesMain::named).toList();
    if (kernels) {
      System.exit(KernelSpeeds.run(shown, json));
    }
    if (simulate) {
      SimulatedReliability.print(shown, 1, System.out);
      return;
    }
    print(shown, conversions(shown, names.isEmpty()), json);
  }

  private static void define(Iterator<String> rest) {
    if (!rest.hasNext()) {
      refuse("--codes needs a file\n" + USAGE);
    }
    try {
      CodesFile.define(Path.of(rest.next()));
    } catch (ConfigException e) {
      refuse(e.getMessage());
    }
  }

  private static void refuse(String message) {
    System.err.println("ebb codes: " + message.strip());
    System.exit(2);
  }

  /**
   * Between the codes shown and the other halves of their pairs; with further sizes if there is a
   * shortcut. A code that is another one by a second name only converts within its pair.
   */
  private static List<ConversionFigures> conversions(List<ErasureCode> shown, boolean all) {
    Set<ErasureCode> codes = new LinkedHashSet<>(shown);
    for (ErasureCode code : shown) {
      Codes.familyOf(code.name())
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
      MERGED_TOO.forEach(name -> codes.add(Codes.byName(name)));
    }
    return ConversionFigures.of(List.copyOf(codes)).stream()
        .filter(c -> c.pair() != null || isFirst(c, secondNames) || !c.encodedAnew() && isMerge(c))
        .toList();
  }

  private static boolean isFirst(ConversionFigures c, Set<String> secondary) {
    return !secondary.contains(c.from()) && !secondary.contains(c.to());
  }

  /** Of a further size: only within its kind, as RS(10,4) to RS(30,4). */
  private static boolean isMerge(ConversionFigures c) {
    boolean byParitiesAlone = c.dataReads() == 0 || c.stripesFrom() == 1 && c.stripesTo() > 1;
    return byParitiesAlone
        && (MERGED_TOO.contains(c.from()) || MERGED_TOO.contains(c.to()))
        && parities(c.from()) == parities(c.to());
  }

  private static int parities(String code) {
    return Codes.byName(code).parityCount();
  }

  private static Optional<KernelSpeeds.Measurement> kernels(List<ErasureCode> codes) {
    try {
      return KernelSpeeds.measureShortly(codes);
    } catch (IOException e) {
      System.err.println("ebb codes: the kernels were not measured: " + e.getMessage());
      return Optional.empty();
    }
  }

  private static ErasureCode named(String name) {
    try {
      return Codes.byName(name);
    } catch (IllegalArgumentException e) {
      refuse(e.getMessage());
      throw e;
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
        "code            data+parity  overhead   blocks read per repair    read+write per  survives  fatal share   MTTF of a   kernel GB/s");
    System.out.println(
        "                                         data   average  worst   lost data block      any   of one more  stripe, years   enc / dec");
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
        "conversion of full stripes                  blocks read  of them data  written  parities kept");
    conversions.stream().filter(c -> !c.encodedAnew()).forEach(c -> System.out.println(line(c)));
    System.out.println();
    System.out.println("encoded anew, since no parities help to read less than the data");
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
