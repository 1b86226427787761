package io.ebbfs.workloads.experiment;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.Section;
import io.ebbfs.common.config.YamlFile;
import io.ebbfs.fault.Timetable;
import io.ebbfs.testbed.network.ShapedNetwork;
import io.ebbfs.workloads.experiment.Experiment.Cluster;
import io.ebbfs.workloads.experiment.Experiment.Data;
import io.ebbfs.workloads.experiment.Experiment.Measure;
import io.ebbfs.workloads.experiment.Experiment.Policy;
import io.ebbfs.workloads.experiment.Experiment.Prices;
import io.ebbfs.workloads.experiment.Experiment.Variant;
import io.ebbfs.workloads.traffic.Profile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;

/** Reads an experiment's file. It reports all mistakes at once, each with its line. */
public final class ExperimentFile {
  static final String TRACE = "trace";

  private static final int MAX_FILES = 100_000;

  // The defaults of policies.yaml.
  private static final double STORAGE_PRICE = 0.1;
  private static final double READER_PRICE = 1;

  private final Section top;
  private final Section quick;
  private final boolean useQuick;
  private final Path directory;
  private final Path trace;
  private long halfLifeMillis;

  private ExperimentFile(Section top, boolean useQuick, Path directory, Path trace) {
    this.top = top;
    this.trace = trace;
    // The section is checked without --quick too.
    this.quick = top.section("quick");
    this.useQuick = useQuick;
    this.directory = directory;
  }

  /**
   * Reads a file.
   *
   * @param quick whether the values below its key {@code quick} replace the others
   * @throws ConfigException names each line that is wrong, and the remedy
   */
  public static Experiment read(Path file, boolean quick) throws ConfigException {
    return read(file, quick, null);
  }

  /**
   * The same with another trace.
   *
   * @param trace replaces the trace that the file names; null to keep it
   */
  public static Experiment read(Path file, boolean quick, Path trace) throws ConfigException {
    return YamlFile.parse(
        file,
        YamlFile.text(file),
        top ->
            new ExperimentFile(top, quick, file.toAbsolutePath().getParent(), trace)
                .experiment(file.getFileName().toString().replaceFirst("\\.ya?ml$", "")));
  }

  private Experiment experiment(String name) {
    Data data = data();
    Policy policy = policy();
    Cluster cluster = cluster();
    Experiment read =
        new Experiment(
            name,
            top.text("title").orElse(name),
            top.integer("seed", 1, 0, Integer.MAX_VALUE),
            cluster,
            data,
            policy,
            systems(data),
            measure(data),
            Timetable.read(
                top,
                "faults",
                new Timetable.Shape(cluster.servers(), cluster.disks(), cluster.racks())));
    quick.end();
    return read;
  }

  /** The section of a key: the one below {@code quick}, if it counts and has the key. */
  private Layers layers(String key) {
    return new Layers(top.section(key), quick.section(key), useQuick);
  }

  /** Two sections with the same keys. Values of one replace those of the other. */
  private record Layers(Section base, Section over, boolean useOver) {
    Section of(String key) {
      boolean there = over.has(key);
      base.has(key);
      return there && useOver ? over : base;
    }

    void end() {
      base.end();
      over.end();
    }
  }

  private Cluster cluster() {
    Layers layers = layers("cluster");
    Cluster cluster =
        new Cluster(
            layers.of("servers").integer("servers", 11, 4, 40),
            layers.of("disks").integer("disks", 6, 1, 20),
            layers.of("racks").integer("racks", 1, 1, 20),
            rate(layers.of("rate")),
            layers.of("blockSize").sizeBytes("blockSize", 1 << 20),
            layers.of("deadAfter").durationMillis("deadAfter", 3000));
    layers.end();
    return cluster;
  }

  private static String rate(Section section) {
    String rate = section.text("rate").orElse("100mbit");
    if (!ShapedNetwork.isRate(rate)) {
      section.problem(
          "rate", "'%s' is no rate of a link".formatted(rate), "write 100mbit or 1gbit");
    }
    return rate;
  }

  private Data data() {
    Layers layers = layers("data");
    List<String> workloads = new ArrayList<>();
    for (Section.Entry entry : layers.of("workloads").texts("workloads")) {
      boolean known =
          entry.text().equals(TRACE)
              || Profile.all().stream().anyMatch(p -> p.name().equals(entry.text()));
      if (!known || workloads.contains(entry.text())) {
        top.problem(
            entry.line(),
            "'%s' is no workload, or named twice".formatted(entry.text()),
            "choose of CC1, CC2, CC3, CC4, FB and trace, each once");
      }
      workloads.add(entry.text());
    }
    if (workloads.isEmpty()) {
      top.problem("data", "no workloads", "write 'workloads: [CC1]' below data");
    }
    Optional<Path> named = layers.of("trace").text("trace").map(directory::resolve);
    if (trace != null) {
      named = Optional.of(trace);
    }
    Data data =
        new Data(
            workloads,
            layers.of("files").integer("files", 60, 20, MAX_FILES),
            layers.of("meanSize").sizeBytes("meanSize", 4 << 20),
            layers.of("smallFiles").number("smallFiles", 0, 1).orElse(0),
            layers.of("epochs").integer("epochs", 3, 1, 100),
            layers.of("epoch").durationMillis("epoch", 30_000),
            layers.of("readsPerFile").integer("readsPerFile", 8, 1, 1000),
            named,
            layers.of("traceSpeed").number("traceSpeed", 1, 1e6).orElse(240),
            layers.of("traceDivisor").number("traceDivisor", 1, 1e9).orElse(1e6));
    layers.end();
    return data;
  }

  private Policy policy() {
    Layers layers = layers("policy");
    Policy policy =
        new Policy(
            layers.of("writeColdAfter").durationMillis("writeColdAfter", 5000),
            layers.of("fillWait").durationMillis("fillWait", 5000),
            readHot(layers),
            layers.of("hysteresis").number("hysteresis", 1, 100).orElse(2),
            layers.of("memory").durationMillis("memory", 600_000),
            layers.of("waitWhileRead").durationMillis("waitWhileRead", 60_000));
    halfLifeMillis = layers.of("halfLife").durationMillis("halfLife", 20_000);
    layers.end();
    return policy;
  }

  private static String readHot(Layers layers) {
    Section section = layers.of("readHotPerFile");
    OptionalDouble perFile = section.number("readHotPerFile", 1e-6, 1e6);
    OptionalDouble perMiB = layers.of("readHotPerMiB").number("readHotPerMiB", 1e-6, 1e6);
    if (perFile.isPresent() && perMiB.isPresent()) {
      section.problem("readHotPerFile", "readHotPerMiB is there as well", "keep one of the two");
    }
    return perFile.isPresent()
        ? "{perFile: %s}".formatted(perFile.getAsDouble())
        : "{perMiB: %s}".formatted(perMiB.orElse(1));
  }

  private List<Variant> systems(Data data) {
    List<Variant> systems = new ArrayList<>();
    Set<String> names = new HashSet<>();
    Set<String> inQuick = new HashSet<>();
    quick.texts("systems").forEach(entry -> inQuick.add(entry.text()));
    for (Section section : top.sections("systems")) {
      Variant system = system(section, data);
      if (!names.add(system.name())) {
        section.problem("name", "a second '" + system.name() + "'", "give each its own name");
      }
      if (!useQuick || inQuick.isEmpty() || inQuick.contains(system.name())) {
        systems.add(system);
      }
    }
    quick
        .texts("systems")
        .forEach(
            entry -> {
              if (!names.contains(entry.text())) {
                quick.problem(
                    entry.line(),
                    "no system '%s'".formatted(entry.text()),
                    "name some of " + names);
              }
            });
    if (names.isEmpty()) {
      top.problem("systems", "no systems", "write '- {name: rs63, code: RS(6,3)}' below systems");
    }
    return systems;
  }

  private Variant system(Section section, Data data) {
    String name = section.text("name").orElse("");
    if (!name.matches("[A-Za-z0-9][A-Za-z0-9._@=-]*")) {
      section.problem("name", "'%s' is no name".formatted(name), "write letters, digits, . - @ =");
    }
    Optional<String> family = section.text("family");
    Optional<String> code = section.text("code");
    List<String> families =
        CodeRegistry.builtIn().families().stream().map(CodeFamily::name).toList();
    if (family.isPresent() && !families.contains(family.get())) {
      section.problem("family", "no family '" + family.get() + "'", "choose one of " + families);
      family = Optional.empty();
    }
    if (code.isPresent()) {
      try {
        Codes.byName(code.get());
      } catch (IllegalArgumentException e) {
        section.problem("code", e.getMessage(), "see ./ebb codes");
        code = Optional.empty();
      }
    }
    if (family.isPresent() && code.isPresent()) {
      section.problem("code", "both a family and a code", "keep one; none: three replicas");
    }
    OptionalDouble bound = section.number("storageBound", 1, 3);
    if (bound.isPresent() && family.isEmpty()) {
      section.problem("storageBound", "a bound without a family", "only pairs of codes adapt");
    }
    Variant system =
        new Variant(
            name,
            section.text("title").orElse(name),
            family,
            code,
            bound.isPresent() ? Optional.of(bound.getAsDouble()) : Optional.empty(),
            prices(section),
            section.durationMillis("halfLife", halfLifeMillis),
            section.number("smallFiles", 0, 1).orElse(data.smallFiles()));
    section.end();
    return system;
  }

  /** The prices of a system with {@code readHot: auto}; empty for a threshold. */
  private static Optional<Prices> prices(Section section) {
    boolean auto = section.isText("readHot", "auto");
    if (auto && section.text("family").isEmpty()) {
      section.problem(
          "readHot", "'readHot: auto' without a family", "only pairs of codes adapt: name one");
    }
    if (!auto && section.has("readHot")) {
      section.problem(
          "readHot",
          "a system has no threshold of its own",
          "write 'readHot: auto', or readHotPerFile or readHotPerMiB below policy");
    }
    if (!auto && section.has("prices")) {
      section.problem(
          "prices", "prices have no effect with a threshold", "write 'readHot: auto' beside them");
    }
    Section values = section.section("prices");
    Prices prices =
        new Prices(
            values.number("storage", 0, 1e6).orElse(STORAGE_PRICE),
            values.number("reader", 0, 1e6).orElse(READER_PRICE));
    values.end();
    return auto ? Optional.of(prices) : Optional.empty();
  }

  private Measure measure(Data data) {
    Layers layers = layers("measure");
    Optional<String> grep = layers.of("grep").text("grep");
    if (grep.isPresent() && !data.workloads().contains(grep.get())) {
      top.problem(
          "measure",
          "grep: no workload '%s'".formatted(grep.get()),
          "name one of " + data.workloads());
    }
    Measure measure =
        new Measure(
            layers.of("repetitions").integer("repetitions", 5, 0, 100),
            layers.of("serverLosses").integer("serverLosses", 5, 0, 100),
            layers.of("readsPerCode").integer("readsPerCode", 8, 1, 1000),
            layers.of("diskLosses").integer("diskLosses", 5, 0, 100),
            layers.of("readersDuringRepair").integer("readersDuringRepair", 2, 0, 16),
            layers.of("convertDuringFaults").flag("convertDuringFaults", false),
            grep,
            layers.of("recorded").flag("recorded", false));
    layers.end();
    return measure;
  }
}
