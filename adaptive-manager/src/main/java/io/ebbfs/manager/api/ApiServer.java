package io.ebbfs.manager.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.common.charts.ChartLibrary;
import io.ebbfs.manager.view.NamenodeException;
import io.javalin.Javalin;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import io.javalin.router.Endpoint;
import java.io.IOException;
import java.io.InputStream;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The REST API and the dashboard. Thread-safe. */
public final class ApiServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ApiServer.class);
  private static final String AUDIT_LOG = "audit.log";
  private static final int THREADS = 12;
  private static final Map<String, String> PAGE =
      Map.of(
          "/", "index.html",
          "/dashboard.css", "dashboard.css",
          "/dashboard.js", "dashboard.js",
          "/actions.js", "actions.js",
          "/files.js", "files.js",
          "/preview.js", "preview.js");
  private static final Map<String, Supplier<String>> LIBRARIES =
      Map.of("/echarts.min.js", ChartLibrary::echarts, "/charts.js", ChartLibrary::charts);

  /** The page loads nothing from other servers: a dashboard must work without the internet. */
  private static final String ONLY_OWN_ORIGIN =
      "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
          + " frame-ancestors 'none'; form-action 'none'; base-uri 'none'";

  private static final Map<String, String> TYPES =
      Map.of("html", "text/html", "css", "text/css", "js", "text/javascript");

  private final List<Route> routes;
  private final ApiWriters writers;
  private final ActionLog log;
  private final ObjectMapper json =
      new ObjectMapper().setSerializationInclusion(JsonInclude.Include.NON_NULL);
  private Javalin app;

  /**
   * An API that does not listen yet.
   *
   * @param writers who may change something
   * @throws IOException if the audit log cannot be written
   */
  public ApiServer(ManagerState manager, ApiWriters writers, Clock clock) throws IOException {
    this.writers = writers;
    this.log = ActionLog.open(manager.options().dataDirectory().resolve(AUDIT_LOG), clock);
    this.routes = new Routes(manager).all();
  }

  /**
   * @throws IOException if the port is in use
   */
  public void start(String host, int port) throws IOException {
    try {
      app = Javalin.create(this::configure).start(host, port);
    } catch (RuntimeException e) {
      throw new IOException(
          "The HTTP port "
              + host
              + ":"
              + port
              + " cannot be bound ("
              + rootMessage(e)
              + "); choose another with --http-port, or stop the process that holds it",
          e);
    }
    LOG.info("API and dashboard at http://{}:{}/", host, app.port());
  }

  private static String rootMessage(Throwable e) {
    Throwable root = e;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root.getMessage();
  }

  public int port() {
    return app == null ? -1 : app.port();
  }

  private void configure(JavalinConfig config) {
    config.startup.showJavalinBanner = false;
    config.jetty.threadPool = new QueuedThreadPool(THREADS, 3);
    config.http.maxRequestSize = 64 << 10;
    for (Route route : routes) {
      config.routes.addEndpoint(
          Endpoint.create(route.method(), route.path()).handler(c -> answer(route, c)));
    }
    PAGE.forEach((path, name) -> config.routes.get(path, context -> page(context, name)));
    LIBRARIES.forEach(
        (path, script) ->
            config.routes.get(path, c -> send(c, "js", script.get().getBytes(UTF_8))));
    config.routes.exception(ApiException.class, (e, c) -> fail(c, e.status(), e, e.remedy()));
    config.routes.exception(
        NamenodeException.class,
        (e, c) -> fail(c, 503, e, "start the namenode, or see /api/v1/health"));
    config.routes.exception(
        Exception.class,
        (e, c) -> {
          LOG.error("{} {} failed", c.method(), c.path(), e);
          fail(c, 500, e, "see the log of the control plane");
        });
    config.routes.error(404, c -> notFound(c));
  }

  private void answer(Route route, Context context) throws Exception {
    Query query = new Query(context);
    if (route.method() != HandlerType.GET) {
      admit(route, query, context);
    }
    Object body = route.answer().to(query);
    context.header("Cache-Control", "no-store");
    context.contentType(route.contentType());
    context.result(body instanceof String text ? text : json.writeValueAsString(body));
  }

  /** Refuses a caller who may change nothing, and notes what is going to be done. */
  private void admit(Route route, Query query, Context context) {
    String command = route.path().substring(route.path().lastIndexOf('/') + 1);
    try {
      ApiWriters.checkSite(
          context.header("Sec-Fetch-Site"), context.header("Origin"), context.header("Host"));
      writers.check(context.header("Authorization"));
    } catch (ApiException e) {
      log.note(false, context.ip(), command, context.queryString());
      throw e;
    }
    boolean isPreview = route.path().endsWith("/preview");
    query.requireOnly(route.parameters(), isPreview);
    if (!query.flag("dryRun") && !isPreview) {
      log.note(true, context.ip(), command, context.queryString());
    }
  }

  private static void page(Context context, String name) throws IOException {
    try (InputStream in = ApiServer.class.getResourceAsStream("/dashboard/" + name)) {
      if (in == null) {
        throw new IOException("the dashboard's file " + name + " is missing from the build");
      }
      send(context, name.substring(name.indexOf('.') + 1), in.readAllBytes());
    }
  }

  private static void send(Context context, String kind, byte[] content) {
    context.contentType(TYPES.get(kind) + "; charset=utf-8");
    context.header("Cache-Control", "no-cache");
    context.header("Content-Security-Policy", ONLY_OWN_ORIGIN);
    context.result(content);
  }

  private void notFound(Context context) {
    if (context.result() == null || !context.result().startsWith("{\"error\"")) {
      fail(
          context,
          404,
          new IllegalArgumentException("there is nothing at " + context.path()),
          "see /api/v1/openapi.json for what there is");
    }
  }

  private void fail(Context context, int status, Exception e, String remedy) {
    context.status(status).contentType("application/json");
    try {
      context.result(
          json.writeValueAsString(
              Map.of(
                  "error", Map.of("message", String.valueOf(e.getMessage()), "remedy", remedy))));
    } catch (JsonProcessingException unexpected) {
      throw new IllegalStateException(unexpected);
    }
  }

  @Override
  public void close() {
    if (app != null) {
      app.stop();
    }
    try {
      log.close();
    } catch (IOException e) {
      LOG.warn("The audit log cannot be closed: {}", e.getMessage());
    }
  }
}
