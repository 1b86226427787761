package io.ebbfs.manager.config;

import java.util.Collections;
import java.util.List;
import java.util.Set;

/**
 * Which files a policy applies to: a file must lie at or below one of the paths, at none of the
 * excluded paths, and have one of the owners and one of the groups, if owners or groups are named.
 * Immutable.
 *
 * @param excluded of what the paths match, the policy leaves out what these match
 * @param owners empty for all
 * @param groups empty for all
 */
public record FileCriteria(
    List<PathPattern> paths, List<PathPattern> excluded, Set<String> owners, Set<String> groups) {
  /** The rank of criteria that a file does not meet. */
  static final int NO_MATCH = -1;

  public FileCriteria {
    paths = List.copyOf(paths);
    excluded = List.copyOf(excluded);
    owners = Set.copyOf(owners);
    groups = Set.copyOf(groups);
  }

  /** All files at and below a path. */
  public static FileCriteria below(String path) {
    return new FileCriteria(List.of(PathPattern.of(path)), List.of(), Set.of(), Set.of());
  }

  /**
   * How specific these criteria are for a file that meets them: a longer match of its path, in
   * literal characters, comes before named owners, and named owners before named groups. {@link
   * #NO_MATCH} if the file does not meet the criteria.
   */
  int rank(String path, String owner, String group) {
    boolean meets =
        (owners.isEmpty() || owners.contains(owner))
            && (groups.isEmpty() || groups.contains(group))
            && excluded.stream().noneMatch(pattern -> pattern.matches(path));
    int longest = -1;
    for (PathPattern pattern : meets ? paths : List.<PathPattern>of()) {
      if (pattern.literals() > longest && pattern.matches(path)) {
        longest = pattern.literals();
      }
    }
    return longest < 0
        ? NO_MATCH
        : 4 * longest + (owners.isEmpty() ? 0 : 2) + (groups.isEmpty() ? 0 : 1);
  }

  /**
   * Whether files of the same path may meet both criteria with the same rank. The paths are not
   * compared.
   */
  boolean sharesRankWith(FileCriteria other) {
    return mayShare(owners, other.owners) && mayShare(groups, other.groups);
  }

  private static boolean mayShare(Set<String> names, Set<String> others) {
    return names.isEmpty() ? others.isEmpty() : !Collections.disjoint(names, others);
  }

  /** The criteria in a text in which different criteria differ. */
  public String show() {
    return "%s without %s, owners %s, groups %s"
        .formatted(
            paths, excluded, owners.stream().sorted().toList(), groups.stream().sorted().toList());
  }
}
