package io.ebbfs.manager.api;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Makes the OpenAPI 3 document of a list of routes. */
final class OpenApi {
  private OpenApi() {}

  static Map<String, Object> document(List<Route> routes) {
    Map<String, Object> paths = new LinkedHashMap<>();
    for (Route route : routes) {
      paths.put(
          route.path(), Map.of(route.method().name().toLowerCase(Locale.ROOT), operation(route)));
    }
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("openapi", "3.0.3");
    document.put(
        "info",
        Map.of(
            "title", "EbbFS adaptive manager",
            "version", "1",
            "description", "Storage, temperature, policies and transitions of an EbbFS cluster."));
    document.put("paths", paths);
    document.put("components", Map.of("schemas", Map.of("Error", error())));
    return document;
  }

  private static Map<String, Object> operation(Route route) {
    List<Map<String, Object>> parameters = new ArrayList<>();
    for (Route.Parameter parameter : route.parameters()) {
      parameters.add(
          Map.of(
              "name", parameter.name(),
              "in", "query",
              "required", false,
              "description", parameter.description(),
              "schema", Map.of("type", parameter.type())));
    }
    Map<String, Object> failed =
        Map.of(
            "description",
            "The request failed; the body names the cause and the remedy.",
            "content",
            Map.of(
                "application/json",
                Map.of("schema", Map.of("$ref", "#/components/schemas/Error"))));
    Map<String, Object> responses = new LinkedHashMap<>();
    responses.put(
        "200",
        Map.of("description", route.summary(), "content", Map.of(route.contentType(), Map.of())));
    responses.put("default", failed);
    Map<String, Object> operation = new LinkedHashMap<>();
    operation.put("summary", route.summary());
    operation.put("parameters", parameters);
    operation.put("responses", responses);
    return operation;
  }

  private static Map<String, Object> error() {
    Map<String, Object> text = Map.of("type", "string");
    Map<String, Object> inner =
        Map.of("type", "object", "properties", Map.of("message", text, "remedy", text));
    return Map.of("type", "object", "properties", Map.of("error", inner));
  }
}
