package io.ebbfs.workloads.codes;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.ebbfs.coding.CodeFamily;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.reliability.MarkovModel;
import io.ebbfs.workloads.codes.CodeFigures.ConversionFigures;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** {@code ebb codes}: what every code costs and survives, and what converting costs. */
public final class CodesMain {
  private static final String USAGE =
      """
      usage: ebb codes [NAME ...] [--kernels] [--json]
        NAME       codes to show, as PC(2x5), LRC(12,2,2), RS(10,4) (default: those in common use)
        --kernels  instead: GB/s of every kernel, of ISA-L and jerasure alone, and of a memory copy
        --json     the same for programs
      """;

  private CodesMain() {}

  public static void main(String[] arguments) throws IOException {
    boolean json = false;
    boolean kernels = false;
    List<ErasureCode> codes = new ArrayList<>();
    for (String argument : arguments) {
      if (argument.equals("--json")) {
        json = true;
      } else if (argument.equals("--kernels")) {
        kernels = true;
      } else if (argument.startsWith("-")) {
        System.err.print("ebb codes: unknown option '" + argument + "'\n" + USAGE);
        System.exit(2);
      } else {
        codes.add(named(argument));
      }
    }
    List<ErasureCode> shown = codes.isEmpty() ? Codes.known() : codes;
    if (kernels) {
      System.exit(KernelSpeeds.run(shown, json));
    }
    print(shown, json);
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
      System.err.println("ebb codes: " + e.getMessage());
      System.exit(2);
      throw e;
    }
  }

  private static void print(List<ErasureCode> codes, boolean json) throws IOException {
    List<CodeFigures> figures = codes.stream().map(CodeFigures::of).toList();
    List<ConversionFigures> conversions =
        Codes.families().stream()
            .filter(family -> shown(family, codes))
            .flatMap(family -> CodeFigures.conversions(family).stream())
            .toList();
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
        "code          data+parity  overhead   blocks read per repair    read+write per  survives  fatal share   MTTF of a   kernel GB/s");
    System.out.println(
        "                                       data   average  worst   lost data block      any   of one more  stripe, years   enc / dec");
    figures.forEach(
        f ->
            System.out.println(
                line(f)
                    + "   "
                    + kernels.map(measured -> measured.speeds(f.code())).orElse("-")));
    System.out.printf(
        Locale.ROOT,
        "%-14s%-13s%8s%11s%10s%7s%18s%9s%14s%15.1e%n",
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
        "conversion                              blocks read  of them data  written");
    conversions.forEach(c -> System.out.println(line(c)));
  }

  private static boolean shown(CodeFamily family, List<ErasureCode> codes) {
    return codes.stream()
        .anyMatch(c -> c.name().equals(family.fast()) || c.name().equals(family.compact()));
  }

  private static double replicas() {
    return MarkovModel.HACFS.meanTimeToLossYearsOfReplicas(3);
  }

  private static String line(CodeFigures f) {
    return String.format(
        Locale.ROOT,
        "%-14s%-13s%8.3f%11.2f%10.2f%7d%18.2f%9d%13.3f%%%15.1e",
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
        "%-38s%13d%14d%9d",
        "%d x %s -> %d x %s".formatted(c.stripesFrom(), c.from(), c.stripesTo(), c.to()),
        c.reads(),
        c.dataReads(),
        c.writes());
  }
}
