package io.ebbfs.manager.config;

import java.util.List;
import java.util.stream.Collectors;

/** A configuration that is refused as a whole: every problem in it, in the order of its lines. */
public final class ConfigException extends Exception {
  private final List<Problem> problems;

  public ConfigException(List<Problem> problems) {
    super(problems.stream().map(Problem::toString).collect(Collectors.joining("\n")));
    this.problems = List.copyOf(problems);
  }

  public List<Problem> problems() {
    return problems;
  }
}
