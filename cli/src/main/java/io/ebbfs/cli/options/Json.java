package io.ebbfs.cli.options;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import picocli.CommandLine.Option;

/** The option {@code --json} of commands that print figures. */
public final class Json {
  @Option(names = "--json", description = "Prints the figures as JSON for programs.")
  private boolean asked;

  public boolean isAsked() {
    return asked;
  }

  /** Prints a value with an indent for each level. */
  public static void print(Object value) throws JsonProcessingException {
    ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
    System.out.println(mapper.writeValueAsString(value));
  }
}
