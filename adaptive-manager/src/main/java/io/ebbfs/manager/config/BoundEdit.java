package io.ebbfs.manager.config;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.ConfigProblem;
import java.io.StringReader;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;

/**
 * Writes another storageBound, of a policy or of the cluster, into the text of policies.yaml. All
 * other characters, comments included, stay. Pure.
 */
final class BoundEdit {
  private BoundEdit() {}

  /**
   * The text with another bound of a policy.
   *
   * @throws ConfigException if the text is not sound before or after the edit, or has no such
   *     policy
   */
  static String apply(Path path, String text, String policy, double bound, CodeRegistry codes)
      throws ConfigException {
    PolicySet before = PolicySet.parse(path, text, codes);
    MappingNode mapping =
        mappingOf(text, policy)
            .orElseThrow(
                () ->
                    refused(
                        path,
                        "there is no policy '" + policy + "'",
                        "name one of " + before.rules().stream().map(PolicyRule::name).toList()));
    String edited = write(text, mapping, show(bound));
    PolicySet wanted = withBound(before, policy, bound);
    return checked(path, edited, wanted, "policy '" + policy + "'", codes);
  }

  /**
   * The text with another bound of the cluster.
   *
   * @throws ConfigException if the text is not sound before or after the edit
   */
  static String applyToCluster(Path path, String text, double bound, CodeRegistry codes)
      throws ConfigException {
    PolicySet before = PolicySet.parse(path, text, codes);
    String edited = writeAtTop(text, (MappingNode) root(text), show(bound));
    PolicySet wanted = new PolicySet(before.rules(), OptionalDouble.of(bound));
    return checked(path, edited, wanted, "the cluster", codes);
  }

  private static String checked(
      Path path, String edited, PolicySet wanted, String whose, CodeRegistry codes)
      throws ConfigException {
    if (!PolicySet.parse(path, edited, codes).equals(wanted)) {
      throw refused(
          path,
          "the bound of " + whose + " cannot be written without changing more",
          "edit the file by hand");
    }
    return edited;
  }

  private static String show(double bound) {
    String text = Double.toString(bound);
    return text.endsWith(".0") ? text.substring(0, text.length() - 2) : text;
  }

  private static ConfigException refused(Path path, String message, String remedy) {
    return new ConfigException(
        List.of(new ConfigProblem(path.getFileName().toString(), 0, message, remedy)));
  }

  private static Node root(String text) {
    return new Yaml(new LoaderOptions()).compose(new StringReader(text));
  }

  private static Optional<MappingNode> mappingOf(String text, String policy) {
    Optional<Node> policies = value(root(text), "policies").map(NodeTuple::getValueNode);
    if (policies.isPresent() && policies.get() instanceof SequenceNode sequence) {
      for (Node node : sequence.getValue()) {
        Optional<NodeTuple> name = value(node, "name");
        if (name.isPresent()
            && name.get().getValueNode() instanceof ScalarNode scalar
            && scalar.getValue().equals(policy)) {
          return Optional.of((MappingNode) node);
        }
      }
    }
    return Optional.empty();
  }

  private static Optional<NodeTuple> value(Node node, String key) {
    return node instanceof MappingNode mapping
        ? mapping.getValue().stream()
            .filter(tuple -> ((ScalarNode) tuple.getKeyNode()).getValue().equals(key))
            .findFirst()
        : Optional.empty();
  }

  private static String write(String text, MappingNode policy, String bound) {
    Optional<NodeTuple> old = value(policy, "storageBound");
    if (old.isPresent()) {
      return replaced(text, old.get().getValueNode(), bound);
    }
    NodeTuple name = value(policy, "name").orElseThrow();
    int end = index(text, name.getValueNode().getEndMark());
    if (policy.getFlowStyle() == DumperOptions.FlowStyle.FLOW) {
      return text.substring(0, end) + ", storageBound: " + bound + text.substring(end);
    }
    int newline = text.indexOf('\n', end);
    int lineEnd = newline < 0 ? text.length() : newline;
    String indent = " ".repeat(name.getKeyNode().getStartMark().getColumn());
    return text.substring(0, lineEnd)
        + "\n"
        + indent
        + "storageBound: "
        + bound
        + text.substring(lineEnd);
  }

  /** A bound that is new stands before the policies. */
  private static String writeAtTop(String text, MappingNode root, String bound) {
    Optional<NodeTuple> old = value(root, "storageBound");
    if (old.isPresent()) {
      return replaced(text, old.get().getValueNode(), bound);
    }
    Mark policies = value(root, "policies").orElseThrow().getKeyNode().getStartMark();
    int begin = index(text, policies);
    String between =
        root.getFlowStyle() == DumperOptions.FlowStyle.FLOW
            ? ", "
            : "\n" + " ".repeat(policies.getColumn());
    return text.substring(0, begin) + "storageBound: " + bound + between + text.substring(begin);
  }

  private static String replaced(String text, Node value, String bound) {
    return text.substring(0, index(text, value.getStartMark()))
        + bound
        + text.substring(index(text, value.getEndMark()));
  }

  /** Marks count code points. */
  private static int index(String text, Mark mark) {
    return text.offsetByCodePoints(0, mark.getIndex());
  }

  private static PolicySet withBound(PolicySet policies, String name, double bound) {
    return new PolicySet(
        policies.rules().stream()
            .map(
                rule ->
                    rule.name().equals(name)
                        ? rule.withStorageBound(OptionalDouble.of(bound))
                        : rule)
            .toList(),
        policies.storageBound());
  }
}
