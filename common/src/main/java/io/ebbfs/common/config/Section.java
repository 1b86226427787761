package io.ebbfs.common.config;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;

/**
 * One mapping of a YAML file, read key by key. A wrong value is added to the problems of the file,
 * and the reader gets the default instead, so that one reading finds all problems. {@link #end}
 * reports the keys that nobody has read. Not thread-safe.
 */
public final class Section {
  private final String file;
  private final String name;
  private final int line;
  private final Map<String, Node> values = new LinkedHashMap<>();
  private final Map<String, Integer> lines = new LinkedHashMap<>();
  private final Set<String> asked = new TreeSet<>();
  private final List<ConfigProblem> problems;

  Section(String file, String name, Node node, List<ConfigProblem> problems) {
    this.file = file;
    this.name = name;
    this.problems = problems;
    this.line = node == null ? 0 : lineOf(node);
    if (node instanceof MappingNode mapping) {
      mapping.getValue().forEach(this::add);
    } else if (node != null && node.getTag() != Tag.NULL) {
      problem(line, name + " is not a mapping", "write 'key: value' lines below it");
    }
  }

  private void add(NodeTuple tuple) {
    String key = tuple.getKeyNode() instanceof ScalarNode scalar ? scalar.getValue() : "?";
    int at = lineOf(tuple.getKeyNode());
    Integer first = lines.putIfAbsent(key, at);
    if (first != null) {
      problem(
          at, "duplicate key '" + key + "', first in line " + first, "keep one of the two lines");
      return;
    }
    values.put(key, tuple.getValueNode());
  }

  static int lineOf(Node node) {
    return node.getStartMark().getLine() + 1;
  }

  /** The line where the mapping begins, from 1; 0 if the file does not have it. */
  public int line() {
    return line;
  }

  /** The line of a key; the line of the mapping if it has no such key. */
  public int line(String key) {
    return lines.getOrDefault(key, line);
  }

  /** Adds a problem at a line. */
  public void problem(int at, String message, String remedy) {
    problems.add(new ConfigProblem(file, at, message, remedy));
  }

  /** Adds a problem at the line of a key. */
  public void problem(String key, String message, String remedy) {
    problem(line(key), message, remedy);
  }

  private Optional<Node> node(String key) {
    asked.add(key);
    return Optional.ofNullable(values.get(key)).filter(n -> n.getTag() != Tag.NULL);
  }

  /** Whether the key has a value. */
  public boolean has(String key) {
    return node(key).isPresent();
  }

  /** The mapping below a key; an empty mapping if there is none. */
  public Section section(String key) {
    return new Section(file, qualified(key), node(key).orElse(null), problems);
  }

  /** The mappings of the list below a key; none if there is no such key. */
  public List<Section> sections(String key) {
    List<Section> sections = new ArrayList<>();
    Optional<Node> node = node(key);
    if (node.isPresent() && node.get() instanceof SequenceNode sequence) {
      for (Node item : sequence.getValue()) {
        sections.add(new Section(file, "an entry of '" + key + "'", item, problems));
      }
    } else if (node.isPresent()) {
      problem(key, "'" + qualified(key) + "' is not a list", "start each entry with '- '");
    }
    return sections;
  }

  /** The texts of the list below a key; a single text counts as a list of one. */
  public List<Entry> texts(String key) {
    Optional<Node> node = node(key);
    List<Entry> texts = new ArrayList<>();
    List<Node> items = node.map(Collections::singletonList).orElse(List.of());
    if (node.isPresent() && node.get() instanceof SequenceNode sequence) {
      items = sequence.getValue();
    }
    for (Node item : items) {
      if (item instanceof ScalarNode scalar) {
        texts.add(new Entry(scalar.getValue(), lineOf(scalar)));
      } else {
        problem(
            lineOf(item), "'" + qualified(key) + "' has an entry that is no text", "write a text");
      }
    }
    return texts;
  }

  /** A text of a list and its line. */
  public record Entry(String text, int line) {}

  /** The text of a key; empty if the key is absent. */
  public Optional<String> text(String key) {
    Optional<Node> node = node(key);
    if (node.isPresent() && !(node.get() instanceof ScalarNode)) {
      problem(key, "'" + qualified(key) + "' is not a single value", "write it on one line");
      return Optional.empty();
    }
    return node.map(n -> ((ScalarNode) n).getValue());
  }

  /** Whether the key is there with just this text. Anything else is left for another reader. */
  public boolean isText(String key, String text) {
    boolean is = values.get(key) instanceof ScalarNode scalar && scalar.getValue().equals(text);
    if (is) {
      asked.add(key);
    }
    return is;
  }

  /** A duration such as "90s", in milliseconds; the default if the key is absent or wrong. */
  public long durationMillis(String key, long otherwise) {
    return quantity(key, "a duration", Units.DURATION_UNITS, "90s", Units::durationMillis)
        .orElse(otherwise);
  }

  /** A size such as "64MiB", in bytes; the default if the key is absent or wrong. */
  public long sizeBytes(String key, long otherwise) {
    return quantity(key, "a size", Units.SIZE_UNITS, "64MiB", Units::sizeBytes).orElse(otherwise);
  }

  private OptionalLong quantity(
      String key,
      String what,
      String units,
      String example,
      java.util.function.Function<String, OptionalLong> parse) {
    Optional<String> text = text(key);
    if (text.isEmpty()) {
      return OptionalLong.empty();
    }
    OptionalLong value = parse.apply(text.get());
    if (value.isEmpty()) {
      problem(
          key,
          "'" + qualified(key) + ": " + text.get() + "' is not " + what,
          "write a number and one of " + units + ", such as " + example);
    }
    return value;
  }

  /** A number of this range; empty if the key is absent or wrong. */
  public OptionalDouble number(String key, double least, double most) {
    Optional<String> text = text(key);
    if (text.isEmpty()) {
      return OptionalDouble.empty();
    }
    try {
      double value = Double.parseDouble(text.get());
      if (value >= least && value <= most) {
        return OptionalDouble.of(value);
      }
    } catch (NumberFormatException e) {
      // Reported below, like a number out of range.
    }
    problem(
        key,
        "'" + qualified(key) + ": " + text.get() + "' is not a number in range",
        "write a number from " + plain(least) + " to " + plain(most));
    return OptionalDouble.empty();
  }

  /** A whole number of this range; the default if the key is absent or wrong. */
  public int integer(String key, int otherwise, int least, int most) {
    OptionalDouble value = number(key, least, most);
    if (value.isPresent() && value.getAsDouble() != Math.rint(value.getAsDouble())) {
      problem(key, "'" + qualified(key) + "' is not a whole number", "write it without a fraction");
      return otherwise;
    }
    return value.isPresent() ? (int) value.getAsDouble() : otherwise;
  }

  /** True or false; the default if the key is absent. */
  public boolean flag(String key, boolean otherwise) {
    Optional<String> text = text(key);
    if (text.isPresent() && !Set.of("true", "false").contains(text.get())) {
      problem(
          key,
          "'" + qualified(key) + ": " + text.get() + "' is neither true nor false",
          "write true or false");
    }
    return text.map("true"::equals).orElse(otherwise);
  }

  /** Reports all keys that were not read as unknown. To be called after all keys were read. */
  public void end() {
    for (String key : values.keySet()) {
      if (!asked.contains(key)) {
        String remedy =
            NearestWord.to(key, asked)
                .map(near -> "did you mean '" + near + "'?")
                .orElse("valid keys are " + String.join(", ", asked));
        problem(key, "unknown key '" + qualified(key) + "'", remedy);
      }
    }
  }

  private String qualified(String key) {
    return name.isEmpty() || name.contains(" ") ? key : name + "." + key;
  }

  private static String plain(double value) {
    return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
  }
}
