package io.ebbfs.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.common.charts.ChartLibrary;
import io.ebbfs.manager.config.HalfLives;
import io.ebbfs.manager.config.ManagerConfig;
import io.ebbfs.manager.config.ManagerOptions;
import io.ebbfs.manager.heat.ManagerStore;
import io.ebbfs.manager.heat.OpenEvent;
import io.ebbfs.manager.model.ModelNamenode;
import io.ebbfs.protocol.rpc.SecretFile;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole manager over the model of the namenode, by its API. Kafka is away throughout. */
class ManagerTest {
  private static final String POLICIES =
      """
      policies:
        - name: cold
          paths: [/cold]
          family: product
          storageBound: 1.5
          writeColdAfter: 1s
          readHot: {perMiB: 1}
          fillWait: 0
      """;

  @TempDir Path directory;
  private final ModelNamenode namenode = new ModelNamenode();
  private final HttpClient http = HttpClient.newHttpClient();
  private final ObjectMapper json = new ObjectMapper();
  private Path token;
  private Manager manager;

  @BeforeEach
  void start() throws Exception {
    token = directory.resolve("api.token");
    SecretFile.create(token);
    Files.writeString(directory.resolve("policies.yaml"), POLICIES);
    long past = System.currentTimeMillis() - 60_000;
    for (int i = 0; i < 60; i++) {
      namenode.addFile("/cold/file-" + i, past, 1 << 20);
    }
    namenode.addFile("/elsewhere/x", past, 5);
    manager = open();
    manager.start();
  }

  private Manager open() throws Exception {
    ManagerConfig calm = ManagerConfig.defaults();
    ManagerConfig config =
        new ManagerConfig(
            calm.heat(),
            new ManagerConfig.Schedule(3_600_000, 3_600_000, 3_600_000, 100),
            calm.limits(),
            calm.startup());
    return new Manager(
        new ManagerOptions(
            directory,
            directory.resolve("data"),
            "namenode:8020",
            "127.0.0.1:1",
            "127.0.0.1",
            0,
            Optional.of(token)),
        config,
        CodeRegistry.builtIn(),
        () -> namenode,
        Clock.systemUTC());
  }

  @AfterEach
  void stop() {
    manager.close();
  }

  private HttpResponse<String> send(String method, String path) throws Exception {
    return send(method, path, "Bearer " + Files.readString(token).strip());
  }

  private HttpResponse<String> send(String method, String path, String authorization)
      throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + manager.httpPort() + path);
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri).method(method, HttpRequest.BodyPublishers.noBody());
    if (authorization != null) {
      request.header("Authorization", authorization);
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private JsonNode get(String path) throws Exception {
    HttpResponse<String> response = send("GET", path);
    assertThat(response.statusCode()).as("%s: %s", path, response.body()).isEqualTo(200);
    return json.readTree(response.body());
  }

  @Test
  void whatChangesSomethingNeedsTheToken() throws Exception {
    String path = "/api/v1/policies/evaluate";
    HttpResponse<String> without = send("POST", path, null);
    assertThat(without.statusCode()).isEqualTo(401);
    assertThat(without.body()).contains("needs a token", "Authorization: Bearer", "--api-token");
    for (String wrong : new String[] {"Bearer ", "Bearer x", "Basic eDp5", "bearer"}) {
      assertThat(send("POST", path, wrong).statusCode()).as(wrong).isEqualTo(401);
    }
    assertThat(namenode.proposed).isEmpty();
    assertThat(send("GET", "/api/v1/policies", null).statusCode()).isEqualTo(200);
    send("POST", path);
    assertThat(namenode.proposed).isNotEmpty();
  }

  @Test
  void encodesWhatIsColdAndShowsIt() throws Exception {
    JsonNode dry = json.readTree(send("POST", "/api/v1/policies/evaluate?dryRun=true").body());
    assertThat(dry.path("decisions").size()).isEqualTo(1);
    assertThat(namenode.proposed).isEmpty();
    send("POST", "/api/v1/policies/evaluate");
    assertThat(namenode.proposed).isNotEmpty();
    assertThat(namenode.proposed.get(0).getToCode()).isEqualTo("PC(6x5)");
    namenode.completeAll(new Random(1));
    send("POST", "/api/v1/policies/evaluate");

    JsonNode file = get("/api/v1/files?path=/cold&limit=10").path("files").get(0);
    assertThat(file.path("state").asText()).isEqualTo("COMPACT");
    JsonNode policy = get("/api/v1/policies").path("policies").get(0);
    assertThat(policy.path("account").path("encodedOverhead").asDouble()).isEqualTo(1.4);
    JsonNode packing = policy.path("account").path("packing");
    assertThat(packing.path("liveBytes").asLong()).isPositive();
    assertThat(packing.path("ownBytes").asLong())
        .isEqualTo(packing.path("liveBytes").asLong() * 2 / 5);
    assertThat(packing.path("unfilledBytes").asLong()).isZero();
    assertThat(policy.path("account").path("packingByCode").path("PC(6x5)")).isEqualTo(packing);
    assertThat(get("/api/v1/cluster").path("packing")).isEqualTo(packing);
    assertThat(get("/api/v1/files?state=NO_POLICY").path("files").get(0).path("path").asText())
        .isEqualTo("/elsewhere/x");
    assertThat(send("GET", "/metrics").body())
        .contains("ebbfs_policy_overhead{policy=\"cold\"} 1.4")
        .contains(
            "ebbfs_packing_bytes{policy=\"cold\",code=\"PC(6x5)\",cause=\"own\"} "
                + packing.path("ownBytes").asLong())
        .contains("ebbfs_packing_bytes{policy=\"cold\",code=\"PC(6x5)\",cause=\"padding\"} 0");
  }

  @Test
  void saysHowFarTheScansOfTheNamenodeAre() throws Exception {
    JsonNode scans = get("/api/v1/cluster").path("scans");
    assertThat(scans.get(0).path("name").asText()).isEqualTo("blocks");
    assertThat(scans.get(0).path("visited").asLong()).isEqualTo(600);
    assertThat(scans.get(0).path("rows").asLong()).isEqualTo(1_000);
    assertThat(scans.get(0).path("completedMillis").asLong()).isEqualTo(60);
    assertThat(scans.get(1).has("completedMillis")).as("no pass has ended").isFalse();
  }

  @Test
  void saysWhichCodeServesTheReadsAndWhatADegradedReadCosts() throws Exception {
    manager.close();
    List<OpenEvent> opens = new ArrayList<>();
    long now = System.currentTimeMillis();
    for (long id : List.of(1L, 1L, 1L, 2L)) {
      opens.add(new OpenEvent(id, now));
    }
    try (ManagerStore store = ManagerStore.open(directory.resolve("data"))) {
      store.count(
          opens,
          new ManagerStore.Position("ebbfs.opens", 0, 1),
          new HalfLives(3_600_000, 3_600_000));
    }
    manager = open();
    manager.start();
    send("POST", "/api/v1/policies/evaluate");
    JsonNode before = get("/api/v1/policies").path("policies").get(0);
    assertThat(before.path("degradedReadBlocks").path("PC(2x5)").asDouble()).isEqualTo(2);
    assertThat(before.path("degradedReadBlocks").path("PC(6x5)").asDouble()).isEqualTo(5);
    assertThat(before.path("account").path("reads").path("blockReads").asDouble())
        .isBetween(3.9, 4.0);
    assertThat(before.path("account").path("reads").path("replicatedShare").asDouble())
        .isEqualTo(1);

    namenode.completeAll(new Random(1));
    send("POST", "/api/v1/policies/evaluate");
    JsonNode reads = get("/api/v1/policies").path("policies").get(0).path("account").path("reads");
    // The file that is read three times is hot, and waits for further files to fill a fast stripe.
    assertThat(reads.path("compactShare").asDouble()).isCloseTo(0.25, within(1e-3));
    assertThat(reads.path("replicatedShare").asDouble()).isCloseTo(0.75, within(1e-3));
    assertThat(reads.path("fastShare").asDouble()).isZero();
    assertThat(get("/api/v1/cluster").path("namenode").asText()).isEqualTo("namenode:8020");
    assertThat(get("/api/v1/cluster").path("transitionKinds").path("UPCODE").asText())
        .isEqualTo("conversion to compact");
    assertThat(get("/api/v1/openapi.json").path("paths").path("/api/v1/policies").toString())
        .contains("the share of reads that each code serves");
  }

  /** 60 compact blocks are read so often that the way to the fast code and back pays. */
  /** Two compact stripes, each of which is worth the fast code, and a budget for one of them. */
  private void storeTwoHotStripes() throws Exception {
    manager.close();
    Files.writeString(
        directory.resolve("policies.yaml"),
        """
        policies:
          - name: cold
            paths: [/cold]
            family: product
            writeColdAfter: 1s
            fillWait: 0s
            conversionBytesPerDay: 40MiB
        """);
    manager = open();
    manager.start();
    send("POST", "/api/v1/policies/evaluate");
    namenode.completeAll(new Random(1));
    manager.close();
    long now = System.currentTimeMillis();
    List<OpenEvent> opens = new ArrayList<>();
    namenode.files.keySet().forEach(id -> opens.add(new OpenEvent(id, now, 1_000)));
    try (ManagerStore store = ManagerStore.open(directory.resolve("data"))) {
      store.count(
          opens,
          new ManagerStore.Position("ebbfs.opens", 0, 1),
          ManagerConfig.defaults().heat().halfLives());
      store.countAnew(now - 20L * 86_400_000);
    }
    namenode.proposed.clear();
    manager = open();
    manager.start();
  }

  /**
   * The namenode plans a conversion, and the manager does not hear of it, or dies before it does.
   */
  @Test
  void aConversionWhoseAnswerWasLostCountsOnceForTheBudgetOfTheDay() throws Exception {
    storeTwoHotStripes();
    namenode.nowMillis = System.currentTimeMillis();
    namenode.losesAnswers = true;
    assertThat(send("POST", "/api/v1/policies/evaluate").statusCode()).isEqualTo(503);
    namenode.losesAnswers = false;
    assertThat(namenode.proposed).hasSize(1);
    long lost = namenode.activeIds().get(0);
    for (int i = 0; i < 3; i++) {
      send("POST", "/api/v1/policies/evaluate");
      assertThat(namenode.proposed).as("the budget is used up").hasSize(1);
    }
    assertThat(convertedWithinDay()).as("counted once").isEqualTo(30L << 20);
    manager.close();
    manager = open();
    manager.start();
    namenode.complete(lost);
    send("POST", "/api/v1/policies/evaluate");
    assertThat(namenode.proposed).as("it still counts when it has ended").hasSize(1);
    assertThat(convertedWithinDay()).isEqualTo(30L << 20);
  }

  private long convertedWithinDay() {
    return manager.store().convertedWithinDay(System.currentTimeMillis()).getOrDefault("cold", 0L);
  }

  @Test
  void withoutAThresholdItConvertsWhatPaysWithinTheBudgetOfTheDay() throws Exception {
    storeTwoHotStripes();
    send("POST", "/api/v1/policies/evaluate");
    assertThat(namenode.proposed).hasSize(1);
    assertThat(namenode.proposed.get(0).getReason())
        .contains("1,000 remembered reads; within 20.0 days the conversion earns 35.0 and costs");
    send("POST", "/api/v1/policies/evaluate");
    assertThat(namenode.proposed).as("the budget is used up").hasSize(1);
    namenode.fail(namenode.activeIds().get(0), "a server stalled");
    send("POST", "/api/v1/policies/evaluate");
    assertThat(namenode.proposed).as("the other stripe gets the budget").hasSize(2);
    namenode.completeAll(new Random(1));
    manager.close();
    manager = open(); // the budget survives
    manager.start();
    send("POST", "/api/v1/policies/evaluate");
    assertThat(namenode.proposed).hasSize(2);

    JsonNode answer = get("/api/v1/policies");
    assertThat(answer.path("experience").path("lostPerDay").asDouble())
        .isCloseTo(0.003, within(1e-5));
    JsonNode policy = answer.path("policies").get(0);
    assertThat(policy.path("readHot").asText()).isEqualTo("auto");
    assertThat(policy.path("prices").path("storage").asDouble()).isEqualTo(0.1);
    assertThat(policy.path("conversionBytesPerDay").asLong()).isEqualTo(40 << 20);
  }

  /** The schedule samples and evaluates all the time, also while many files are being sorted. */
  @Test
  void evaluationsDoNotBeginTheSortingByAnEditAnew() throws Exception {
    long past = System.currentTimeMillis() - 60_000;
    for (int i = 0; i < 8_000; i++) {
      namenode.addFile("/cold/more-" + i, past, 1 << 20);
    }
    manager.evaluator().evaluateNowAndThen(true);
    namenode.changesLost++; // so that everything is read again
    manager.follower().catchUp();
    assertThat(manager.view().files()).isEqualTo(8_061);
    manager.evaluator().applyPolicies();
    while (manager.view().sortingProgress().isPresent()) {
      manager.evaluator().applyPolicies();
    }
    Path file = directory.resolve("policies.yaml");
    Files.writeString(file, POLICIES.replace("family: product", "family: lrc"));
    manager.policies().poll(System.currentTimeMillis());
    manager.evaluator().applyPolicies();
    long sorted = 0;
    while (manager.view().sortingProgress().isPresent()) {
      manager.evaluator().evaluateNowAndThen(true);
      long now = manager.view().sortingProgress().map(p -> p.files()).orElse(8_061L);
      assertThat(now).isGreaterThanOrEqualTo(sorted);
      sorted = now;
    }
    assertThat(manager.view().policies()).isEqualTo(manager.policies().current().policies());
  }

  @Test
  void anEditedPolicyIsPreviewedBeforeItIsInForce() throws Exception {
    send("POST", "/api/v1/policies/evaluate");
    namenode.completeAll(new Random(1));
    namenode.proposed.clear();
    String edit = POLICIES.replace("perMiB: 1", "perMiB: 0").replace("1.5", "1.8");
    JsonNode preview = preview(edit);
    JsonNode policy = preview.path("policies").get(0);
    assertThat(policy.path("toFastBytes").asLong()).isEqualTo(60L << 20);
    assertThat(policy.path("movedBytes").asDouble() / (60 << 20)).isCloseTo(1.433, within(1e-3));
    assertThat(policy.path("overhead").asDouble()).isEqualTo(1.4);
    assertThat(policy.path("endOverhead").asDouble()).isEqualTo(1.8);
    assertThat(preview.path("cluster").path("overhead").asDouble()).isEqualTo(1.4);
    assertThat(preview.path("cluster").path("endOverhead").asDouble()).isCloseTo(1.8, within(1e-9));
    assertThat(preview.path("cluster").has("bound")).isFalse();
    assertThat(preview.path("filesWithoutPolicy").asLong()).isEqualTo(1);
    assertThat(preview.path("decisions").size()).isEqualTo(2);
    assertThat(namenode.proposed).isEmpty();
    assertThat(get("/api/v1/policies").path("policies").get(0).path("readHot").asText())
        .isEqualTo("1.00 reads/MiB");

    HttpResponse<String> refused =
        post("/api/v1/policies/preview", POLICIES.replace("product", "prodct"));
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("unknown code family 'prodct'; did you mean 'product'?");
  }

  /** The result of a preview, which may come later than its answer. */
  private JsonNode preview(String edit) throws Exception {
    HttpResponse<String> answer = post("/api/v1/policies/preview", edit);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    JsonNode preview = json.readTree(answer.body());
    while (!preview.path("done").asBoolean()) {
      Thread.sleep(20);
      preview = get("/api/v1/policies/previewed?job=" + preview.path("job").asLong());
    }
    return preview;
  }

  private HttpResponse<String> post(String path, String body) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + manager.httpPort() + path);
    return http.send(
        HttpRequest.newBuilder(uri)
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .header("Authorization", "Bearer " + Files.readString(token).strip())
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void theDashboardLoadsNothingFromOtherServers() throws Exception {
    String page = send("GET", "/").body();
    Matcher asked = Pattern.compile("(?:src|href)=\"([^\"]*)\"").matcher(page);
    List<String> files = new ArrayList<>();
    while (asked.find()) {
      if (!asked.group(1).startsWith("data:") && !asked.group(1).startsWith("#")) {
        files.add(asked.group(1));
      }
    }
    assertThat(files)
        .containsExactlyInAnyOrder(
            "dashboard.css",
            "echarts.min.js",
            "charts.js",
            "actions.js",
            "files.js",
            "preview.js",
            "dashboard.js");
    for (String file : files) {
      HttpResponse<String> response = send("GET", "/" + file);
      assertThat(response.statusCode()).as(file).isEqualTo(200);
      assertThat(response.headers().firstValue("Content-Security-Policy").orElse(""))
          .startsWith("default-src 'self'")
          .doesNotContain("http");
    }
    HttpResponse<String> library = send("GET", "/echarts.min.js");
    assertThat(library.headers().firstValue("Content-Type").orElse(""))
        .startsWith("text/javascript");
    assertThat(library.body().equals(ChartLibrary.echarts())).isTrue();
    assertThat(send("GET", "/charts.js").body().equals(ChartLibrary.charts())).isTrue();
    assertThat(send("GET", "/dashboard.js").body()).doesNotContain("http://", "https://");
  }

  @Test
  void pagesThroughFiles() throws Exception {
    JsonNode first = get("/api/v1/files?path=/cold&limit=40");
    JsonNode second =
        get("/api/v1/files?path=/cold&limit=40&cursor=" + first.path("nextCursor").asText());
    assertThat(first.path("files").size() + second.path("files").size()).isEqualTo(60);
    assertThat(second.has("nextCursor")).isFalse();
  }

  @Test
  void everyRouteIsInTheDocumentAndAnswers() throws Exception {
    JsonNode paths = get("/api/v1/openapi.json").path("paths");
    assertThat(paths.fieldNames())
        .toIterable()
        .containsExactlyInAnyOrder(
            "/api/v1/cluster",
            "/api/v1/files",
            "/api/v1/directory",
            "/api/v1/search",
            "/api/v1/file",
            "/api/v1/history",
            "/api/v1/actions/pause",
            "/api/v1/actions/resume",
            "/api/v1/actions/convert",
            "/api/v1/actions/pin",
            "/api/v1/actions/bound",
            "/api/v1/actions/clusterbound",
            "/api/v1/actions/cancel",
            "/api/v1/actions/retry",
            "/api/v1/actions/scrub",
            "/api/v1/actions/drain",
            "/api/v1/actions/undrain",
            "/api/v1/actions/hibernate",
            "/api/v1/actions/wake",
            "/api/v1/actions/rebalance",
            "/api/v1/actions/stoprebalance",
            "/api/v1/policies",
            "/api/v1/policies/text",
            "/api/v1/policies/evaluate",
            "/api/v1/policies/preview",
            "/api/v1/policies/previewed",
            "/api/v1/transitions",
            "/api/v1/jobs",
            "/api/v1/health",
            "/api/v1/timeline",
            "/metrics",
            "/live",
            "/ready",
            "/api/v1/openapi.json");
    for (String path : (Iterable<String>) paths::fieldNames) {
      String method = paths.path(path).has("post") ? "POST" : "GET";
      // A preview needs a body, and the other ones parameters. No scrub was reported yet.
      int expected =
          switch (path.substring(path.lastIndexOf('/') + 1)) {
            case "preview",
                "previewed",
                "search",
                "file",
                "convert",
                "pin",
                "clusterbound",
                "cancel",
                "retry" ->
                400;
            case "bound", "drain", "undrain", "hibernate", "wake" -> 404;
            case "scrub", "resume" -> 409;
            default -> 200;
          };
      assertThat(send(method, path + "?dryRun=true").statusCode()).as(path).isEqualTo(expected);
    }
    assertThat(send("GET", "/").body()).contains("EbbFS");
  }

  @Test
  void errorsAreJsonWithRemedy() throws Exception {
    HttpResponse<String> bad = send("GET", "/api/v1/transitions?state=LOST");
    assertThat(bad.statusCode()).isEqualTo(400);
    assertThat(json.readTree(bad.body()).path("error").path("remedy").asText()).contains("PLANNED");
    HttpResponse<String> none = send("GET", "/api/v1/nothing");
    assertThat(none.statusCode()).isEqualTo(404);
    assertThat(json.readTree(none.body()).path("error").path("remedy").asText())
        .contains("openapi");
    namenode.down = true;
    HttpResponse<String> down = send("GET", "/api/v1/cluster");
    assertThat(down.statusCode()).isEqualTo(503);
    assertThat(json.readTree(down.body()).path("error").path("message").asText())
        .contains("connection refused");
  }

  @Test
  void saysThatKafkaIsAwayAndWorksOn() throws Exception {
    JsonNode health = get("/api/v1/health");
    assertThat(health.path("messages").findValuesAsText("subject")).contains("kafka");
    send("POST", "/api/v1/policies/evaluate");
    assertThat(namenode.transitions).isNotEmpty();
  }

  @Test
  void aBrokenEditIsRefusedAndTheOldPoliciesStay() throws Exception {
    Path file = directory.resolve("policies.yaml");
    Files.writeString(file, POLICIES.replace("storageBound: 1.5", "storageBound: 1.3"));
    JsonNode policies = awaitRefused(true);
    assertThat(policies.path("policies").get(0).path("storageBound").asDouble()).isEqualTo(1.5);
    assertThat(policies.path("refusedEdit").get(0).path("message").asText())
        .contains("1.3")
        .contains("PC(6x5)")
        .contains("1.400");
    assertThat(get("/api/v1/health").toString()).contains("below what PC(6x5) can reach");

    Files.writeString(file, POLICIES.replace("storageBound: 1.5", "storageBound: 1.6"));
    JsonNode corrected = awaitRefused(false);
    assertThat(corrected.path("policies").get(0).path("storageBound").asDouble()).isEqualTo(1.6);
  }

  private JsonNode awaitRefused(boolean refused) throws Exception {
    long deadline = System.nanoTime() + 20_000_000_000L;
    JsonNode policies = get("/api/v1/policies");
    while (policies.path("refusedEdit").isEmpty() == refused) {
      assertThat(System.nanoTime()).as("the edit was not noticed").isLessThan(deadline);
      Thread.onSpinWait();
      policies = get("/api/v1/policies");
    }
    return policies;
  }

  @Test
  void aClusterTooSmallIsAClearRefusal() throws Exception {
    namenode.servers = 3;
    send("POST", "/api/v1/policies/evaluate");
    assertThat(get("/api/v1/health").toString())
        .contains("asks for 4 servers and 42 disks; live are 3 servers and 18 disks");
    assertThat(get("/api/v1/transitions").path("refusals").size()).isEqualTo(1);
  }

  @Test
  void aPortInUseIsNamed() throws Exception {
    int taken = manager.httpPort();
    Path other = Files.createDirectories(directory.resolve("other"));
    Manager second =
        new Manager(
            new ManagerOptions(
                directory,
                other,
                "namenode:8020",
                "127.0.0.1:1",
                "127.0.0.1",
                taken,
                Optional.empty()),
            ManagerConfig.defaults(),
            CodeRegistry.builtIn(),
            () -> namenode,
            Clock.systemUTC());
    assertThatThrownBy(second::start)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("127.0.0.1:" + taken)
        .hasMessageContaining("--http-port");
  }
}
