package io.ebbfs.common.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Answers supervisors and Prometheus over HTTP: {@code /live}, {@code /ready} and {@code /metrics}.
 * It may serve other pages, too. Thread-safe.
 */
public final class StatusServer implements AutoCloseable {
  private static final int THREADS = 2;
  private static final int MOST_WAITING = 32;

  /** Pages that are written at the same time. */
  static final int STREAMS = 2;

  private static final long PATIENCE_MILLIS = 30_000;

  /** What a process says of itself. Implementations are thread-safe and answer at once. */
  public interface State {
    /** Why the process cannot do its work now; empty if it can. */
    Optional<String> notReady();

    /** The metrics in the text format of Prometheus. */
    String metrics();
  }

  /** A process that is still starting. */
  private static final State STARTING =
      new State() {
        @Override
        public Optional<String> notReady() {
          return Optional.of("starting");
        }

        @Override
        public String metrics() {
          return "";
        }
      };

  static {
    // A client that sends half a request holds a thread for this long only.
    System.setProperty("sun.net.httpserver.maxReqTime", "5");
  }

  private final Optional<HttpServer> server;
  private final ExecutorService threads = Executors.newFixedThreadPool(THREADS, StatusServer::made);
  // Pages take long: probes have threads of their own.
  private final ExecutorService streams =
      new ThreadPoolExecutor(
          0, STREAMS, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), StatusServer::made);
  private final AnswerGuard guard;
  private volatile State state = STARTING;

  private StatusServer(Optional<HttpServer> server, long patienceMillis) {
    this.server = server;
    this.guard = new AnswerGuard(patienceMillis);
  }

  /**
   * Starts to answer: the process is live, and not ready until {@link #show} is called.
   *
   * @param port 0 for none: then nothing answers
   * @throws IOException with a message for the operator if the port cannot be had
   */
  public static StatusServer start(String host, int port) throws IOException {
    return start(host, port, PATIENCE_MILLIS);
  }

  /**
   * @param patienceMillis how long a client may read nothing before its connection is closed
   */
  static StatusServer start(String host, int port, long patienceMillis) throws IOException {
    if (port == 0) {
      return new StatusServer(Optional.empty(), patienceMillis);
    }
    HttpServer http;
    try {
      http = HttpServer.create(new InetSocketAddress(host, port), MOST_WAITING);
    } catch (IOException e) {
      throw new IOException(
          "the HTTP port %s:%d cannot be had (%s); stop what holds it, or change 'httpPort'"
              .formatted(host, port, e.getMessage()),
          e);
    }
    StatusServer made = new StatusServer(Optional.of(http), patienceMillis);
    http.setExecutor(made.threads);
    http.createContext(
        "/", exchange -> made.send(exchange, 404, "there are /live, /ready, /metrics\n"));
    http.createContext("/live", exchange -> made.send(exchange, 200, "live\n"));
    http.createContext("/ready", made::ready);
    http.createContext("/metrics", exchange -> made.send(exchange, 200, made.state.metrics()));
    http.start();
    return made;
  }

  private static Thread made(Runnable work) {
    Thread thread = new Thread(work, "status");
    thread.setDaemon(true);
    return thread;
  }

  /** Answers by this state from now on. */
  public void show(State now) {
    state = now;
  }

  /**
   * Serves a page from now on.
   *
   * @param path where the page is, such as {@code /fsck}
   */
  public void serve(String path, StreamedPage page) {
    server.ifPresent(http -> http.createContext(path, exchange -> begin(exchange, page)));
  }

  private void begin(HttpExchange exchange, StreamedPage page) throws IOException {
    try {
      streams.execute(() -> stream(exchange, page));
    } catch (RejectedExecutionException e) {
      String why = "%d such pages are being written already: repeat the request later%n";
      send(exchange, 503, why.formatted(STREAMS));
    }
  }

  private void stream(HttpExchange exchange, StreamedPage page) {
    try (exchange) {
      exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
      exchange.sendResponseHeaders(200, 0);
      try (Writer out =
          new BufferedWriter(
              new OutputStreamWriter(guard.guard(exchange.getResponseBody()), UTF_8))) {
        String client = exchange.getRemoteAddress().getAddress().getHostAddress();
        page.write(query(exchange.getRequestURI()), client, out);
      }
    } catch (IOException e) {
      exchange.close(); // the client has gone
    } finally {
      Thread.interrupted(); // the mark of the guard must not reach the next page
    }
  }

  private static Map<String, String> query(URI uri) {
    Map<String, String> query = new HashMap<>();
    String text = uri.getRawQuery() == null ? "" : uri.getRawQuery();
    for (String parameter : text.split("&")) {
      int equals = parameter.indexOf('=');
      if (equals > 0) {
        query.putIfAbsent(
            URLDecoder.decode(parameter.substring(0, equals), UTF_8),
            URLDecoder.decode(parameter.substring(equals + 1), UTF_8));
      }
    }
    return query;
  }

  private void ready(HttpExchange exchange) throws IOException {
    Optional<String> missing = state.notReady();
    send(exchange, missing.isEmpty() ? 200 : 503, missing.orElse("ready") + "\n");
  }

  private void send(HttpExchange exchange, int code, String text) throws IOException {
    try (exchange) {
      byte[] body = text.getBytes(UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
      exchange.sendResponseHeaders(code, body.length == 0 ? -1 : body.length);
      try (OutputStream out = guard.guard(exchange.getResponseBody())) {
        out.write(body);
      }
    } finally {
      Thread.interrupted(); // the mark of the guard must not reach the next answer
    }
  }

  @Override
  public void close() {
    server.ifPresent(http -> http.stop(0));
    threads.shutdownNow();
    streams.shutdownNow();
    guard.close();
  }
}
