package io.ebbfs.common.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StatusServerTest {
  private static final String HOST = "127.0.0.1";

  private record Fixed(Optional<String> notReady, String metrics) implements StatusServer.State {}

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(HOST))) {
      return socket.getLocalPort();
    }
  }

  private static HttpResponse<String> get(int port, String path) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create("http://" + HOST + ":" + port + path)).build(),
            HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void isLiveAtOnceAndReadyOnceItIsShown() throws Exception {
    int port = freePort();
    try (StatusServer server = StatusServer.start(HOST, port)) {
      assertThat(get(port, "/live").statusCode()).isEqualTo(200);
      assertThat(get(port, "/ready").statusCode()).isEqualTo(503);
      assertThat(get(port, "/metrics").body()).isEmpty();
      server.show(new Fixed(Optional.of("in safe mode"), ""));
      assertThat(get(port, "/ready").statusCode()).isEqualTo(503);
      assertThat(get(port, "/ready").body()).isEqualTo("in safe mode\n");
      server.show(new Fixed(Optional.empty(), "m 1\n"));
      assertThat(get(port, "/ready").statusCode()).isEqualTo(200);
      assertThat(get(port, "/metrics").body()).isEqualTo("m 1\n");
      assertThat(get(port, "/other").statusCode()).isEqualTo(404);
      assertThatThrownBy(() -> StatusServer.start(HOST, port)).hasMessageContaining("httpPort");
    }
  }

  @Test
  void withoutAPortNothingListens() throws Exception {
    StatusServer.start(HOST, 0).close();
  }

  @Test
  void metricsAreInTheFormatOfPrometheus() {
    String text =
        new PrometheusText()
            .gauge("a", "A", 1.5)
            .family("b", "counter", "B")
            .line("b", "who", "x\"y", 3)
            .toString();
    assertThat(text)
        .isEqualTo(
            "# HELP a A\n# TYPE a gauge\na 1.5\n"
                + "# HELP b B\n# TYPE b counter\nb{who=\"x\\\"y\"} 3\n");
    assertThat(new PrometheusText().withProcess().toString()).contains("ebbfs_jvm_threads ");
  }
}
