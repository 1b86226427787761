package io.ebbfs.common.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Answers supervisors and Prometheus over HTTP: {@code /live}, {@code /ready} and {@code /metrics}.
 * Thread-safe.
 */
public final class StatusServer implements AutoCloseable {
  private static final int THREADS = 2;
  private static final int MOST_WAITING = 32;

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
    // A client that sends half a request, or reads no answer, holds a thread for this long only.
    System.setProperty("sun.net.httpserver.maxReqTime", "5");
    System.setProperty("sun.net.httpserver.maxRspTime", "10");
  }

  private final Optional<HttpServer> server;
  private final ExecutorService threads = Executors.newFixedThreadPool(THREADS, StatusServer::made);
  private volatile State state = STARTING;

  private StatusServer(Optional<HttpServer> server) {
    this.server = server;
  }

  /**
   * Starts to answer: the process is live, and not ready until {@link #show} is called.
   *
   * @param port 0 for none: then nothing answers
   * @throws IOException with a message for the operator if the port cannot be had
   */
  public static StatusServer start(String host, int port) throws IOException {
    if (port == 0) {
      return new StatusServer(Optional.empty());
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
    StatusServer made = new StatusServer(Optional.of(http));
    http.setExecutor(made.threads);
    http.createContext("/", exchange -> send(exchange, 404, "there are /live, /ready, /metrics\n"));
    http.createContext("/live", exchange -> send(exchange, 200, "live\n"));
    http.createContext("/ready", made::ready);
    http.createContext("/metrics", exchange -> send(exchange, 200, made.state.metrics()));
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

  private void ready(HttpExchange exchange) throws IOException {
    Optional<String> missing = state.notReady();
    send(exchange, missing.isEmpty() ? 200 : 503, missing.orElse("ready") + "\n");
  }

  private static void send(HttpExchange exchange, int code, String text) throws IOException {
    try (exchange) {
      byte[] body = text.getBytes(UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
      exchange.sendResponseHeaders(code, body.length == 0 ? -1 : body.length);
      exchange.getResponseBody().write(body);
    }
  }

  @Override
  public void close() {
    server.ifPresent(http -> http.stop(0));
    threads.shutdownNow();
  }
}
