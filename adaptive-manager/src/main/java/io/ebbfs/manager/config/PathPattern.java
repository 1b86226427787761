package io.ebbfs.manager.config;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A path that a policy applies to, with everything below it. "*" and "?" stand for characters
 * within a name, "**" also across names. Of two patterns that match a path, the pattern with more
 * literal characters is the longer match. Immutable and thread-safe.
 */
public final class PathPattern {
  private final String text;
  private final Pattern regex;
  private final int literals;

  private PathPattern(String text, Pattern regex, int literals) {
    this.text = text;
    this.regex = regex;
    this.literals = literals;
  }

  /**
   * @throws IllegalArgumentException with the cause, if the text is not an absolute path or glob
   */
  public static PathPattern of(String text) {
    if (!text.startsWith("/")) {
      throw new IllegalArgumentException("'" + text + "' does not start with '/'");
    }
    if (text.contains("//") || (text.length() > 1 && text.endsWith("/"))) {
      throw new IllegalArgumentException("'" + text + "' has an empty name in it");
    }
    StringBuilder regex = new StringBuilder();
    int literals = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (text.startsWith("**", i)) {
        regex.append(".*");
        i++;
      } else if (c == '*') {
        regex.append("[^/]*");
      } else if (c == '?') {
        regex.append("[^/]");
      } else {
        regex.append(Pattern.quote(String.valueOf(c)));
        literals++;
      }
    }
    regex.append(text.equals("/") ? ".*" : "(/.*)?");
    return new PathPattern(text, Pattern.compile(regex.toString(), Pattern.DOTALL), literals);
  }

  public boolean matches(String path) {
    return regex.matcher(path).matches();
  }

  /** The length of a match of this pattern, in literal characters. */
  int literals() {
    return literals;
  }

  public String text() {
    return text;
  }

  /** Whether some path matches both patterns and neither is the longer match. */
  boolean conflictsWith(PathPattern other) {
    if (literals != other.literals) {
      return false;
    }
    for (String left : expanded()) {
      for (String right : other.expanded()) {
        if (meet(tokens(left), tokens(right))) {
          return true;
        }
      }
    }
    return false;
  }

  /** Globs for the path itself and for everything below it. */
  private List<String> expanded() {
    return text.equals("/") ? List.of("/**") : List.of(text, text + "/**");
  }

  private static List<String> tokens(String glob) {
    List<String> tokens = new ArrayList<>();
    for (int i = 0; i < glob.length(); i++) {
      if (glob.startsWith("**", i)) {
        tokens.add("**");
        i++;
      } else {
        tokens.add(String.valueOf(glob.charAt(i)));
      }
    }
    return tokens;
  }

  /**
   * Whether two globs have a path in common. reachable[i][j] tells whether some text matches the
   * first i tokens of a and the first j tokens of b.
   */
  private static boolean meet(List<String> a, List<String> b) {
    boolean[][] reachable = new boolean[a.size() + 1][b.size() + 1];
    reachable[0][0] = true;
    for (int i = 0; i <= a.size(); i++) {
      for (int j = 0; j <= b.size(); j++) {
        if (!reachable[i][j]) {
          continue;
        }
        String left = i < a.size() ? a.get(i) : "";
        String right = j < b.size() ? b.get(j) : "";
        if (left.startsWith("*")) {
          reachable[i + 1][j] = true;
        }
        if (right.startsWith("*")) {
          reachable[i][j + 1] = true;
        }
        if (i < a.size() && j < b.size() && common(left, right)) {
          reachable[left.startsWith("*") ? i : i + 1][right.startsWith("*") ? j : j + 1] = true;
        }
      }
    }
    return reachable[a.size()][b.size()];
  }

  private static boolean common(String left, String right) {
    boolean wildLeft = left.startsWith("*") || left.equals("?");
    boolean wildRight = right.startsWith("*") || right.equals("?");
    if (left.startsWith("*") && right.startsWith("*")) {
      return false; // Both would stay at the same token, so this step reaches nothing new.
    }
    if (wildLeft && wildRight) {
      return true;
    }
    if (wildLeft) {
      return left.equals("**") || !right.equals("/");
    }
    return wildRight ? right.equals("**") || !left.equals("/") : left.equals(right);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof PathPattern that && text.equals(that.text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  @Override
  public String toString() {
    return text;
  }
}
