package io.ebbfs.verify.contract;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How Hadoop's contract tests ended.
 *
 * @param passed the names of the tests that passed
 * @param failed the reasons by the names of the tests
 * @param leftOut the reasons of the tests that were not run to their end, by their names
 */
record ContractResult(
    List<String> passed, Map<String, String> failed, Map<String, String> leftOut) {
  private static final int FIELDS = 3;

  /**
   * Reads what {@code ContractTool} prints.
   *
   * @throws IllegalArgumentException if a line is not of the tool
   */
  static ContractResult parse(List<String> lines) {
    ContractResult result = new ContractResult(new ArrayList<>(), new TreeMap<>(), new TreeMap<>());
    for (String line : lines) {
      String[] fields = line.split("\t", -1);
      if (fields.length != FIELDS) {
        throw new IllegalArgumentException("'" + line + "' is not the end of a test");
      }
      String name = decoded(fields[1]);
      switch (fields[0]) {
        case "passed" -> result.passed.add(name);
        case "failed" -> result.failed.put(name, decoded(fields[2]));
        case "leftOut" -> result.leftOut.put(name, decoded(fields[2]));
        default -> throw new IllegalArgumentException("'" + fields[0] + "' is no end of a test");
      }
    }
    return result;
  }

  private static String decoded(String field) {
    return URLDecoder.decode(field, StandardCharsets.UTF_8);
  }

  /** The subjects of the tests that failed. */
  List<String> failedSubjects() {
    return failed.keySet().stream().map(name -> name.replaceFirst("[.].*", "")).distinct().toList();
  }

  /** The same without the failures of tests that Apache HDFS fails, too. */
  ContractResult comparedWith(ContractResult hdfs) {
    ContractResult result =
        new ContractResult(passed, new TreeMap<>(failed), new TreeMap<>(leftOut));
    failed.forEach(
        (name, reason) -> {
          if (hdfs.failed.containsKey(name)) {
            result.failed.remove(name);
            result.leftOut.put(name, "Apache HDFS fails it, too: " + hdfs.failed.get(name));
          }
        });
    return result;
  }

  /** What the file of the run has. */
  Map<String, Object> figures() {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("passed", passed.size());
    figures.put("failed", List.copyOf(failed.keySet()));
    figures.put(
        "leftOut",
        leftOut.entrySet().stream()
            .map(test -> Map.of("name", test.getKey(), "reason", test.getValue()))
            .toList());
    return figures;
  }
}
