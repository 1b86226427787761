package io.ebbfs.common.config;

import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.Node;

/** Reads a YAML file into a typed value, or reports all problems of the file. Pure functions. */
public final class YamlFile {
  private static final int MAX_BYTES = 1 << 20;

  /** Makes a value of the top mapping of a file, and adds the problems that it finds. */
  public interface Reader<T> {
    T read(Section top);
  }

  private YamlFile() {}

  /**
   * The text of a file.
   *
   * @throws ConfigException if the file cannot be read or is larger than 1 MiB
   */
  public static String text(Path path) throws ConfigException {
    try {
      if (Files.size(path) > MAX_BYTES) {
        throw one(path, 0, "the file is larger than 1 MiB", "make it shorter");
      }
      return Files.readString(path, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw one(
          path, 0, "cannot be read (" + e + ")", "create it, or point --conf to its directory");
    }
  }

  /**
   * Parses the text of a file.
   *
   * @param path of the file, for messages
   * @throws ConfigException with all problems, in the order of their lines
   */
  public static <T> T parse(Path path, String text, Reader<T> reader) throws ConfigException {
    List<ConfigProblem> problems = new ArrayList<>();
    Node root = compose(path, text);
    T value = null;
    Section top = new Section(path.getFileName().toString(), "", root, problems);
    if (root == null) {
      top.problem(0, "the file is empty", "see the commented example in conf/");
    }
    value = reader.read(top);
    top.end();
    if (!problems.isEmpty()) {
      problems.sort(Comparator.comparingInt(ConfigProblem::line));
      throw new ConfigException(problems);
    }
    return value;
  }

  private static Node compose(Path path, String text) throws ConfigException {
    try {
      return new Yaml(new LoaderOptions()).compose(new StringReader(text));
    } catch (MarkedYAMLException e) {
      int line = e.getProblemMark() == null ? 0 : e.getProblemMark().getLine() + 1;
      throw one(path, line, "not YAML: " + e.getProblem(), "check indentation and quotes there");
    } catch (YAMLException e) {
      throw one(path, 0, "not YAML: " + e.getMessage(), "check indentation and quotes");
    }
  }

  private static ConfigException one(Path path, int line, String message, String remedy) {
    return new ConfigException(
        List.of(new ConfigProblem(path.getFileName().toString(), line, message, remedy)));
  }
}
