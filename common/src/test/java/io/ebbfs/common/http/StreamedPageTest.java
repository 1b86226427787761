package io.ebbfs.common.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class StreamedPageTest {
  private static final String HOST = "127.0.0.1";

  private final HttpClient client = HttpClient.newHttpClient();

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(HOST))) {
      return socket.getLocalPort();
    }
  }

  private CompletableFuture<HttpResponse<String>> get(int port, String path) {
    return client.sendAsync(
        HttpRequest.newBuilder(URI.create("http://" + HOST + ":" + port + path)).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void aPageGetsTheParametersAndTheClient() throws Exception {
    int port = freePort();
    try (StatusServer server = StatusServer.start(HOST, port)) {
      server.serve(
          "/page", (query, from, out) -> out.write(query.get("a b") + query.get("none") + from));
      assertThat(get(port, "/page?a+b=c%2F&d&a+b=e").get().body()).isEqualTo("c/null127.0.0.1");
    }
  }

  @Test
  void morePagesThanThreadsAreRefusedAndProbesAnswered() throws Exception {
    int port = freePort();
    CountDownLatch end = new CountDownLatch(1);
    CountDownLatch began = new CountDownLatch(StatusServer.STREAMS);
    try (StatusServer server = StatusServer.start(HOST, port)) {
      server.serve(
          "/page",
          (query, from, out) -> {
            began.countDown();
            await(end);
            out.write("whole");
          });
      List<CompletableFuture<HttpResponse<String>>> pages = new ArrayList<>();
      for (int i = 0; i < StatusServer.STREAMS; i++) {
        pages.add(get(port, "/page"));
      }
      began.await();
      assertThat(get(port, "/page").get().statusCode()).isEqualTo(503);
      assertThat(get(port, "/live").get().statusCode()).isEqualTo(200);
      end.countDown();
      for (CompletableFuture<HttpResponse<String>> page : pages) {
        assertThat(page.get().body()).isEqualTo("whole");
      }
    }
  }

  private static void await(CountDownLatch latch) throws IOException {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  @Test
  void aClientThatReadsNothingIsLeft() throws Exception {
    int port = freePort();
    CountDownLatch left = new CountDownLatch(1);
    try (StatusServer server = StatusServer.start(HOST, port, 200);
        Socket silent = new Socket(HOST, port)) {
      server.serve(
          "/page",
          (query, from, out) -> {
            try {
              while (true) {
                out.write("a line that nobody reads\n");
              }
            } catch (IOException e) {
              left.countDown();
              throw e;
            }
          });
      silent
          .getOutputStream()
          .write("GET /page HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      assertThat(left.await(30, TimeUnit.SECONDS)).isTrue();
      server.serve("/next", (query, from, out) -> out.write("next"));
      assertThat(get(port, "/next").get().body()).isEqualTo("next");
    }
  }
}
