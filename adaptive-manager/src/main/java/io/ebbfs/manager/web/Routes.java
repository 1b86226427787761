package io.ebbfs.manager.web;

import io.ebbfs.manager.Manager;
import io.ebbfs.manager.web.Route.Parameter;
import io.javalin.http.HandlerType;
import java.util.ArrayList;
import java.util.List;

/** All routes of the API. */
final class Routes {
  private static final Parameter CURSOR =
      new Parameter("cursor", "string", "'nextCursor' of the page before");
  private static final Parameter LIMIT =
      new Parameter("limit", "integer", "most entries of a page, 1 to 1000");

  private final List<Route> routes = new ArrayList<>();

  Routes(Manager manager) {
    ClusterAnswers cluster = new ClusterAnswers(manager);
    FileAnswers files = new FileAnswers(manager);
    PolicyAnswers policies = new PolicyAnswers(manager);
    TransitionAnswers transitions = new TransitionAnswers(manager);
    routes.add(
        Route.get(
            "/api/v1/cluster",
            "Servers, disks, capacity, overhead, files by state and temperature, counters",
            query -> cluster.cluster()));
    routes.add(
        Route.get(
            "/api/v1/files",
            "Files with their state, the reason for it, and their temperature",
            files::files,
            new Parameter("path", "string", "only this path and what lies below it"),
            new Parameter("state", "string", "only files in this state"),
            new Parameter("hot", "boolean", "true: only read-hot files"),
            CURSOR,
            LIMIT));
    routes.add(
        Route.get(
            "/api/v1/policies",
            "The policies in force, their bytes against their bounds, and a refused edit",
            query -> policies.policies()));
    routes.add(
        new Route(
            HandlerType.POST,
            "/api/v1/policies/evaluate",
            "Evaluates the policies now and returns the decisions",
            List.of(new Parameter("dryRun", "boolean", "true: only return, propose nothing")),
            "application/json",
            policies::evaluate));
    routes.add(
        Route.get(
            "/api/v1/transitions",
            "Transitions with their reasons, and what was decided or refused lately",
            transitions::transitions,
            new Parameter(
                "state",
                "string",
                "PLANNED, RUNNING, DONE, FAILED, DROPPED, NO_SPACE or NO_DOMAINS"),
            CURSOR,
            LIMIT));
    routes.add(
        Route.get(
            "/api/v1/jobs",
            "The batches of transitions that workers run or ran lately",
            query -> transitions.jobs()));
    routes.add(Route.get("/api/v1/health", "What is wrong and what to do", q -> manager.health()));
    routes.add(
        Route.get(
            "/api/v1/timeline",
            "Samples of stored bytes and overhead by policy, with the bound",
            cluster::timeline,
            new Parameter("since", "integer", "milliseconds since the epoch"),
            new Parameter("points", "integer", "most samples, 2 to 5000")));
    routes.add(
        new Route(
            HandlerType.GET,
            "/metrics",
            "Prometheus metrics",
            List.of(),
            "text/plain; version=0.0.4; charset=utf-8",
            query -> new Metrics(manager).text()));
    routes.add(
        Route.get("/api/v1/openapi.json", "This document", query -> OpenApi.document(routes)));
  }

  List<Route> all() {
    return List.copyOf(routes);
  }
}
