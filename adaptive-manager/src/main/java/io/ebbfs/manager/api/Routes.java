package io.ebbfs.manager.api;

import io.ebbfs.manager.api.Route.Parameter;
import io.javalin.http.HandlerType;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** All routes of the API. */
final class Routes {
  private static final Parameter CURSOR =
      new Parameter("cursor", "string", "'nextCursor' of the previous page");
  private static final Parameter LIMIT =
      new Parameter("limit", "integer", "maximum number of entries of a page, 1 to 1000");

  private final List<Route> routes = new ArrayList<>();

  Routes(ManagerState manager) {
    ClusterAnswers cluster = new ClusterAnswers(manager);
    FileAnswers files = new FileAnswers(manager);
    PolicyAnswers policies = new PolicyAnswers(manager);
    TransitionAnswers transitions = new TransitionAnswers(manager);
    routes.add(
        Route.get(
            "/api/v1/cluster",
            "The namenode's address, servers, disks, capacity, overhead, files by state and"
                + " temperature, counters",
            query -> cluster.cluster()));
    routes.add(
        Route.get(
            "/api/v1/files",
            "Files with their state, the reason for it, and their temperature",
            files::files,
            new Parameter("path", "string", "only this path and everything below it"),
            new Parameter("state", "string", "only files in this state"),
            new Parameter("hot", "boolean", "true: only read-hot files"),
            CURSOR,
            LIMIT));
    routes.add(
        Route.get(
            "/api/v1/policies",
            "The policies in force, their bytes and bounds, the share of reads that each code"
                + " serves, the blocks that a degraded read reads, and the problems of a refused"
                + " edit",
            query -> policies.policies()));
    routes.add(
        Route.get(
            "/api/v1/policies/text",
            "The text of policies.yaml that is in force",
            query -> policies.text()));
    routes.add(
        new Route(
            HandlerType.POST,
            "/api/v1/policies/evaluate",
            "Evaluates the policies now and returns the decisions",
            List.of(
                new Parameter(
                    "dryRun", "boolean", "true: return the decisions without proposing them")),
            "application/json",
            policies::evaluate));
    routes.add(
        new Route(
            HandlerType.POST,
            "/api/v1/policies/preview",
            "What the policies in the body (YAML, as in policies.yaml) would do now if they were in"
                + " force: decisions, bytes to move, and where storage ends. Nothing changes. With"
                + " many files the answer has the number of a job",
            List.of(),
            "application/json",
            policies::preview));
    routes.add(
        Route.get(
            "/api/v1/policies/previewed",
            "How far a preview has come, and its result: of many files an estimate from a sample,"
                + " with margins of 95% confidence",
            policies::previewed,
            new Parameter("job", "integer", "from the answer to the preview")));
    addBrowsing(new BrowseAnswers(manager, files));
    ActionAnswers actions = new ActionAnswers(manager);
    addActions(actions);
    addBounds(new BoundAnswers(manager, actions));
    addCare(new CareAnswers(manager, actions));
    routes.add(
        Route.get(
            "/api/v1/history",
            "What was decided and done, the newest first: decisions, refusals, actions of"
                + " operators",
            new HistoryAnswers(manager)::history,
            CURSOR,
            LIMIT));
    routes.add(
        Route.get(
            "/api/v1/transitions",
            "Transitions with their reasons, and the latest decisions and refusals",
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
            "The transitions that run or ended recently, grouped by the executor that claimed them",
            query -> transitions.jobs()));
    routes.add(Route.get("/api/v1/health", "Problems and their remedies", q -> manager.health()));
    routes.add(
        Route.get(
            "/api/v1/timeline",
            "Samples of stored bytes and overhead by policy, with the bound",
            cluster::timeline,
            new Parameter(
                "since", "integer", "only samples from this time on, in milliseconds since 1970"),
            new Parameter("points", "integer", "maximum number of samples, 2 to 5000")));
    routes.add(
        new Route(
            HandlerType.GET,
            "/metrics",
            "Prometheus metrics",
            List.of(),
            "text/plain; version=0.0.4; charset=utf-8",
            query -> new Metrics(manager).text()));
    routes.add(probe("/live", "Answers as long as the control plane runs", () -> "live\n"));
    routes.add(
        probe("/ready", "200 if the namenode answers the manager, else 503", () -> ready(manager)));
    routes.add(
        Route.get("/api/v1/openapi.json", "This document", query -> OpenApi.document(routes)));
  }

  private void addBrowsing(BrowseAnswers browse) {
    routes.add(
        Route.get(
            "/api/v1/directory",
            "The directories and files of a directory, by name",
            browse::directory,
            new Parameter("path", "string", "the directory; / if left out"),
            CURSOR,
            LIMIT));
    routes.add(
        Route.get(
            "/api/v1/search",
            "Files and directories whose path or name begins with a text",
            browse::search,
            new Parameter("text", "string", "begins with '/': the begin of a path; else of a name"),
            CURSOR,
            LIMIT));
    routes.add(
        Route.get(
            "/api/v1/file",
            "A file, why it is as it is, its stripes and its transitions",
            browse::file,
            new Parameter("path", "string", "the file")));
  }

  private void addActions(ActionAnswers actions) {
    Parameter id = new Parameter("id", "integer", "the transition");
    routes.add(
        Route.action(
            "/api/v1/actions/pause",
            "The manager proposes nothing by itself until it is resumed, also after a restart",
            actions::pause));
    routes.add(
        Route.action("/api/v1/actions/resume", "The manager proposes again", actions::resume));
    routes.add(
        Route.action(
            "/api/v1/actions/convert",
            "Encodes or converts all data below a path now, within the bound",
            actions::convert,
            new Parameter("path", "string", "a file or directory of at most 2,000 files"),
            new Parameter("to", "string", "fast, compact or replicas")));
    routes.add(
        Route.action(
            "/api/v1/actions/pin",
            "Pins a file or directory to a code, or removes its pin",
            actions::pin,
            new Parameter("path", "string", "a file or directory, but not /"),
            new Parameter("to", "string", "fast, compact, replicas or none")));
    routes.add(
        Route.action(
            "/api/v1/actions/cancel",
            "Ends a planned or running encoding or conversion",
            actions::cancel,
            id));
    routes.add(
        Route.action(
            "/api/v1/actions/retry",
            "Proposes a failed encoding or conversion again",
            actions::retry,
            id));
    Parameter server =
        new Parameter(
            "server", "string", "its name, host:port, or its uuid, as /cluster tells them");
    routes.add(
        Route.action(
            "/api/v1/actions/drain",
            "Empties a chunk server that is to leave: its blocks get places on other servers",
            actions::drain,
            server));
    routes.add(
        Route.action(
            "/api/v1/actions/undrain",
            "Takes a chunk server back that is drained, or being drained",
            actions::undrain,
            server));
    routes.add(
        Route.action("/api/v1/actions/scrub", "Begins a pass of the parity scrub", actions::scrub));
  }

  private void addBounds(BoundAnswers bounds) {
    Parameter bound = new Parameter("bound", "number", "stored bytes per byte of encoded data");
    routes.add(
        Route.action(
            "/api/v1/actions/bound",
            "Changes the storageBound of a policy in policies.yaml",
            bounds::bound,
            new Parameter("policy", "string", "the name of the policy"),
            bound));
    routes.add(
        Route.action(
            "/api/v1/actions/clusterbound",
            "Changes the storageBound of the whole cluster in policies.yaml",
            bounds::clusterBound,
            bound));
  }

  private void addCare(CareAnswers care) {
    Parameter server =
        new Parameter(
            "server", "string", "its name, host:port, or its uuid, as /cluster tells them");
    routes.add(
        Route.action(
            "/api/v1/actions/hibernate",
            "Lets a chunk server be stopped for a while; nothing is repaired for it meanwhile",
            care::hibernate,
            server,
            new Parameter("for", "string", "how long, such as 2h")));
    routes.add(
        Route.action(
            "/api/v1/actions/wake", "Ends the hibernation of a chunk server", care::wake, server));
    routes.add(
        Route.action(
            "/api/v1/actions/rebalance",
            "Levels the fullness of the disks in the background",
            care::rebalance,
            new Parameter("threshold", "number", "a share between 0 and 1, such as 0.1"),
            new Parameter("bandwidth", "string", "bytes in a second, such as 20MiB")));
    routes.add(
        Route.action("/api/v1/actions/stoprebalance", "Stops the rebalance", care::stopRebalance));
  }

  private static Route probe(String path, String description, Supplier<String> answer) {
    return new Route(
        HandlerType.GET,
        path,
        description,
        List.of(),
        "text/plain; charset=utf-8",
        query -> answer.get());
  }

  private static String ready(ManagerState manager) {
    String problem = manager.namenode().problem();
    if (problem != null || manager.cluster() == null) {
      throw new ApiException(
          503,
          problem == null ? "the namenode has not answered yet" : problem,
          "start the namenode, or see /api/v1/health");
    }
    return "ready\n";
  }

  List<Route> all() {
    return List.copyOf(routes);
  }
}
