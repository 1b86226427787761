package io.ebbfs.coding.code;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The codes that a name describes, such as "RS(6,3)", and the making of a user's codes. Pure
 * functions: the same name always means the same code. Codes and pairs that a user defined are in a
 * {@link CodeRegistry}. Thread safe; a code is built and proven once.
 */
public final class Codes {
  public static final String PC_FAST = "PC(2x5)";
  public static final String PC_COMPACT = "PC(6x5)";
  public static final String LRC_FAST = "LRC(12,6,2)";
  public static final String LRC_COMPACT = "LRC(12,2,2)";
  public static final String RS_FAST = "RS(6,3)";
  public static final String RS_COMPACT = "RS(12,3)";

  /** RS(6,3) under the name that pairs it with {@link #RS_LRC_COMPACT}. */
  public static final String RS_LRC_FAST = "RS-LRC(6,1,2)";

  /** The code that two stripes of RS(6,3) become if each keeps its plain sum as a local parity. */
  public static final String RS_LRC_COMPACT = "RS-LRC(12,2,2)";

  private static final List<String> COMMON =
      List.of(
          PC_FAST,
          PC_COMPACT,
          LRC_FAST,
          LRC_COMPACT,
          RS_FAST,
          RS_COMPACT,
          RS_LRC_COMPACT,
          "RS(10,4)");
  private static final String NUMBER = "(\\d{1,3})";
  private static final Map<Pattern, Function<int[], ErasureCode>> BUILDERS = builders();
  private static final Pattern USER_NAME = Pattern.compile("[A-Za-z][A-Za-z0-9_.,()-]{0,39}");

  // A described code follows from its name alone, so this cache cannot go stale.
  private static final Map<String, ErasureCode> BUILT = new ConcurrentHashMap<>();

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
    builders.put(Pattern.compile("HDFS-RS" + two), n -> HdfsCodes.reedSolomon(n[0], n[1]));
    builders.put(Pattern.compile("HDFS-RS-LEGACY" + two), n -> HdfsCodes.legacy(n[0], n[1]));
    builders.put(Pattern.compile("XOR\\(" + NUMBER + ",1\\)"), n -> GeneralCodes.xor(n[0]));
    return builders;
  }

  /**
   * The code that this name describes, such as "PC(2x5)", "LRC(12,6,2)" or "XOR(5,1)".
   *
   * @throws IllegalArgumentException if the name describes no code; the message lists the codes in
   *     common use
   */
  public static ErasureCode byName(String name) {
    return byName(name, Set.of());
  }

  /** As {@link #byName(String)}; the message of the exception lists these names too. */
  static ErasureCode byName(String name, Collection<String> userDefined) {
    ErasureCode built = BUILT.get(name);
    return built != null ? built : BUILT.computeIfAbsent(name, n -> build(n, userDefined));
  }

  /** The built-in codes in common use. {@link #byName} builds other sizes too. */
  public static List<ErasureCode> builtIn() {
    return COMMON.stream().map(Codes::byName).toList();
  }

  /**
   * A code of a user, by its coefficients. Its tolerance is proven by trying every loss.
   *
   * @param tolerance how many lost blocks must decode, whichever blocks they are; at least 1
   * @param parityRows a row per parity: its coefficients over the data
   * @throws IllegalArgumentException if the code does not survive what it claims; the message names
   *     the losses that do not decode
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
   * A code that a name describes, under a name of the user's own and with the tolerance that the
   * user claims. Example: {@code named("wide", 3, "RS(24,3)")}.
   *
   * @throws IllegalArgumentException as {@link #ofRows}
   */
  public static ErasureCode named(String name, int tolerance, String described) {
    checkUserName(name);
    ErasureCode base = byName(described);
    checkTolerance(name, tolerance, base.parityCount());
    ErasureCode code = base.renamed(name, tolerance);
    return tolerance <= base.tolerance()
        ? code
        : ToleranceCheck.proven(
            code, "claim a lower tolerance; " + described + " has " + base.tolerance());
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

  private static ErasureCode build(String name, Collection<String> userDefined) {
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
    List<String> known = new ArrayList<>(COMMON);
    known.addAll(userDefined);
    throw new IllegalArgumentException(
        "unknown code \"%s\"; known: %s, and any PC(ROWSxCOLUMNS), RS(DATA,PARITIES), LRC or RS-LRC(DATA,LOCALS,GLOBALS) and XOR(DATA,1); others are defined in codes.yaml"
            .formatted(name, String.join(", ", known)));
  }
}
