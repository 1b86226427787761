package io.ebbfs.cli.architecture;

import java.io.IOException;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The table of modules in {@code docs/architecture.md}.
 *
 * @param packageOf the root package of each module
 * @param usesOf the modules that each module may use
 */
record ModuleTable(Map<String, String> packageOf, Map<String, Set<String>> usesOf) {
  private static final Pattern ROW =
      Pattern.compile("\\| `([\\w-]+)` \\| `(io\\.ebbfs\\.\\w+)` \\|([^|]*)\\|");
  private static final Pattern WORD = Pattern.compile("`([\\w-]+)`");

  static ModuleTable read() throws IOException {
    String text = Files.readString(SourceTree.root().resolve("docs/architecture.md"));
    Map<String, String> packageOf = new LinkedHashMap<>();
    Map<String, Set<String>> usesOf = new LinkedHashMap<>();
    for (MatchResult row : matches(ROW, text)) {
      packageOf.put(row.group(1), row.group(2));
      usesOf.put(
          row.group(1),
          matches(WORD, row.group(3)).stream()
              .map(word -> word.group(1))
              .collect(Collectors.toUnmodifiableSet()));
    }
    return new ModuleTable(packageOf, usesOf);
  }

  /** The module of a package of ours; empty text for a package of nobody's. */
  String moduleOf(String packageName) {
    return packageOf.entrySet().stream()
        .filter(
            entry ->
                packageName.equals(entry.getValue())
                    || packageName.startsWith(entry.getValue() + "."))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElse("");
  }

  static List<MatchResult> matches(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    return matcher.results().toList();
  }
}
