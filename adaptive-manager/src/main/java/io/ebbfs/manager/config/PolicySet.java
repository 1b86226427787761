package io.ebbfs.manager.config;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.tolerance.MinimumServers;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.NearestWord;
import io.ebbfs.common.config.Section;
import io.ebbfs.common.config.YamlFile;
import io.ebbfs.manager.economics.PairCost;
import io.ebbfs.manager.economics.Prices;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * All policies, read from {@code policies.yaml}. A file has at most one policy. Immutable.
 *
 * @param storageBound most stored bytes per logical byte of the encoded data of the whole cluster;
 *     empty for none
 */
public record PolicySet(List<PolicyRule> rules, OptionalDouble storageBound) {
  /** The file in the configuration directory. */
  public static final String FILE = "policies.yaml";

  private static final long WAIT_WHILE_READ_MILLIS = 2L * 86_400_000;
  private static final Pattern HOURS = Pattern.compile("(\\d{1,2})-(\\d{1,2})");
  private static final Pattern OWNER = Pattern.compile("[^\\s:/*?,]+");
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");

  public PolicySet {
    rules = List.copyOf(rules);
  }

  /** Policies without a bound for the whole cluster. */
  public PolicySet(List<PolicyRule> rules) {
    this(rules, OptionalDouble.empty());
  }

  /** The names of the policies that another set lacks, or has with other values. */
  public Set<String> namesChangedIn(PolicySet other) {
    return rules.stream()
        .map(PolicyRule::name)
        .filter(name -> !named(name).equals(other.named(name)))
        .collect(Collectors.toSet());
  }

  /** The same policies without {@link PolicyRule#maxBytesPerRun}. */
  public PolicySet withoutRunLimits() {
    return new PolicySet(rules.stream().map(PolicyRule::withoutRunLimit).toList(), storageBound);
  }

  public static PolicySet load(Path directory, CodeRegistry codes) throws ConfigException {
    Path path = directory.resolve(FILE);
    return parse(path, YamlFile.text(path), codes);
  }

  /**
   * Reads policies from a text.
   *
   * @param path of the file that the text comes from, for messages
   */
  public static PolicySet parse(Path path, String text, CodeRegistry codes) throws ConfigException {
    return YamlFile.parse(path, text, top -> read(top, codes));
  }

  /** The policy of a file: of those whose criteria the file meets, the most specific. */
  public Optional<PolicyRule> forFile(String path, String owner, String group) {
    PolicyRule best = null;
    int highest = FileCriteria.NO_MATCH;
    for (PolicyRule rule : rules) {
      int rank = rule.files().rank(path, owner, group);
      if (rank > highest) {
        best = rule;
        highest = rank;
      }
    }
    return Optional.ofNullable(best);
  }

  public Optional<PolicyRule> named(String name) {
    return rules.stream().filter(rule -> rule.name().equals(name)).findFirst();
  }

  private static PolicySet read(Section top, CodeRegistry codes) {
    List<PolicyRule> rules = new ArrayList<>();
    Map<String, Integer> names = new HashMap<>();
    List<Claim> claims = new ArrayList<>();
    for (Section section : top.sections("policies")) {
      PolicyRule rule = readRule(section, codes, claims);
      section.end();
      Integer first = names.putIfAbsent(rule.name(), section.line());
      if (first != null && !rule.name().isEmpty()) {
        section.problem(
            "name",
            "a second policy is named '" + rule.name() + "', the first is in line " + first,
            "give each policy a name of its own");
      }
      rules.add(rule);
    }
    if (rules.isEmpty()) {
      top.problem("policies", "there is no policy", "add at least one entry below 'policies:'");
    }
    return new PolicySet(rules, readClusterBound(top, rules));
  }

  private static OptionalDouble readClusterBound(Section top, List<PolicyRule> rules) {
    OptionalDouble bound = top.number("storageBound", 1, 100);
    ErasureCode least =
        rules.stream()
            .map(rule -> rule.family().compactCode())
            .min(Comparator.comparingDouble(ErasureCode::overhead))
            .orElse(null);
    if (bound.isPresent() && least != null && bound.getAsDouble() < least.overhead()) {
      top.problem(
          "storageBound",
          String.format(
              Locale.ROOT,
              "storageBound %s of the cluster is below what its policies can reach (%s stores"
                  + " %.3f)",
              bound.getAsDouble(),
              least.name(),
              least.overhead()),
          String.format(
              Locale.ROOT,
              "write at least %.2f, or give a policy a code that stores less",
              Math.ceil(least.overhead() * 100 + 1) / 100));
    }
    return bound;
  }

  /** A pattern, its policy and all criteria of this policy, and its line in the file. */
  private record Claim(PathPattern pattern, String policy, FileCriteria files, int line) {}

  private static PolicyRule readRule(Section section, CodeRegistry codes, List<Claim> claims) {
    String name = readName(section);
    CodeFamily family = readCodes(section, codes);
    ReadHot hot = readHot(section, family);
    return new PolicyRule(
        name,
        readFiles(section, name, claims),
        family,
        readBound(section, codes, name, family),
        section.durationMillis("writeColdAfter", 3_600_000),
        hot,
        readHysteresis(section, hot),
        section.sizeBytes("minFileSize", 0),
        section.durationMillis("fillWait", 600_000),
        readWaitWhileRead(section, hot),
        readMaxBytes(section),
        readServers(section, name, family),
        readPace(section),
        readPrices(section, hot),
        section.flag("releaseWhenWritten", false),
        readClientStriped(section));
  }

  private static boolean readClientStriped(Section section) {
    String word = section.text("clientStriped").orElse("leave");
    if (!word.equals("leave") && !word.equals("convert")) {
      section.problem(
          "clientStriped",
          "'clientStriped: " + word + "' is unknown",
          "write leave, or convert for files that their clients have encoded to become like all others");
    }
    return word.equals("convert");
  }

  private static String readName(Section section) {
    String name = section.text("name").orElse("");
    if (!NAME.matcher(name).matches()) {
      section.problem(
          "name",
          name.isEmpty() ? "a policy has no name" : "'" + name + "' cannot name a policy",
          "write 'name:' and letters, digits, '.', '_' or '-'");
    }
    return name;
  }

  private static FileCriteria readFiles(Section section, String name, List<Claim> claims) {
    Map<PathPattern, Integer> paths = readPaths(section, "paths", "/data");
    FileCriteria files =
        new FileCriteria(
            List.copyOf(paths.keySet()),
            List.copyOf(readPaths(section, "exclude", "/data/tmp").keySet()),
            readNames(section, "owners"),
            readNames(section, "groups"));
    paths.forEach(
        (pattern, line) -> {
          Claim claim = new Claim(pattern, name, files, line);
          claims.stream().filter(c -> conflict(c, claim)).forEach(c -> refuse(section, c, claim));
          claims.add(claim);
        });
    if (section.texts("paths").isEmpty()) {
      section.problem("paths", "policy '" + name + "' has no paths", "write 'paths: [/data]'");
    }
    return files;
  }

  /** The patterns of a list, and their lines. */
  private static Map<PathPattern, Integer> readPaths(Section section, String key, String example) {
    Map<PathPattern, Integer> patterns = new LinkedHashMap<>();
    for (Section.Entry entry : section.texts(key)) {
      try {
        patterns.put(PathPattern.of(entry.text()), entry.line());
      } catch (IllegalArgumentException e) {
        section.problem(
            entry.line(),
            (key.equals("paths") ? "path " : key + " ") + e.getMessage(),
            "write an absolute path or glob, such as " + example);
      }
    }
    return patterns;
  }

  private static Set<String> readNames(Section section, String key) {
    Set<String> names = new TreeSet<>();
    for (Section.Entry entry : section.texts(key)) {
      if (!OWNER.matcher(entry.text()).matches()) {
        section.problem(
            entry.line(),
            "'%s' of %s is not a name".formatted(entry.text(), key),
            "write names as 'hdfs dfs -ls' shows them, without '*', such as '%s: [etl]'"
                .formatted(key));
      }
      names.add(entry.text());
    }
    if (section.has(key) && names.isEmpty()) {
      section.problem(
          key,
          key + " names nobody, so the policy would have no files",
          "write a name such as '%s: [etl]', or leave %s out for all".formatted(key, key));
    }
    return names;
  }

  private static boolean conflict(Claim one, Claim other) {
    return !one.policy.equals(other.policy)
        && one.pattern.conflictsWith(other.pattern)
        && one.files.sharesRankWith(other.files);
  }

  private static void refuse(Section section, Claim first, Claim second) {
    boolean owned = !second.files.owners().isEmpty() || !second.files.groups().isEmpty();
    section.problem(
        second.line,
        "path '%s' of policy '%s' overlaps '%s' of policy '%s' (line %d) and neither is the longer match%s"
            .formatted(
                second.pattern,
                second.policy,
                first.pattern,
                first.policy,
                first.line,
                owned ? ", and both name the same owners or groups" : ""),
        owned
            ? "make one of the two paths more specific, or name different owners or groups"
            : "make one of the two more specific");
  }

  private static CodeFamily readCodes(Section section, CodeRegistry codes) {
    Optional<String> code = section.text("code");
    if (code.isEmpty()) {
      return readFamily(section, codes);
    }
    for (String key : List.of("family", "fastCode", "compactCode")) {
      if (section.has(key)) {
        section.problem(
            key,
            "both a single code and '" + key + "' are given",
            "keep 'code:' for data that is never converted, or '" + key + ":' without it");
      }
    }
    try {
      return CodeFamily.single(codes.byName(code.get()));
    } catch (IllegalArgumentException e) {
      List<String> known = codes.known().stream().map(ErasureCode::name).toList();
      section.problem(
          "code",
          e.getMessage(),
          NearestWord.to(code.get(), known)
              .map(near -> "did you mean '" + near + "'?")
              .orElse("write one of " + String.join(", ", known)));
      return codes.families().get(0);
    }
  }

  private static CodeFamily readFamily(Section section, CodeRegistry codes) {
    Optional<String> family = section.text("family");
    Optional<String> fast = section.text("fastCode");
    Optional<String> compact = section.text("compactCode");
    List<String> names = codes.families().stream().map(CodeFamily::name).toList();
    if (family.isPresent() && (fast.isPresent() || compact.isPresent())) {
      section.problem(
          "family", "both a family and explicit codes are given", "keep one of the two");
    } else if (family.isPresent() && !names.contains(family.get())) {
      section.problem(
          "family",
          "unknown code family '" + family.get() + "'",
          NearestWord.to(family.get(), names)
              .map(near -> "did you mean '" + near + "'?")
              .orElse("valid families are " + String.join(", ", names)));
    } else if (family.isPresent()) {
      return codes.family(family.get());
    } else if (fast.isPresent() && compact.isPresent()) {
      return readPair(section, codes, fast.get(), compact.get());
    } else {
      section.problem(
          section.line(),
          "a policy has no codes",
          "write 'family:' and one of "
              + String.join(", ", names)
              + ", or both 'fastCode:' and 'compactCode:', or a single 'code:' that is kept");
    }
    return codes.families().get(0);
  }

  private static CodeFamily readPair(
      Section section, CodeRegistry codes, String fast, String compact) {
    for (CodeFamily pair : codes.families()) {
      if (pair.fast().equals(fast) && pair.compact().equals(compact)) {
        return pair;
      }
    }
    List<String> pairs =
        codes.families().stream().map(f -> f.fast() + " and " + f.compact()).toList();
    section.problem(
        "fastCode",
        "there is no conversion between " + fast + " and " + compact,
        "pairs are " + String.join("; ", pairs));
    return codes.families().get(0);
  }

  private static OptionalDouble readBound(
      Section section, CodeRegistry codes, String name, CodeFamily family) {
    OptionalDouble bound = section.number("storageBound", 1, 100);
    if (family.isSingle() && section.has("storageBound")) {
      section.problem(
          "storageBound",
          String.format(
              Locale.ROOT,
              "policy '%s' has a storageBound and the single code %s, which always stores %.3f",
              name,
              family.fast(),
              family.fastCode().overhead()),
          "leave storageBound out, or write 'family:' instead of 'code:'");
      return OptionalDouble.empty();
    }
    ErasureCode compact = family.compactCode();
    if (bound.isPresent() && bound.getAsDouble() < compact.overhead()) {
      CodeFamily least =
          codes.families().stream()
              .min(Comparator.comparingDouble(f -> f.compactCode().overhead()))
              .orElseThrow();
      section.problem(
          "storageBound",
          String.format(
              Locale.ROOT,
              "storageBound %s of policy '%s' is below what %s can reach (%.3f)",
              bound.getAsDouble(),
              name,
              compact.name(),
              compact.overhead()),
          String.format(
              Locale.ROOT,
              "write at least %.2f, or take another family (%s reaches %.3f)",
              Math.ceil(compact.overhead() * 100 + 1) / 100,
              least.name(),
              least.compactCode().overhead()));
    }
    return bound;
  }

  /** "auto" or nothing, {@code perMiB} or {@code perFile}. */
  private static ReadHot readHot(Section section, CodeFamily family) {
    if (family.isSingle() && !section.has("readHot")) {
      return ReadHot.NEVER;
    }
    if (family.isSingle() && section.isText("readHot", "never")) {
      return ReadHot.NEVER;
    }
    if (!section.has("readHot") || section.isText("readHot", "auto")) {
      if (!family.isSingle() && PairCost.of(family).readsSaved() <= 0) {
        section.problem(
            "readHot",
            "with 'readHot: auto', no reads are worth the fast code of "
                + family.name()
                + ": a degraded read costs as much in either code",
            "write a threshold such as 'readHot: {perFile: 5}', or the single 'code: "
                + family.compact()
                + "'");
      }
      return ReadHot.AUTO;
    }
    Section hot = section.section("readHot");
    OptionalDouble perMib = hot.number("perMiB", 0, 1e9);
    OptionalDouble perFile = hot.number("perFile", 0, 1e9);
    hot.end();
    if (hot.has("perMiB") && hot.has("perFile")) {
      hot.problem("perFile", "readHot has both perMiB and perFile", "keep one of the two");
    }
    if (perFile.isPresent()) {
      return new ReadHot(ReadHot.Unit.PER_FILE, perFile.getAsDouble());
    }
    if (perMib.isEmpty() && !hot.has("perMiB") && !hot.has("perFile")) {
      section.problem(
          "readHot",
          "readHot has neither perMiB nor perFile",
          "write 'readHot: auto', or 'readHot: {perMiB: 0.5}'");
    }
    return new ReadHot(ReadHot.Unit.PER_MIB, perMib.orElse(1));
  }

  private static double readHysteresis(Section section, ReadHot hot) {
    if (section.has("hysteresis") && hot.unit() == ReadHot.Unit.AUTO) {
      section.problem(
          "hysteresis",
          "hysteresis has no effect with 'readHot: auto', which weighs costs",
          "leave it out, or write a threshold such as 'readHot: {perFile: 5}'");
    }
    return section.number("hysteresis", 1, 100).orElse(2);
  }

  private static long readWaitWhileRead(Section section, ReadHot hot) {
    if (section.has("waitWhileRead") && hot.unit() != ReadHot.Unit.AUTO) {
      section.problem(
          "waitWhileRead",
          "waitWhileRead has no effect with a threshold or a single code",
          "write 'readHot: auto' and a family, or leave it out");
    }
    return section.durationMillis("waitWhileRead", WAIT_WHILE_READ_MILLIS);
  }

  private static Pace readPace(Section section) {
    long bytes = section.sizeBytes("conversionBytesPerDay", -1);
    if (bytes == 0) {
      section.problem(
          "conversionBytesPerDay",
          "conversionBytesPerDay is 0: nothing would be converted for its heat",
          "write a size such as 1TiB, or leave it out for no limit");
    }
    return new Pace(
        section.durationMillis("minimumStay", 0),
        bytes < 0 ? OptionalLong.empty() : OptionalLong.of(bytes),
        section.text("conversionHours").flatMap(text -> readHours(section, text)));
  }

  /** Two hours such as "22-6". */
  private static Optional<Pace.Hours> readHours(Section section, String text) {
    Matcher matcher = HOURS.matcher(text);
    if (matcher.matches()) {
      int from = Integer.parseInt(matcher.group(1));
      int to = Integer.parseInt(matcher.group(2));
      if (from < 24 && to <= 24 && from != to) {
        return Optional.of(new Pace.Hours(from, to));
      }
    }
    section.problem(
        "conversionHours",
        "'conversionHours: " + text + "' does not name hours of the day",
        "write two hours from 0 to 24, such as 22-6 for the eight hours from 22:00 on");
    return Optional.empty();
  }

  private static Prices readPrices(Section section, ReadHot hot) {
    if (section.has("prices") && hot.unit() != ReadHot.Unit.AUTO) {
      section.problem(
          "prices",
          "prices have no effect with a threshold",
          "write 'readHot: auto', or leave prices out");
    }
    Section prices = section.section("prices");
    Prices read =
        new Prices(
            prices.number("storage", 0, 1e6).orElse(Prices.DEFAULT.storage()),
            prices.number("reader", 0, 1e6).orElse(Prices.DEFAULT.reader()));
    prices.end();
    return read;
  }

  private static long readMaxBytes(Section section) {
    long bytes = section.sizeBytes("maxBytesPerRun", 10L << 30);
    if (bytes < 1) {
      section.problem(
          "maxBytesPerRun",
          "maxBytesPerRun is 0: nothing would ever be converted",
          "write a size such as 10GiB");
    }
    return bytes;
  }

  private static int readServers(Section section, String name, CodeFamily family) {
    int needed =
        Math.max(MinimumServers.of(family.fastCode()), MinimumServers.of(family.compactCode()));
    int asked = section.integer("minServers", needed, 1, 1_000_000);
    if (asked < needed) {
      section.problem(
          "minServers",
          "minServers "
              + asked
              + " of policy '"
              + name
              + "' is less than its codes need to survive"
              + " the loss of a server ("
              + needed
              + ")",
          "write at least " + needed + ", or leave it out");
    }
    return asked;
  }
}
