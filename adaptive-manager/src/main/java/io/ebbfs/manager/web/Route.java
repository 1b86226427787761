package io.ebbfs.manager.web;

import io.javalin.http.HandlerType;
import java.util.List;

/**
 * One address of the API: what answers there, and what the OpenAPI document says of it. Registering
 * and documenting read the same list, so neither can lag behind.
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

  /** Makes the body: a text as it is, anything else as JSON. */
  interface Answer {
    Object to(Query query) throws Exception;
  }

  static Route get(String path, String summary, Answer answer, Parameter... parameters) {
    return new Route(
        HandlerType.GET, path, summary, List.of(parameters), "application/json", answer);
  }
}
