package io.ebbfs.manager;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.ManagerConfig;
import io.ebbfs.manager.config.ManagerOptions;
import io.ebbfs.manager.model.ModelNamenode;
import io.ebbfs.protocol.rpc.SecretFile;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Optional;

/** A manager over the model of the namenode, without Kafka, and a client of its API. */
final class ManagerRig implements AutoCloseable {
  final Path directory;
  final Path token;
  final ModelNamenode namenode = new ModelNamenode();
  Manager manager;
  private final HttpClient http = HttpClient.newHttpClient();
  private final ObjectMapper json = new ObjectMapper();

  ManagerRig(Path directory, String policies) throws Exception {
    this.directory = directory;
    this.token = directory.resolve("api.token");
    SecretFile.create(token);
    Files.writeString(policies(), policies);
  }

  Path policies() {
    return directory.resolve("policies.yaml");
  }

  /** Nothing runs on a schedule, but that edits of the policies are noticed. */
  void start() throws Exception {
    start(new ManagerConfig.Schedule(3_600_000, 3_600_000, 3_600_000, 100));
  }

  void start(ManagerConfig.Schedule schedule) throws Exception {
    ManagerConfig calm = ManagerConfig.defaults();
    manager =
        new Manager(
            new ManagerOptions(
                directory,
                directory.resolve("data"),
                "namenode:8020",
                "127.0.0.1:1",
                "127.0.0.1",
                0,
                Optional.of(token)),
            new ManagerConfig(calm.heat(), schedule, calm.limits(), calm.startup()),
            CodeRegistry.builtIn(),
            () -> namenode,
            Clock.systemUTC());
    manager.start();
  }

  String address() {
    return "http://127.0.0.1:" + manager.httpPort();
  }

  JsonNode get(String path) throws Exception {
    HttpResponse<String> response =
        http.send(
            HttpRequest.newBuilder(URI.create(address() + path)).build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(response.statusCode()).as("%s: %s", path, response.body()).isEqualTo(200);
    return json.readTree(response.body());
  }

  HttpResponse<String> post(String path, String... moreHeaders) throws Exception {
    return postBody(path, "", moreHeaders);
  }

  HttpResponse<String> postBody(String path, String body, String... moreHeaders) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(address() + path))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .header("Authorization", "Bearer " + Files.readString(token).strip());
    if (moreHeaders.length > 0) {
      request.headers(moreHeaders);
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  /** An action that succeeds. */
  JsonNode act(String action) throws Exception {
    HttpResponse<String> response = post("/api/v1/actions/" + action);
    assertThat(response.statusCode()).as("%s: %s", action, response.body()).isEqualTo(200);
    return json.readTree(response.body());
  }

  /** The error of an action that is refused. */
  String refused(String action, int status) throws Exception {
    HttpResponse<String> response = post("/api/v1/actions/" + action);
    assertThat(response.statusCode()).as("%s: %s", action, response.body()).isEqualTo(status);
    return json.readTree(response.body()).path("error").toString();
  }

  void evaluate() throws Exception {
    assertThat(post("/api/v1/policies/evaluate").statusCode()).isEqualTo(200);
  }

  @Override
  public void close() {
    manager.close();
  }
}
