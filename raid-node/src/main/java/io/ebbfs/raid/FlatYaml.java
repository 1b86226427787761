package io.ebbfs.raid;

import java.io.StringReader;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.Tag;

/**
 * A YAML file of one level, {@code key: value}. A wrong value is noted and answered with the
 * default; {@link #end} then throws all problems at once. Not thread-safe.
 */
final class FlatYaml {
  private static final Pattern QUANTITY = Pattern.compile("(\\d{1,15})\\s*([A-Za-z]*)");
  private static final Map<String, Long> DURATIONS =
      Map.of("ms", 1L, "s", 1_000L, "m", 60_000L, "h", 3_600_000L);
  private static final Map<String, Long> SIZES =
      Map.of("", 1L, "B", 1L, "KiB", 1L << 10, "MiB", 1L << 20, "GiB", 1L << 30);

  private final String file;
  private final Map<String, ScalarNode> values = new LinkedHashMap<>();
  private final TreeSet<String> asked = new TreeSet<>();
  private final SortedMap<Integer, StringBuilder> problems = new TreeMap<>();

  FlatYaml(String file, String text) throws RaidConfigException {
    this.file = file;
    Node root = compose(text);
    if (root instanceof MappingNode mapping) {
      mapping.getValue().forEach(this::add);
    } else if (root != null && root.getTag() != Tag.NULL) {
      note(line(root), "the file is not a mapping", "write 'key: value' lines");
    }
  }

  private Node compose(String text) throws RaidConfigException {
    try {
      return new Yaml(new LoaderOptions()).compose(new StringReader(text));
    } catch (MarkedYAMLException e) {
      int at = e.getProblemMark() == null ? 1 : e.getProblemMark().getLine() + 1;
      throw new RaidConfigException(
          "%s:%d: not YAML: %s; check indentation and quotes there"
              .formatted(file, at, e.getProblem()),
          e);
    } catch (YAMLException e) {
      throw new RaidConfigException(file + ": not YAML: " + e.getMessage(), e);
    }
  }

  private void add(NodeTuple tuple) {
    if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
      note(line(tuple.getKeyNode()), "a key is not a word", "write 'key: value'");
    } else if (values.containsKey(key.getValue())) {
      note(line(key), "duplicate key '" + key.getValue() + "'", "keep one of the lines");
    } else if (tuple.getValueNode() instanceof ScalarNode value) {
      values.put(key.getValue(), value);
    } else {
      note(line(key), "'" + key.getValue() + "' is not a single value", "write it on one line");
    }
  }

  private static int line(Node node) {
    return node.getStartMark().getLine() + 1;
  }

  private void note(int line, String message, String remedy) {
    problems
        .computeIfAbsent(line, l -> new StringBuilder())
        .append("%s:%d: %s; %s%n".formatted(file, line, message, remedy));
  }

  void problem(String key, String message, String remedy) {
    note(values.containsKey(key) ? line(values.get(key)) : 1, message, remedy);
  }

  Optional<String> text(String key) {
    asked.add(key);
    return Optional.ofNullable(values.get(key))
        .filter(node -> node.getTag() != Tag.NULL)
        .map(ScalarNode::getValue);
  }

  String choice(String key, String otherwise, String... valid) {
    Optional<String> text = text(key);
    if (text.isPresent() && !List.of(valid).contains(text.get())) {
      problem(
          key,
          "'" + key + ": " + text.get() + "' is unknown",
          "choose one of " + String.join(", ", valid));
      return otherwise;
    }
    return text.orElse(otherwise);
  }

  long number(String key, long otherwise, long least, long most) {
    return quantity(key, otherwise, least, most, Map.of("", 1L), "a whole number");
  }

  /** In milliseconds. */
  long duration(String key, long otherwise, long least, long most) {
    return quantity(
        key, otherwise, least, most, DURATIONS, "a number and one of ms, s, m, h, such as 30s");
  }

  /** In bytes. */
  long size(String key, long otherwise, long least, long most) {
    return quantity(
        key, otherwise, least, most, SIZES, "a number and one of B, KiB, MiB, GiB, such as 64MiB");
  }

  private long quantity(
      String key, long otherwise, long least, long most, Map<String, Long> units, String form) {
    Optional<String> text = text(key);
    if (text.isEmpty()) {
      return otherwise;
    }
    Matcher matcher = QUANTITY.matcher(text.get().strip());
    Long unit = matcher.matches() ? units.get(matcher.group(2)) : null;
    String given = "'" + key + ": " + text.get() + "'";
    if (unit == null) {
      problem(key, given + " is malformed", "write " + form);
      return otherwise;
    }
    double value = Double.parseDouble(matcher.group(1)) * unit;
    if (value < least || value > most) {
      String in = units == DURATIONS ? " ms" : units == SIZES ? " bytes" : "";
      problem(key, given + " is out of range", "choose from " + least + in + " to " + most + in);
      return otherwise;
    }
    return (long) value;
  }

  /** To be called once every key was asked for; throws if anything was wrong. */
  void end() throws RaidConfigException {
    for (Map.Entry<String, ScalarNode> value : values.entrySet()) {
      if (!asked.contains(value.getKey())) {
        note(
            line(value.getValue()),
            "unknown key '" + value.getKey() + "'",
            "did you mean '" + nearest(value.getKey()) + "'?");
      }
    }
    if (!problems.isEmpty()) {
      throw new RaidConfigException(String.join("", problems.values()).strip());
    }
  }

  private String nearest(String word) {
    return asked.stream().min(Comparator.comparingInt(key -> distance(word, key))).orElse("");
  }

  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        boolean same =
            Character.toLowerCase(a.charAt(i - 1)) == Character.toLowerCase(b.charAt(j - 1));
        int next = Math.min(diagonal + (same ? 0 : 1), 1 + Math.min(row[j], row[j - 1]));
        diagonal = row[j];
        row[j] = next;
      }
    }
    return row[b.length()];
  }
}
