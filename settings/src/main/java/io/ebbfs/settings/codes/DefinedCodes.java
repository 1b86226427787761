package io.ebbfs.settings.codes;

import io.ebbfs.coding.CodeFamily;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What users have defined, in a form that two processes can compare: names only mean the same code
 * if its generator has the same fingerprint.
 *
 * @param codes fingerprints of the codes, by name
 * @param pairs "FAST -> COMPACT" of all pairs, by name
 */
public record DefinedCodes(SortedMap<String, String> codes, SortedMap<String, String> pairs) {

  /** Of this process, as it is now. */
  public static DefinedCodes ofThisProcess() {
    SortedMap<String, String> codes = new TreeMap<>();
    for (ErasureCode code : Codes.userDefined()) {
      codes.put(code.name(), code.fingerprint());
    }
    SortedMap<String, String> pairs = new TreeMap<>();
    for (CodeFamily pair : Codes.families()) {
      pairs.put(pair.name(), pair.fast() + " -> " + pair.compact());
    }
    return new DefinedCodes(codes, pairs);
  }

  /**
   * The first thing that is not the same.
   *
   * @param here what to call the process of this one, and {@code there} that of the other
   * @return empty if all is the same
   */
  public Optional<String> difference(String here, DefinedCodes other, String there) {
    return difference("code", "fingerprint ", codes, here, other.codes, there)
        .or(() -> difference("pair", "", pairs, here, other.pairs, there));
  }

  private static Optional<String> difference(
      String what,
      String of,
      Map<String, String> mine,
      String here,
      Map<String, String> others,
      String there) {
    TreeSet<String> names = new TreeSet<>(mine.keySet());
    names.addAll(others.keySet());
    for (String name : names) {
      String one = mine.get(name);
      String other = others.get(name);
      if (one == null || other == null) {
        return Optional.of(
            "%s %s is defined at %s and not at %s"
                .formatted(what, name, one == null ? there : here, one == null ? here : there));
      }
      if (!one.equals(other)) {
        return Optional.of(
            "%s %s is %s%s at %s and %s%s at %s"
                .formatted(what, name, of, one, here, of, other, there));
      }
    }
    return Optional.empty();
  }
}
