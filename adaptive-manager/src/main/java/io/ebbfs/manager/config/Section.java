package io.ebbfs.manager.config;

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
 * One mapping of a YAML file, read key by key. Every wrong value is noted in the list of problems
 * and answered with the default, so that one reading finds all of them; {@link #end} then reports
 * the keys that nobody asked for. Not thread-safe.
 */
final class Section {
  private final String file;
  private final String name;
  private final int line;
  private final Map<String, Node> values = new LinkedHashMap<>();
  private final Map<String, Integer> lines = new LinkedHashMap<>();
  private final Set<String> asked = new TreeSet<>();
  private final List<Problem> problems;

  Section(String file, String name, Node node, List<Problem> problems) {
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

  int line() {
    return line;
  }

  int line(String key) {
    return lines.getOrDefault(key, line);
  }

  void problem(int at, String message, String remedy) {
    problems.add(new Problem(file, at, message, remedy));
  }

  void problem(String key, String message, String remedy) {
    problem(line(key), message, remedy);
  }

  private Optional<Node> node(String key) {
    asked.add(key);
    return Optional.ofNullable(values.get(key)).filter(n -> n.getTag() != Tag.NULL);
  }

  boolean has(String key) {
    return node(key).isPresent();
  }

  Section section(String key) {
    return new Section(file, qualified(key), node(key).orElse(null), problems);
  }

  List<Section> sections(String key) {
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

  List<Entry> texts(String key) {
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
        problem(lineOf(item), "'" + qualified(key) + "' holds what is not a text", "write a text");
      }
    }
    return texts;
  }

  /** A text of a list and its line. */
  record Entry(String text, int line) {}

  Optional<String> text(String key) {
    Optional<Node> node = node(key);
    if (node.isPresent() && !(node.get() instanceof ScalarNode)) {
      problem(key, "'" + qualified(key) + "' is not a single value", "write it on one line");
      return Optional.empty();
    }
    return node.map(n -> ((ScalarNode) n).getValue());
  }

  long durationMillis(String key, long otherwise) {
    return quantity(key, "a duration", Units.DURATION_UNITS, "90s", Units::durationMillis)
        .orElse(otherwise);
  }

  long sizeBytes(String key, long otherwise) {
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

  OptionalDouble number(String key, double least, double most) {
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

  int integer(String key, int otherwise, int least, int most) {
    OptionalDouble value = number(key, least, most);
    if (value.isPresent() && value.getAsDouble() != Math.rint(value.getAsDouble())) {
      problem(key, "'" + qualified(key) + "' is not a whole number", "write it without a fraction");
      return otherwise;
    }
    return value.isPresent() ? (int) value.getAsDouble() : otherwise;
  }

  boolean flag(String key, boolean otherwise) {
    Optional<String> text = text(key);
    if (text.isPresent() && !Set.of("true", "false").contains(text.get())) {
      problem(
          key,
          "'" + qualified(key) + ": " + text.get() + "' is neither true nor false",
          "write true or false");
    }
    return text.map("true"::equals).orElse(otherwise);
  }

  /** To be called once all keys were asked for: what is left in the file is unknown. */
  void end() {
    for (String key : values.keySet()) {
      if (!asked.contains(key)) {
        String remedy =
            Nearest.to(key, asked)
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
