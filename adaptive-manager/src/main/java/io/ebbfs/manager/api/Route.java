package io.ebbfs.manager.api;

import io.javalin.http.HandlerType;
import java.util.ArrayList;
import java.util.List;

/**
 * One address of the API: its answer, and its description in the OpenAPI document. The server and
 * the document read the same list of routes, so they always agree.
 */
record Route(
    HandlerType method,
    String path,
    String summary,
    List<Parameter> parameters,
    String contentType,
    Answer answer) {

  /** A query parameter. */
  record Parameter(String name, String type, String description) {}

  /** Makes the body of an answer. A text is sent as it is, any other object as JSON. */
  interface Answer {
    Object to(Query query) throws Exception;
  }

  /** An action of an operator. All of them have the parameter dryRun. */
  static Route action(String path, String summary, Answer answer, Parameter... parameters) {
    List<Parameter> all = new ArrayList<>(List.of(parameters));
    all.add(new Parameter("dryRun", "boolean", "true: only tell in numbers what it would do"));
    return new Route(HandlerType.POST, path, summary, all, "application/json", answer);
  }

  static Route get(String path, String summary, Answer answer, Parameter... parameters) {
    return new Route(
        HandlerType.GET, path, summary, List.of(parameters), "application/json", answer);
  }
}
