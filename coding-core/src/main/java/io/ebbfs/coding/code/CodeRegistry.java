package io.ebbfs.coding.code;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All codes that a process knows: the built-in codes, and the codes and pairs that a user defined
 * in {@code codes.yaml}. A process makes one registry when it starts and hands it to every part
 * that turns the name of a code into the code. Two registries in one JVM know nothing of each
 * other. Immutable and thread safe.
 */
public final class CodeRegistry {
  private static final List<CodeFamily> BUILT_IN_FAMILIES =
      List.of(
          family("product", Codes.PC_FAST, Codes.PC_COMPACT),
          family("lrc", Codes.LRC_FAST, Codes.LRC_COMPACT),
          family("rs", Codes.RS_FAST, Codes.RS_COMPACT),
          family("rs-lrc", Codes.RS_LRC_FAST, Codes.RS_LRC_COMPACT));
  private static final CodeRegistry BUILT_IN = new CodeRegistry(Map.of(), BUILT_IN_FAMILIES);

  // In the order in which the user defined the codes.
  private final Map<String, ErasureCode> userDefined;
  private final List<CodeFamily> families;

  private CodeRegistry(Map<String, ErasureCode> userDefined, List<CodeFamily> families) {
    this.userDefined = userDefined;
    this.families = List.copyOf(families);
  }

  private static CodeFamily family(String name, String fast, String compact) {
    return new CodeFamily(name, Codes.byName(fast), Codes.byName(compact));
  }

  /** The registry of a process whose user defined nothing. */
  public static CodeRegistry builtIn() {
    return BUILT_IN;
  }

  /**
   * The built-in codes and these.
   *
   * @param codes made by {@link Codes#ofRows} or {@link Codes#named}
   * @param pairs of these codes or of codes that a name describes
   * @throws IllegalArgumentException if two codes or pairs have one name, if a code is in two
   *     pairs, or if the codes of a pair do not fit; the message says what to do
   */
  public static CodeRegistry of(List<ErasureCode> codes, List<CodeFamily> pairs) {
    Map<String, ErasureCode> byName = new LinkedHashMap<>();
    for (ErasureCode code : codes) {
      ErasureCode other = byName.putIfAbsent(code.name(), code);
      if (other != null && !other.equals(code)) {
        throw new IllegalArgumentException(
            code + " is defined twice, with different coefficients; take another name for one");
      }
    }
    List<CodeFamily> families = new ArrayList<>(BUILT_IN_FAMILIES);
    for (CodeFamily pair : pairs) {
      if (!families.contains(pair)) {
        checkPair(pair, families);
        families.add(pair);
      }
    }
    return new CodeRegistry(java.util.Collections.unmodifiableMap(byName), families);
  }

  private static void checkPair(CodeFamily pair, List<CodeFamily> others) {
    String what = "pair " + pair.name() + ": ";
    ErasureCode fast = pair.fastCode();
    ErasureCode compact = pair.compactCode();
    if (pair.isSingle() || compact.dataCount() % fast.dataCount() != 0) {
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
        // A stripe stores the name of its code only: the pair must follow from that name.
        throw new IllegalArgumentException(
            "%s%s or %s is in pair %s already; define the code again under a name of your own"
                .formatted(what, pair.fast(), pair.compact(), other.name()));
      }
    }
  }

  /**
   * The code of this name: a code of the user, or a code that the name describes.
   *
   * @throws IllegalArgumentException if there is none; the message lists the codes in common use
   */
  public ErasureCode byName(String name) {
    ErasureCode own = userDefined.get(name);
    return own != null ? own : Codes.byName(name, userDefined.keySet());
  }

  /** The code of this name; empty for a code that another process knows and this one does not. */
  public Optional<ErasureCode> find(String name) {
    try {
      return Optional.of(byName(name));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** The codes in common use, then the codes of the user. {@link #byName} knows other sizes too. */
  public List<ErasureCode> known() {
    List<ErasureCode> known = new ArrayList<>(Codes.builtIn());
    known.addAll(userDefined.values());
    return known;
  }

  /** The codes that the user defined, in the order of the definitions. */
  public List<ErasureCode> userDefined() {
    return List.copyOf(userDefined.values());
  }

  /** All pairs of a fast and a compact code; the pairs of the user come last. */
  public List<CodeFamily> families() {
    return families;
  }

  /** The pair whose fast or compact code has this name; empty for a code that is in no pair. */
  public Optional<CodeFamily> familyOf(String codeName) {
    return families.stream().filter(f -> f.has(codeName)).findFirst();
  }

  /**
   * The compact code that stripes of this code merge into later; empty unless the code is the fast
   * one of a pair.
   */
  public Optional<ErasureCode> mergesInto(ErasureCode code) {
    return familyOf(code.name())
        .filter(family -> family.fastCode().equals(code))
        .map(CodeFamily::compactCode);
  }

  /**
   * How many stripes of this code are packed and placed together, because they merge into one
   * compact stripe later: 3 for PC(2x5), 1 for a code that is not the fast one of a pair.
   */
  public int stripesPerGroup(ErasureCode code) {
    return mergesInto(code).map(compact -> compact.dataCount() / code.dataCount()).orElse(1);
  }

  /**
   * The pair of this name.
   *
   * @throws IllegalArgumentException if there is none; the message lists the names
   */
  public CodeFamily family(String familyName) {
    return families.stream()
        .filter(f -> f.name().equals(familyName))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "unknown code family \""
                        + familyName
                        + "\"; known: "
                        + families.stream().map(CodeFamily::name).toList()));
  }
}
