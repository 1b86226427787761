package io.ebbfs.coding;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** All codes by name. Thread safe; a code is built and checked once. */
public final class Codes {
  public static final String PC_FAST = "PC(2x5)";
  public static final String PC_COMPACT = "PC(6x5)";
  public static final String LRC_FAST = "LRC(12,6,2)";
  public static final String LRC_COMPACT = "LRC(12,2,2)";
  public static final String RS_FAST = "RS(6,3)";
  public static final String RS_COMPACT = "RS(12,3)";

  private static final List<String> KNOWN =
      List.of(PC_FAST, PC_COMPACT, LRC_FAST, LRC_COMPACT, RS_FAST, RS_COMPACT, "RS(10,4)");
  private static final List<CodeFamily> FAMILIES =
      List.of(
          new CodeFamily("product", PC_FAST, PC_COMPACT, 3),
          new CodeFamily("lrc", LRC_FAST, LRC_COMPACT, 1),
          new CodeFamily("rs", RS_FAST, RS_COMPACT, 2));

  private static final Pattern PRODUCT = Pattern.compile("PC\\((\\d{1,3})x(\\d{1,3})\\)");
  private static final Pattern LRC = Pattern.compile("LRC\\((\\d{1,3}),(\\d{1,3}),(\\d{1,3})\\)");
  private static final Pattern RS = Pattern.compile("RS\\((\\d{1,3}),(\\d{1,3})\\)");

  private static final Map<String, ErasureCode> BUILT = new ConcurrentHashMap<>();

  private Codes() {}

  /**
   * The code of this name.
   *
   * @throws IllegalArgumentException if there is none; the message lists what there is
   */
  public static ErasureCode byName(String name) {
    ErasureCode built = BUILT.get(name);
    return built != null ? built : BUILT.computeIfAbsent(name, Codes::build);
  }

  /** The codes in common use. Other sizes of PC(rows x columns) and RS(k,m) exist by name too. */
  public static List<ErasureCode> known() {
    return KNOWN.stream().map(Codes::byName).toList();
  }

  /** All pairs of a fast and a compact code. */
  public static List<CodeFamily> families() {
    return FAMILIES;
  }

  /** The pair that this code is one half of; empty for a code that is not converted. */
  public static Optional<CodeFamily> familyOf(String codeName) {
    return FAMILIES.stream()
        .filter(f -> f.fast().equals(codeName) || f.compact().equals(codeName))
        .findFirst();
  }

  /**
   * The pair of this name.
   *
   * @throws IllegalArgumentException if there is none; the message lists what there is
   */
  public static CodeFamily family(String familyName) {
    return FAMILIES.stream()
        .filter(f -> f.name().equals(familyName))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "unknown code family \""
                        + familyName
                        + "\"; known: "
                        + FAMILIES.stream().map(CodeFamily::name).toList()));
  }

  private static ErasureCode build(String name) {
    Matcher product = PRODUCT.matcher(name);
    if (product.matches()) {
      return ProductCodes.build(number(product, 1), number(product, 2));
    }
    Matcher lrc = LRC.matcher(name);
    if (lrc.matches()) {
      return LrcCodes.build(number(lrc, 1), number(lrc, 2), number(lrc, 3));
    }
    Matcher rs = RS.matcher(name);
    if (rs.matches()) {
      return RsCodes.build(number(rs, 1), number(rs, 2));
    }
    throw new IllegalArgumentException(
        "unknown code \""
            + name
            + "\"; known: "
            + String.join(", ", KNOWN)
            + ", and any PC(ROWSxCOLUMNS) or RS(DATA,PARITIES)");
  }

  private static int number(Matcher matcher, int group) {
    return Integer.parseInt(matcher.group(group));
  }
}
