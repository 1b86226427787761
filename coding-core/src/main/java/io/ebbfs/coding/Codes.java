package io.ebbfs.coding;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * All codes by name: those that a name describes, and those that a user defined at the start of the
 * process ({@link #define}). Thread safe; a code is built and checked once, and never changes.
 */
public final class Codes {
  public static final String PC_FAST = "PC(2x5)";
  public static final String PC_COMPACT = "PC(6x5)";
  public static final String LRC_FAST = "LRC(12,6,2)";
  public static final String LRC_COMPACT = "LRC(12,2,2)";
  public static final String RS_FAST = "RS(6,3)";
  public static final String RS_COMPACT = "RS(12,3)";

  /** RS(6,3) itself, by the name that pairs it with {@link #RS_LRC_COMPACT}. */
  public static final String RS_LRC_FAST = "RS-LRC(6,1,2)";

  /** What two stripes of RS(6,3) make that keep their plain sums as local parities. */
  public static final String RS_LRC_COMPACT = "RS-LRC(12,2,2)";

  private static final List<String> KNOWN =
      List.of(
          PC_FAST,
          PC_COMPACT,
          LRC_FAST,
          LRC_COMPACT,
          RS_FAST,
          RS_COMPACT,
          RS_LRC_COMPACT,
          "RS(10,4)");
  private static final List<CodeFamily> FAMILIES =
      List.of(
          new CodeFamily("product", PC_FAST, PC_COMPACT, 3),
          new CodeFamily("lrc", LRC_FAST, LRC_COMPACT, 1),
          new CodeFamily("rs", RS_FAST, RS_COMPACT, 2),
          new CodeFamily("rs-lrc", RS_LRC_FAST, RS_LRC_COMPACT, 2));

  private static final String NUMBER = "(\\d{1,3})";
  private static final Map<Pattern, Function<int[], ErasureCode>> BUILDERS = builders();
  private static final Pattern USER_NAME = Pattern.compile("[A-Za-z][A-Za-z0-9_.,()-]{0,39}");

  private static final Map<String, ErasureCode> BUILT = new ConcurrentHashMap<>();
  // What users defined, in their order; replaced as a whole.
  private static volatile Defined defined = new Defined(Map.of(), List.of());

  private record Defined(Map<String, ErasureCode> codes, List<CodeFamily> families) {}

  private Codes() {}

  private static Map<Pattern, Function<int[], ErasureCode>> builders() {
    String two = "\\(" + NUMBER + "," + NUMBER + "\\)";
    String three = "\\(" + NUMBER + "," + NUMBER + "," + NUMBER + "\\)";
    Map<Pattern, Function<int[], ErasureCode>> builders = new LinkedHashMap<>();
    builders.put(
        Pattern.compile("PC\\(" + NUMBER + "x" + NUMBER + "\\)"),
        n -> ProductCodes.build(n[0], n[1]));
    builders.put(Pattern.compile("LRC" + three), n -> LrcCodes.build(n[0], n[1], n[2]));
    builders.put(Pattern.compile("RS" + two), n -> RsCodes.build(n[0], n[1]));
    builders.put(Pattern.compile("RS-LRC" + three), n -> LrcCodes.ofReedSolomon(n[0], n[1], n[2]));
    builders.put(Pattern.compile("XOR\\(" + NUMBER + ",1\\)"), n -> GeneralCodes.xor(n[0]));
    return builders;
  }

  /**
   * The code of this name.
   *
   * @throws IllegalArgumentException if there is none; the message lists what there is
   */
  public static ErasureCode byName(String name) {
    ErasureCode own = defined.codes().get(name);
    if (own != null) {
      return own;
    }
    ErasureCode built = BUILT.get(name);
    return built != null ? built : BUILT.computeIfAbsent(name, Codes::build);
  }

  /** The codes in common use, and those that users defined. Other sizes exist by name too. */
  public static List<ErasureCode> known() {
    List<ErasureCode> known = new ArrayList<>();
    KNOWN.forEach(name -> known.add(byName(name)));
    known.addAll(defined.codes().values());
    return known;
  }

  /** The codes that users defined. */
  public static List<ErasureCode> userDefined() {
    return List.copyOf(defined.codes().values());
  }

  /** All pairs of a fast and a compact code; those that users defined come last. */
  public static List<CodeFamily> families() {
    return defined.families().isEmpty() ? FAMILIES : joined(FAMILIES, defined.families());
  }

  /** The pair that this code is one half of; empty for a code that is not converted. */
  public static Optional<CodeFamily> familyOf(String codeName) {
    return families().stream().filter(f -> f.has(codeName)).findFirst();
  }

  /**
   * The pair of this name.
   *
   * @throws IllegalArgumentException if there is none; the message lists what there is
   */
  public static CodeFamily family(String familyName) {
    return families().stream()
        .filter(f -> f.name().equals(familyName))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "unknown code family \""
                        + familyName
                        + "\"; known: "
                        + families().stream().map(CodeFamily::name).toList()));
  }

  /**
   * A code of a user's own, proven; {@link #define} makes it known.
   *
   * @param tolerance any so many lost blocks must decode; at least 1
   * @param parityRows a row per parity: its coefficients over the data
   * @throws IllegalArgumentException if it does not survive what it claims; the message names the
   *     losses that do not decode
   */
  public static ErasureCode ofRows(String name, int tolerance, List<byte[]> parityRows) {
    checkUserName(name);
    checkRows(name, parityRows);
    checkTolerance(name, tolerance, parityRows.size());
    return ToleranceCheck.proven(
        GeneralCodes.build(name, "custom", tolerance, parityRows),
        "claim a lower tolerance or change the coefficients");
  }

  /**
   * A code that a name describes, under a user's own name and with the tolerance that the user
   * claims; as {@link #ofRows} otherwise.
   */
  public static ErasureCode named(String name, int tolerance, String described) {
    checkUserName(name);
    ErasureCode base = build(described);
    checkTolerance(name, tolerance, base.parityCount());
    ErasureCode code = base.renamed(name, tolerance);
    return tolerance <= base.tolerance()
        ? code
        : ToleranceCheck.proven(
            code, "claim a lower tolerance; " + described + " has " + base.tolerance());
  }

  /**
   * Makes codes and pairs of a user known. To be called once, when the process starts; the same
   * definitions may be given again.
   *
   * @throws IllegalArgumentException if a name is taken by something else, or a pair does not fit
   */
  public static synchronized void define(List<ErasureCode> codes, List<CodeFamily> pairs) {
    Map<String, ErasureCode> allCodes = new LinkedHashMap<>(defined.codes());
    for (ErasureCode code : codes) {
      ErasureCode before = allCodes.putIfAbsent(code.name(), code);
      if (before != null && !before.sameAs(code)) {
        throw new IllegalArgumentException(
            code + " is defined already, and otherwise; a code never changes: take another name");
      }
    }
    List<CodeFamily> allPairs = new ArrayList<>(families());
    for (CodeFamily pair : pairs) {
      if (!allPairs.contains(pair)) {
        checkPair(pair, allCodes, allPairs);
        allPairs.add(pair);
      }
    }
    defined =
        new Defined(
            java.util.Collections.unmodifiableMap(allCodes),
            List.copyOf(allPairs.subList(FAMILIES.size(), allPairs.size())));
  }

  private static void checkPair(
      CodeFamily pair, Map<String, ErasureCode> own, List<CodeFamily> others) {
    String what = "pair " + pair.name() + ": ";
    ErasureCode fast = own.containsKey(pair.fast()) ? own.get(pair.fast()) : byName(pair.fast());
    ErasureCode compact =
        own.containsKey(pair.compact()) ? own.get(pair.compact()) : byName(pair.compact());
    if (fast.equals(compact) || compact.dataCount() != pair.groupSize() * fast.dataCount()) {
      throw new IllegalArgumentException(
          "%sits compact code must be another one, with a multiple of the data of %s (%d); %s has %d"
              .formatted(what, fast, fast.dataCount(), compact, compact.dataCount()));
    }
    if (compact.overhead() >= fast.overhead()) {
      throw new IllegalArgumentException(
          "%s%s stores no less than %s; exchange them or choose another code"
              .formatted(what, compact, fast));
    }
    for (CodeFamily other : others) {
      if (other.name().equals(pair.name())) {
        throw new IllegalArgumentException(
            "%sthere is %s already; take another name".formatted(what, other));
      }
      if (other.has(pair.fast()) || other.has(pair.compact())) {
        // A stripe knows its code only: its pair must follow from that.
        throw new IllegalArgumentException(
            "%s%s or %s is in pair %s already; define the code again under a name of your own"
                .formatted(what, pair.fast(), pair.compact(), other.name()));
      }
    }
  }

  private static void checkUserName(String name) {
    boolean described = BUILDERS.keySet().stream().anyMatch(p -> p.matcher(name).matches());
    if (described || !USER_NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "code name \"%s\": %s"
              .formatted(
                  name,
                  described
                      ? "this name describes a code already; take another one"
                      : "write a letter and at most 39 letters, digits, and _.,()-"));
    }
  }

  private static void checkRows(String name, List<byte[]> rows) {
    if (rows.isEmpty() || rows.get(0).length == 0) {
      throw new IllegalArgumentException(name + ": a code needs data and at least one parity row");
    }
    int data = rows.get(0).length;
    if (data + rows.size() > GeneralCodes.MAX_POSITIONS) {
      throw new IllegalArgumentException(
          "%s: %d data and %d parities; at most %d positions are possible"
              .formatted(name, data, rows.size(), GeneralCodes.MAX_POSITIONS));
    }
    for (int j = 0; j < rows.size(); j++) {
      if (rows.get(j).length != data) {
        throw new IllegalArgumentException(
            "%s: parity row %d has %d coefficients, the first has %d; give one for each data block"
                .formatted(name, j, rows.get(j).length, data));
      }
      if (java.util.Arrays.equals(rows.get(j), new byte[data])) {
        throw new IllegalArgumentException(
            "%s: parity row %d is all zero; leave it out".formatted(name, j));
      }
    }
  }

  private static void checkTolerance(String name, int tolerance, int parities) {
    if (tolerance < 1 || tolerance > parities) {
      throw new IllegalArgumentException(
          "%s: a tolerance of %d is claimed; with %d parities it must be 1 to %d"
              .formatted(name, tolerance, parities, parities));
    }
  }

  private static ErasureCode build(String name) {
    for (Map.Entry<Pattern, Function<int[], ErasureCode>> builder : BUILDERS.entrySet()) {
      Matcher matcher = builder.getKey().matcher(name);
      if (matcher.matches()) {
        int[] numbers = new int[matcher.groupCount()];
        for (int i = 0; i < numbers.length; i++) {
          numbers[i] = Integer.parseInt(matcher.group(i + 1));
        }
        return builder.getValue().apply(numbers);
      }
    }
    List<String> known = joined(KNOWN, List.copyOf(defined.codes().keySet()));
    throw new IllegalArgumentException(
        "unknown code \"%s\"; known: %s, and any PC(ROWSxCOLUMNS), RS(DATA,PARITIES), LRC or RS-LRC(DATA,LOCALS,GLOBALS) and XOR(DATA,1); others are defined in codes.yaml"
            .formatted(name, String.join(", ", known)));
  }

  private static <T> List<T> joined(List<T> one, List<T> other) {
    List<T> all = new ArrayList<>(one);
    all.addAll(other);
    return List.copyOf(all);
  }
}
