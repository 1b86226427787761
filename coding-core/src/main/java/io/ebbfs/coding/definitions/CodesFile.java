package io.ebbfs.coding.definitions;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.ConfigProblem;
import io.ebbfs.common.config.Section;
import io.ebbfs.common.config.YamlFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads the codes that a user defines. A code is a family with parameters ("RS(24,3)") or rows of
 * coefficients, under a name and with a claimed tolerance. A pair names a fast and a compact code.
 * Every claim is proven when the file is read. The keys are documented in {@code
 * docs/configuration.md}. Pure but for the reading of the file.
 */
public final class CodesFile {
  /** The file in a configuration directory. */
  public static final String FILE = "codes.yaml";

  /** The codes and pairs of a file. */
  record Definitions(List<ErasureCode> codes, List<CodeFamily> pairs) {}

  private CodesFile() {}

  /**
   * Reads {@link #FILE} of a configuration directory.
   *
   * @return the built-in codes and the codes of the file; the built-in codes alone without a file
   * @throws ConfigException with every problem of the file, each with its line and remedy
   */
  public static CodeRegistry readIn(Path directory) throws ConfigException {
    Path file = directory.resolve(FILE);
    return Files.exists(file) ? read(file) : CodeRegistry.builtIn();
  }

  /** As {@link #readIn}, of a file that must exist. */
  public static CodeRegistry read(Path file) throws ConfigException {
    Definitions definitions = parse(file, YamlFile.text(file));
    try {
      return CodeRegistry.of(definitions.codes(), definitions.pairs());
    } catch (IllegalArgumentException e) {
      throw new ConfigException(List.of(problem(file.getFileName().toString(), 0, e)));
    }
  }

  static Definitions parse(Path path, String text) throws ConfigException {
    return YamlFile.parse(path, text, CodesFile::read);
  }

  private static Definitions read(Section top) {
    Map<String, ErasureCode> codes = new HashMap<>();
    Set<String> refused = new HashSet<>();
    List<ErasureCode> inOrder = new ArrayList<>();
    for (Section section : top.sections("codes")) {
      Optional<ErasureCode> code = readCode(section);
      section.end();
      code.ifPresentOrElse(
          inOrder::add, () -> section.text("name").ifPresent(name -> refused.add(name)));
      if (code.isPresent() && codes.put(code.get().name(), code.get()) != null) {
        section.problem(
            "name", "a second code is named '" + code.get() + "'", "give each its own name");
      }
    }
    List<CodeFamily> pairs = new ArrayList<>();
    for (Section section : top.sections("pairs")) {
      readPair(section, codes, refused).ifPresent(pairs::add);
      section.end();
    }
    return new Definitions(List.copyOf(inOrder), List.copyOf(pairs));
  }

  private static Optional<ErasureCode> readCode(Section section) {
    Optional<String> name = required(section, "name", "name: my-code");
    int tolerance = section.integer("tolerance", 0, 1, 255);
    if (!section.has("tolerance")) {
      section.problem(
          section.line(),
          "a code claims no tolerance",
          "write how many lost blocks it survives, whichever they are, as in 'tolerance: 3'");
    }
    Optional<String> described = section.text("code");
    List<byte[]> rows = readRows(section);
    if (described.isPresent() == !rows.isEmpty()) {
      section.problem(
          section.line(),
          "a code needs either 'code' or 'parities'",
          "write a family with parameters, as in 'code: RS(8,3)', or a list of rows");
      return Optional.empty();
    }
    if (name.isEmpty() || tolerance == 0) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          described.isPresent()
              ? Codes.named(name.get(), tolerance, described.get())
              : Codes.ofRows(name.get(), tolerance, rows));
    } catch (IllegalArgumentException e) {
      ConfigProblem problem = problem("", section.line(), e);
      section.problem(problem.line(), problem.message(), problem.remedy());
      return Optional.empty();
    }
  }

  /** A row per parity: numbers 0 to 255, decimal or hexadecimal, with spaces or commas between. */
  private static List<byte[]> readRows(Section section) {
    List<byte[]> rows = new ArrayList<>();
    for (Section.Entry entry : section.texts("parities")) {
      String[] words = entry.text().trim().split("[\\s,]+");
      byte[] row = new byte[words.length];
      for (int i = 0; i < words.length; i++) {
        int value = coefficient(words[i]);
        if (value < 0) {
          section.problem(
              entry.line(),
              "'" + words[i] + "' is not a coefficient",
              "write numbers from 0 to 255 or 0x00 to 0xff, one for each data block");
        }
        row[i] = (byte) value;
      }
      rows.add(row);
    }
    return rows;
  }

  private static int coefficient(String word) {
    try {
      int value = Integer.decode(word.matches("0+\\d+") ? word.replaceFirst("^0+", "") : word);
      return value <= 255 ? value : -1;
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private static Optional<CodeFamily> readPair(
      Section section, Map<String, ErasureCode> own, Set<String> refused) {
    Optional<String> name = required(section, "name", "name: my-pair");
    Optional<ErasureCode> fast = readHalf(section, "fast", own, refused);
    Optional<ErasureCode> compact = readHalf(section, "compact", own, refused);
    if (name.isEmpty() || fast.isEmpty() || compact.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(new CodeFamily(name.get(), fast.get(), compact.get()));
  }

  private static Optional<ErasureCode> readHalf(
      Section section, String key, Map<String, ErasureCode> own, Set<String> refused) {
    Optional<String> name = required(section, key, key + ": RS(6,3)");
    if (name.isPresent() && refused.contains(name.get())) {
      return Optional.empty(); // the problem of this code is reported already
    }
    if (name.isEmpty() || own.containsKey(name.get())) {
      return name.map(own::get);
    }
    try {
      return name.map(Codes::byName);
    } catch (IllegalArgumentException e) {
      ConfigProblem problem = problem("", section.line(key), e);
      section.problem(problem.line(), problem.message(), problem.remedy());
      return Optional.empty();
    }
  }

  private static Optional<String> required(Section section, String key, String example) {
    Optional<String> text = section.text(key).filter(t -> !t.isBlank());
    if (text.isEmpty()) {
      section.problem(
          section.line(), "an entry has no '" + key + "'", "write one, as in '" + example + "'");
    }
    return text;
  }

  /** A message of {@link Codes} reads "problem; remedy". */
  private static ConfigProblem problem(String file, int line, IllegalArgumentException e) {
    String message = e.getMessage();
    int end = message.lastIndexOf("; ");
    return end < 0
        ? new ConfigProblem(file, line, message, "see docs/configuration.md")
        : new ConfigProblem(file, line, message.substring(0, end), message.substring(end + 2));
  }
}
