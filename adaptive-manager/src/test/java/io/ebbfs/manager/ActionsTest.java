package io.ebbfs.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.ebbfs.manager.health.Health;
import io.ebbfs.manager.view.ViewReader;
import io.ebbfs.protocol.proto.CodingProtos.DrainStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ScrubStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.PinProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an operator orders by the API, over the model of the namenode. */
class ActionsTest {
  private static final String POLICIES =
      """
      # The bound was agreed in May.
      policies:
        - name: cold   # archives
          paths: [/cold]
          family: product
          storageBound: 1.5   # not more
          writeColdAfter: 1s
          readHot: {perMiB: 1}
          fillWait: 0
        - name: other
          paths: [/other]
          family: product
          fillWait: 0
        - name: single
          paths: [/single]
          code: RS(6,3)
      """;

  @TempDir Path directory;
  private ManagerRig rig;

  @BeforeEach
  void start() throws Exception {
    rig = new ManagerRig(directory, POLICIES);
    long past = System.currentTimeMillis() - 60_000;
    for (int i = 0; i < 60; i++) {
      rig.namenode.addFile("/cold/%s/file-%d".formatted(i < 30 ? "a" : "b", i), past, 1 << 20);
    }
    rig.namenode.addFile("/single/x", past, 5);
    rig.start();
    rig.manager.follower().catchUp(); // the view is filled
  }

  @AfterEach
  void stop() {
    rig.close();
  }

  private void encodeAll() throws Exception {
    rig.evaluate();
    rig.namenode.completeAll(new Random(1));
    rig.evaluate();
    rig.namenode.proposed.clear();
  }

  // ---- pin --------------------------------------------------------------------------------------

  @Test
  void aPathIsPinnedAndItsPinIsRemoved() throws Exception {
    JsonNode dry = rig.act("pin?path=/cold/a&to=fast&dryRun=true");
    assertThat(dry.path("summary").toString())
        .contains("'fast' instead of 'none'", "30 files with 30 MiB, of which 0 already follow");
    assertThat(rig.namenode.pins).isEmpty();
    rig.act("pin?path=/cold/a&to=fast");
    assertThat(rig.namenode.pins).containsValue(PinProto.FAST).hasSize(1);
    assertThat(rig.refused("pin?path=/cold/a&to=fast&dryRun=true", 409))
        .contains("to fast already");
    rig.act("pin?path=/cold/a&to=fast");
    rig.act("pin?path=/cold/a/file-0&to=replicas");
    assertThat(rig.act("pin?path=/cold/a&to=none").path("summary").toString())
        .contains("'none' instead of 'fast'");
    assertThat(rig.namenode.pins).isEmpty();
    assertThat(rig.namenode.files.values().stream().filter(file -> file.pin != null))
        .singleElement()
        .matches(file -> file.path.equals("/cold/a/file-0") && file.pin == PinProto.REPLICAS);
    assertThat(Files.readString(directory.resolve("data/audit.log")))
        .contains("cmd=pin\tsrc=path=/cold/a&to=none");
  }

  @Test
  void aWrongPinIsRefusedInWords() throws Exception {
    assertThat(rig.refused("pin?path=/cold/a", 400)).contains("to=fast, compact, replicas or none");
    assertThat(rig.refused("pin?path=/cold/a&to=quick", 400)).contains("to=quick", "REPLICAS");
    assertThat(rig.refused("pin?path=cold&to=fast", 400)).contains("no absolute path");
    assertThat(rig.refused("pin?path=/nowhere&to=fast", 409)).contains("there is no /nowhere");
  }

  private TransitionRow only(TransitionStateProto state) {
    List<TransitionRow> rows =
        rig.namenode.transitions.values().stream().filter(r -> r.getState() == state).toList();
    assertThat(rows).hasSize(1);
    return rows.get(0);
  }

  // ---- pause ------------------------------------------------------------------------------------

  @Test
  void aPauseLastsOverARestartAndIsShown() throws Exception {
    assertThat(rig.act("pause?dryRun=true").path("summary").toString()).contains("0 running");
    assertThat(rig.get("/api/v1/health").has("pausedSinceMillis")).isFalse();
    rig.act("pause");
    rig.close();
    rig.start();
    JsonNode health = rig.get("/api/v1/health");
    assertThat(health.path("pausedSinceMillis").asLong()).isPositive();
    assertThat(health.path("messages").toString()).contains("proposing is paused since");
    assertThat(rig.post("/api/v1/policies/evaluate").statusCode()).isEqualTo(409);
    rig.manager.evaluator().evaluate(false);
    assertThat(rig.namenode.proposed).isEmpty();
    assertThat(rig.refused("pause", 409)).contains("paused already");

    JsonNode resumed = rig.act("resume");
    assertThat(resumed.path("figures").path("dataBytes").asLong()).isEqualTo(60L << 20);
    assertThat(rig.refused("resume", 409)).contains("not paused");
    rig.evaluate();
    assertThat(rig.namenode.proposed).isNotEmpty();
  }

  @Test
  void aPauseIsAnsweredOnceNoEvaluationProposesAnyMore() throws Exception {
    Thread evaluation = new Thread(() -> rig.manager.evaluator().evaluate(false));
    FutureTask<Void> paused =
        new FutureTask<>(
            () -> {
              rig.manager.evaluator().pause(1);
              return null;
            });
    Thread pause = new Thread(paused);
    synchronized (rig.namenode) {
      evaluation.start();
      assertThat(isBlocked(evaluation)).as("waits for the namenode").isTrue();
      pause.start();
      assertThat(isBlocked(pause)).as("waits for the evaluation").isTrue();
    }
    evaluation.join();
    paused.get();
    assertThat(rig.namenode.proposed).as("the pause holds for this evaluation too").isEmpty();
  }

  /** Waits until a thread waits for a lock or has ended. */
  private static boolean isBlocked(Thread thread) throws InterruptedException {
    while (thread.isAlive() && thread.getState() != Thread.State.BLOCKED) {
      Thread.sleep(1);
    }
    return thread.isAlive();
  }

  // ---- convert ----------------------------------------------------------------------------------

  @Test
  void aPathIsEncodedNow() throws Exception {
    JsonNode dry = rig.act("convert?path=/cold/a&to=compact&dryRun=true");
    assertThat(dry.path("figures").path("encodedBytes").asLong()).isEqualTo(30L << 20);
    assertThat(dry.path("figures").path("movedBytes").asDouble() / (30 << 20))
        .isCloseTo(1.4, within(1e-6));
    assertThat(dry.path("figures").path("storedDeltaBytes").asDouble() / (30 << 20))
        .isCloseTo(1.4 - 3, within(1e-6));
    assertThat(rig.namenode.proposed).isEmpty();

    JsonNode done = rig.act("convert?path=/cold/a&to=compact");
    assertThat(done.path("transitionIds").size()).isEqualTo(1);
    assertThat(rig.namenode.proposed.get(0).getReason())
        .isEqualTo("ordered by an operator for /cold/a");
    assertThat(rig.namenode.proposed.get(0).getFileIdsCount()).isEqualTo(30);
    assertThat(rig.refused("convert?path=/cold/a&to=compact", 409)).contains("30 files or stripes");
  }

  @Test
  void aConversionToFastKeepsTheBoundAndTellsWhatOtherFilesTakePart() throws Exception {
    encodeAll();
    assertThat(rig.refused("convert?path=/cold&to=fast", 409))
        .contains("would exceed its bound (1.50x; cluster: none)", "1.800x", "raise the bound");
    assertThat(rig.namenode.proposed).isEmpty();
    rig.act("bound?policy=cold&bound=1.7");
    JsonNode dry = rig.act("convert?path=/cold/a/file-0&to=fast&dryRun=true");
    assertThat(dry.path("figures").path("convertedBytes").asLong()).isEqualTo(30L << 20);
    assertThat(dry.path("figures").path("otherBytes").asLong()).isEqualTo(29L << 20);
    assertThat(dry.path("figures").path("overheadAtEnd").asDouble()).isCloseTo(1.6, within(1e-6));
    rig.act("convert?path=/cold/a/file-0&to=fast");
    assertThat(rig.namenode.proposed).hasSize(1);
    assertThat(rig.namenode.proposed.get(0).getKind()).isEqualTo(TransitionKindProto.DOWNCODE);
    // What is under way counts: the other stripe would exceed the bound now.
    assertThat(rig.refused("convert?path=/cold/b&to=fast", 409)).contains("exceed its bound");

    rig.namenode.completeAll(new Random(1));
    rig.namenode.proposed.clear();
    JsonNode back = rig.act("convert?path=/cold/a/file-0&to=compact");
    assertThat(back.path("refusals").size()).isZero();
    assertThat(rig.namenode.proposed.get(0).getKind()).isEqualTo(TransitionKindProto.UPCODE);
    assertThat(rig.namenode.proposed.get(0).getStripeIdsCount()).isEqualTo(3);
  }

  @Test
  void encodedFilesBecomeReplicas() throws Exception {
    encodeAll();
    JsonNode one = rig.act("convert?path=/cold/a/file-0&to=replicas&dryRun=true").path("figures");
    assertThat(one.path("convertedBytes").asLong()).isEqualTo(1L << 20);
    // Two copies of the block, 4 moves; the block and three parities are read, the parities
    // written.
    assertThat(one.path("movedBytes").asLong()).isEqualTo(11L << 20);
    assertThat(one.path("storedDeltaBytes").asLong()).isEqualTo(2L << 20);
    JsonNode dry = rig.act("convert?path=/cold/a&to=replicas&dryRun=true");
    assertThat(dry.path("figures").path("convertedBytes").asLong()).isEqualTo(30L << 20);
    assertThat(dry.path("figures").path("movedBytes").asLong()).isEqualTo(120L << 20);
    // Three replicas instead of 1.4 bytes for each byte.
    assertThat(dry.path("figures").path("storedDeltaBytes").asLong()).isEqualTo(48L << 20);
    assertThat(dry.path("figures").path("overheadAtEnd").asDouble()).isCloseTo(1.4, within(1e-6));
    assertThat(dry.path("summary").toString())
        .contains("48 MiB more are stored")
        .contains("write-cold for 1 s", "user.ebbfs.pin: replicas");
    assertThat(rig.namenode.proposed).isEmpty();

    JsonNode done = rig.act("convert?path=/cold/a&to=replicas");
    assertThat(done.path("transitionIds").size()).isEqualTo(1);
    assertThat(rig.namenode.proposed)
        .singleElement()
        .matches(decision -> decision.getKind() == TransitionKindProto.RELEASE)
        .matches(decision -> decision.getFileIdsCount() == 30)
        .matches(decision -> decision.getStripeIdsCount() == 1);
    assertThat(rig.refused("convert?path=/cold/a&to=replicas", 409))
        .contains("1 files or stripes are left out");
    rig.namenode.completeAll(new Random(1));
    assertThat(rig.refused("convert?path=/cold/a&to=replicas", 409))
        .contains("no block of it is in a stripe");
    assertThat(rig.namenode.stripes).hasSize(1);
  }

  @Test
  void aReleaseIsCancelledAndTriedAgain() throws Exception {
    encodeAll();
    rig.act("convert?path=/cold/a/file-0&to=replicas");
    long id = only(TransitionStateProto.PLANNED).getId();
    rig.act("cancel?id=" + id);
    rig.namenode.proposed.clear();
    rig.act("retry?id=" + id);
    assertThat(rig.namenode.proposed)
        .singleElement()
        .matches(decision -> decision.getKind() == TransitionKindProto.RELEASE)
        .matches(decision -> decision.getFileIdsCount() == 1)
        .matches(decision -> decision.getReason().endsWith("failure of transition " + id));
  }

  @Test
  void aReleaseLeavesFilesOfReplicationOneOutAndKeepsTheBound() throws Exception {
    encodeAll();
    rig.namenode.files.values().stream()
        .filter(file -> file.path.startsWith("/cold/a"))
        .forEach(file -> file.replication = 1);
    // The view reads the files again once they change in the stream.
    rig.namenode.rename("/cold/a", "/cold/c");
    assertThat(rig.refused("convert?path=/cold/c&to=replicas", 409))
        .contains("30 files are left out: their replication is 1");
    rig.act("bound?policy=cold&bound=1.401");
    assertThat(rig.refused("convert?path=/cold/b/file-30&to=replicas", 409))
        .contains("would exceed its bound (1.40x");
    rig.act("convert?path=/cold/b&to=replicas");
    assertThat(rig.namenode.proposed).hasSize(1);
  }

  @Test
  void anOrderLeavesFilesOutOfWhichTheNamenodeDoesNotTellTheReplication() throws Exception {
    encodeAll();
    rig.namenode.files.values().stream()
        .filter(file -> file.path.startsWith("/cold/a"))
        .forEach(file -> file.replication = 0);
    // The view reads the files again once they change in the stream.
    rig.namenode.rename("/cold/a", "/cold/c");
    assertThat(rig.refused("convert?path=/cold/c&to=replicas", 409))
        .contains(
            "30 files are left out: the namenode did not tell their replication, upgrade all"
                + " namenodes");
    assertThat(rig.namenode.proposed).isEmpty();
  }

  @Test
  void dataInASingleCodeBecomesReplicas() throws Exception {
    long mib = 1 << 20;
    rig.namenode.addFile("/single/full", 0, mib, mib, mib, mib, mib, mib);
    encodeAll();
    rig.act("convert?path=/single&to=replicas");
    assertThat(rig.namenode.proposed)
        .singleElement()
        .matches(decision -> decision.getToCode().equals("RS(6,3)"));
  }

  /** Each order alone fits under the bound; any two of them together do not. */
  @Test
  void ordersAtTheSameTimeKeepTheBoundTogether() throws Exception {
    encodeAll();
    rig.act("bound?policy=cold&bound=1.7");
    ExecutorService operators = Executors.newFixedThreadPool(8);
    try {
      for (int round = 0; round < 5; round++) {
        List<Future<Integer>> answers = new ArrayList<>();
        synchronized (rig.namenode) {
          for (int i = 0; i < 8; i++) {
            String path = "/api/v1/actions/convert?to=fast&path=/cold/" + (i % 2 == 0 ? "a" : "b");
            answers.add(operators.submit(() -> rig.post(path).statusCode()));
          }
          Thread.sleep(200); // all of them wait for the namenode or for one another
        }
        int accepted = 0;
        for (Future<Integer> answer : answers) {
          accepted += answer.get() == 200 ? 1 : 0;
        }
        assertThat(accepted).isEqualTo(1);
        assertThat(rig.namenode.proposed).hasSize(1);
        rig.act("cancel?id=" + only(TransitionStateProto.PLANNED).getId());
        rig.namenode.proposed.clear();
      }
    } finally {
      operators.shutdownNow();
    }
  }

  @Test
  void aBadOrderNamesTheValueAndTheRemedy() throws Exception {
    assertThat(rig.refused("convert?to=fast", 400)).contains("add path=/DIRECTORY");
    assertThat(rig.refused("convert?path=/cold&to=warm", 400))
        .contains("to=warm", "to=fast", "to=replicas");
    assertThat(rig.refused("convert?path=/none&to=fast", 404)).contains("/none");
    rig.evaluate(); // the view has all files from here on
    assertThat(rig.refused("convert?path=/&to=fast", 400)).contains("several policies");
    assertThat(rig.refused("convert?path=/single&to=fast", 400)).contains("single code RS(6,3)");
    for (int i = 0; i < 2_001; i++) {
      rig.namenode.addFile("/cold/many/" + i, 0, 1);
    }
    rig.manager.evaluator().evaluate(true);
    assertThat(rig.refused("convert?path=/cold/many&to=fast", 400)).contains("more than 2,000");
  }

  // ---- bound ------------------------------------------------------------------------------------

  @Test
  void aBoundIsWrittenAndTheCommentsStay() throws Exception {
    encodeAll();
    JsonNode dry = rig.act("bound?policy=cold&bound=1.6&dryRun=true");
    assertThat(dry.path("figures").path("roomBytes").asDouble() / (60 << 20))
        .isCloseTo(0.2, within(1e-6));
    assertThat(Files.readString(rig.policies())).isEqualTo(POLICIES);
    rig.act("bound?policy=cold&bound=1.6");
    assertThat(Files.readString(rig.policies()))
        .isEqualTo(POLICIES.replace("storageBound: 1.5 ", "storageBound: 1.6 "));
    JsonNode policy = rig.get("/api/v1/policies").path("policies").get(0);
    assertThat(policy.path("storageBound").asDouble()).isEqualTo(1.6);
    assertThat(directory.resolve("policies.yaml.new")).doesNotExist();
  }

  @Test
  void theBoundOfTheClusterIsWrittenAndShown() throws Exception {
    encodeAll();
    assertThat(rig.get("/api/v1/policies").has("storageBound")).isFalse();
    JsonNode dry = rig.act("clusterbound?bound=1.6&dryRun=true");
    assertThat(dry.path("figures").path("roomBytes").asDouble() / (60 << 20))
        .isCloseTo(0.2, within(1e-6));
    assertThat(dry.path("summary").toString())
        .contains("bound of the cluster is 1.6x instead of none", "stores 1.400x now", "room for");
    assertThat(Files.readString(rig.policies())).isEqualTo(POLICIES);
    rig.act("clusterbound?bound=1.6");
    String edited = POLICIES.replace("policies:\n", "storageBound: 1.6\npolicies:\n");
    assertThat(Files.readString(rig.policies())).isEqualTo(edited);
    assertThat(rig.get("/api/v1/policies/text").path("text").asText()).isEqualTo(edited);
    assertThat(rig.get("/api/v1/policies").path("storageBound").asDouble()).isEqualTo(1.6);
    rig.evaluate();
    assertThat(rig.get("/api/v1/policies").path("cluster").path("bound").asDouble()).isEqualTo(1.6);
    assertThat(rig.refused("clusterbound?bound=1.3", 400)).contains("1.3 of the cluster", "1.400");
    assertThat(rig.refused("clusterbound?bound=much", 400)).contains("bound=much");
    assertThat(Files.readString(rig.policies())).isEqualTo(edited);
    assertThat(Files.readString(directory.resolve("data/audit.log")))
        .contains("cmd=clusterbound\tsrc=bound=1.6\t");
    assertThat(rig.get("/api/v1/history").toString()).contains("The bound of the cluster is 1.6x");
  }

  @Test
  void aLowerBoundOfTheClusterTellsWhatBecomesCompact() throws Exception {
    encodeAll();
    rig.act("bound?policy=cold&bound=1.7");
    rig.act("convert?path=/cold/a&to=fast");
    rig.namenode.completeAll(new Random(1));
    rig.evaluate();
    JsonNode dry = rig.act("clusterbound?bound=1.5&dryRun=true");
    assertThat(dry.path("summary").toString())
        .contains("stores 1.600x now: that is 6 MiB too much");
    JsonNode figures = dry.path("figures");
    assertThat(figures.path("overBytes").asDouble() / (1 << 20)).isCloseTo(6, within(1e-3));
    assertThat(figures.path("toCompactBytes").asDouble() / (1 << 20)).isCloseTo(15, within(1e-3));
    assertThat(figures.path("stillOverBytes").asLong()).isZero();
  }

  @Test
  void aRefusedBoundChangesNothing() throws Exception {
    for (String bad : List.of("cold&bound=1.3", "cold&bound=x", "single&bound=2", "no&bound=2")) {
      String error = rig.refused("bound?policy=" + bad, bad.startsWith("no") ? 404 : 400);
      assertThat(error).as(bad).contains("remedy");
    }
    assertThat(rig.refused("bound?policy=cold&bound=1.3", 400)).contains("1.3", "1.400");
    assertThat(Files.readString(rig.policies())).isEqualTo(POLICIES);
    String broken = POLICIES.replace("product", "prodct");
    Files.writeString(rig.policies(), broken);
    assertThat(rig.refused("bound?policy=cold&bound=1.6", 400)).contains("prodct");
    assertThat(rig.refused("clusterbound?bound=1.6", 400)).contains("prodct");
    assertThat(Files.readString(rig.policies())).isEqualTo(broken);
    assertThat(rig.get("/api/v1/policies/text").path("text").asText()).isEqualTo(POLICIES);
    assertThat(rig.get("/api/v1/policies").path("policies").get(0).path("storageBound").asDouble())
        .isEqualTo(1.5);
  }

  // ---- transitions ------------------------------------------------------------------------------

  @Test
  void aTransitionIsCancelledAndTriedAgain() throws Exception {
    rig.act("convert?path=/cold/a&to=compact");
    long id = only(TransitionStateProto.PLANNED).getId();
    assertThat(rig.act("cancel?dryRun=true&id=" + id).path("figures").path("blocks").asInt())
        .isEqualTo(30);
    assertThat(only(TransitionStateProto.PLANNED).getId()).isEqualTo(id);
    rig.act("cancel?id=" + id);
    assertThat(only(TransitionStateProto.FAILED).getFailure())
        .isEqualTo("cancelled by an operator");
    assertThat(rig.refused("cancel?id=" + id, 409)).contains("ended as FAILED");

    rig.namenode.proposed.clear();
    JsonNode dry = rig.act("retry?dryRun=true&id=" + id);
    assertThat(dry.path("figures").path("encodedBytes").asLong()).isEqualTo(30L << 20);
    rig.act("retry?id=" + id);
    assertThat(rig.namenode.proposed).hasSize(1);
    assertThat(rig.namenode.proposed.get(0).getReason()).endsWith("failure of transition " + id);
    long again = only(TransitionStateProto.PLANNED).getId();
    assertThat(rig.refused("retry?id=" + again, 409)).contains("has not failed");
    assertThat(rig.refused("cancel?id=999999", 404)).contains("no transition 999999");
    assertThat(rig.refused("cancel", 400)).contains("add id=");
  }

  @Test
  void filesAndStripesThatHaveLeftThePolicyAreLeftOut() throws Exception {
    rig.act("convert?path=/cold/a&to=compact");
    long id = only(TransitionStateProto.PLANNED).getId();
    rig.act("cancel?id=" + id);
    rig.namenode.rename("/cold/a", "/other/a");
    assertThat(rig.refused("retry?id=" + id, 409))
        .contains("30 files or stripes are left out", "do not belong to policy 'cold'");
    rig.namenode.rename("/other/a", "/cold/a");
    encodeAll();
    rig.namenode.rename("/cold/a", "/other/a");
    assertThat(rig.refused("convert?path=/other&to=fast", 409))
        .contains("1 files or stripes are left out", "do not belong to policy 'other'");
    assertThat(rig.namenode.proposed).isEmpty();
  }

  @Test
  void aRepairIsNotCancelled() throws Exception {
    rig.namenode.transitions.put(
        7_000L,
        TransitionRow.newBuilder()
            .setId(7_000)
            .setKind(TransitionKindProto.REPAIR)
            .setState(TransitionStateProto.RUNNING)
            .setPolicy("cold")
            .setToCode("PC(2x5)")
            .setReason("lost")
            .setCreatedMillis(1)
            .setUpdatedMillis(1)
            .setPriority(1)
            .setAttempt(1)
            .build());
    assertThat(rig.refused("cancel?id=7000", 409)).contains("repair", "namenode looks after");
  }

  // ---- scrub ------------------------------------------------------------------------------------

  @Test
  void aScrubIsAskedForOnceThePassBeforeHasEnded() throws Exception {
    assertThat(rig.refused("scrub", 409)).contains("no pass", "scrub.period");
    ScrubStatusProto running =
        ScrubStatusProto.newBuilder()
            .setPass(3)
            .setPassStartedMillis(50)
            .setPassStripes(12)
            .setPassFindings(0)
            .setPeriodMillis(1)
            .build();
    rig.namenode.scrub = running;
    assertThat(rig.refused("scrub", 409)).contains("pass 3", "12 stripes");
    rig.namenode.scrub = running.toBuilder().setEndedMillis(60).setEndedStripes(40).build();
    assertThat(rig.act("scrub?dryRun=true").path("figures").path("lastStripes").asInt())
        .isEqualTo(40);
    assertThat(rig.namenode.scrub.hasRequestedPass()).isFalse();
    assertThat(rig.act("scrub").path("summary").toString())
        .contains("provided that a raid-node runs whose scrub.period is not 0");
    assertThat(rig.namenode.scrub.getRequestedPass()).isEqualTo(4);
  }

  // ---- who, and what is kept --------------------------------------------------------------------

  @Test
  void aPageOfAnotherSiteChangesNothing() throws Exception {
    for (String[] header :
        List.of(
            new String[] {"Sec-Fetch-Site", "cross-site"},
            new String[] {"Sec-Fetch-Site", "same-site"},
            new String[] {"Origin", "http://evil.example"},
            new String[] {"Origin", "null"})) {
      assertThat(rig.post("/api/v1/actions/pause", header).statusCode()).isEqualTo(403);
    }
    assertThat(rig.get("/api/v1/health").has("pausedSinceMillis")).isFalse();
    assertThat(rig.post("/api/v1/actions/pause", "Origin", rig.address()).statusCode())
        .isEqualTo(200);
  }

  @Test
  void aMisspelledDryRunIsRefusedAndNotExecuted() throws Exception {
    for (String wrong :
        List.of("dryrun=true", "dry_run=true", "dryRun", "dryRun=", "dryRun=1", "path=/cold")) {
      assertThat(rig.refused("pause?" + wrong, 400)).contains(wrong.split("=")[0], "remedy");
      assertThat(rig.post("/api/v1/policies/evaluate?" + wrong).statusCode()).isEqualTo(400);
    }
    assertThat(rig.refused("pause?dryRun=false&dryRun=true", 400)).contains("more than once");
    assertThat(rig.postBody("/api/v1/actions/pause", "dryRun=true").statusCode()).isEqualTo(400);
    assertThat(rig.get("/api/v1/health").has("pausedSinceMillis")).isFalse();
    assertThat(rig.namenode.proposed).isEmpty();
    assertThat(directory.resolve("data/audit.log")).isEmptyFile();
  }

  @Test
  void theAuditLogHasEachActionAndEachRefusedCaller() throws Exception {
    rig.act("pause?dryRun=true");
    rig.act("pause");
    rig.post("/api/v1/actions/resume", "Origin", "http://evil.example");
    rig.refused("bound?policy=a%0Ab&bound=2", 404);
    List<String> lines = Files.readAllLines(directory.resolve("data/audit.log"));
    assertThat(lines).hasSize(3);
    assertThat(lines.get(0))
        .contains("allowed=true\tugi=operator", "ip=/127.0.0.1\tcmd=pause\tsrc=null", "proto=rest");
    assertThat(lines.get(1)).contains("allowed=false\tugi=unknown", "cmd=resume");
    assertThat(lines.get(2)).contains("cmd=bound\tsrc=policy=a%0Ab&bound=2\tdst");
  }

  @Test
  void theHistoryIsPagedAndLastsOverARestart() throws Exception {
    rig.act("pause");
    rig.act("resume");
    rig.evaluate();
    rig.close();
    rig.start();
    List<String> seen = new ArrayList<>();
    String cursor = "";
    do {
      JsonNode page = rig.get("/api/v1/history?limit=1" + cursor);
      page.path("entries").forEach(e -> seen.add(e.path("what").asText()));
      cursor = page.has("nextCursor") ? "&cursor=" + page.path("nextCursor").asText() : "";
    } while (!cursor.isEmpty());
    assertThat(seen).endsWith("resume", "pause").contains("ENCODE");
    rig.act("pause");
    JsonNode newest = rig.get("/api/v1/history").path("entries").get(0);
    assertThat(newest.path("what").asText()).isEqualTo("pause");
    assertThat(newest.path("by").asText()).isEqualTo("operator");
  }

  // ---- drain ------------------------------------------------------------------------------------

  private JsonNode drainOf(int server) throws Exception {
    return rig.get("/api/v1/cluster").path("servers").get(server).path("drain");
  }

  /** The health of the cluster of this moment, not of the last sample. */
  private String health() throws Exception {
    return Health.report(
            rig.namenode.getCluster(null, GetClusterRequestProto.getDefaultInstance()),
            null,
            rig.manager.opens(),
            rig.manager.policies().current(),
            null,
            List.of(),
            null)
        .messages()
        .toString();
  }

  @Test
  void aServerIsDrainedAndTakenBack() throws Exception {
    JsonNode plan = rig.act("drain?server=server-3:9003&dryRun=true");
    assertThat(plan.path("summary").get(0).asText())
        .contains("Server server-3:9003 takes no new blocks")
        .contains("1,234 blocks (5 GiB)");
    assertThat(plan.path("figures").path("bytes").asLong()).isEqualTo(5L << 30);
    assertThat(rig.namenode.drains).isEmpty();
    assertThat(drainOf(3).isMissingNode() || drainOf(3).isNull()).isTrue();

    rig.act("drain?server=uuid-3");
    assertThat(rig.namenode.drains).containsOnlyKeys("uuid-3");
    assertThat(drainOf(3).path("state").asText()).isEqualTo("DRAINING");
    assertThat(drainOf(3).has("blocksLeft") && !drainOf(3).path("blocksLeft").isNull()).isFalse();
    assertThat(rig.refused("drain?server=uuid-3", 409)).contains("being drained already");
    assertThat(
            ViewReader.cluster(
                    rig.namenode.getCluster(null, GetClusterRequestProto.getDefaultInstance()))
                .liveServers())
        .as("policies count the servers that take blocks")
        .isEqualTo(rig.namenode.servers - 1);
    assertThat(Files.readString(directory.resolve("data/audit.log")))
        .contains("cmd=drain\tsrc=server=uuid-3");

    rig.namenode.drains.put(
        "uuid-3",
        DrainStatusProto.newBuilder()
            .setDrained(false)
            .setBlocks(1_234)
            .setBlocksLeft(7)
            .setBytesLeft(700)
            .setOnlyHere(1)
            .setOpenLeft(0)
            .setBytesPerSecond(100)
            .setSecondsLeft(7)
            .setStuck("block 5 has no place")
            .build());
    JsonNode drain = drainOf(3);
    assertThat(drain.path("blocksLeft").asLong()).isEqualTo(7);
    assertThat(drain.path("secondsLeft").asLong()).isEqualTo(7);
    assertThat(drain.path("stuck").asText()).isEqualTo("block 5 has no place");
    assertThat(health())
        .contains("the drain of chunk server server-3:9003 cannot end: block 5 has no place");

    rig.namenode.deadServer = 3;
    assertThat(health()).contains("server-3:9003 is down");
    rig.namenode.drains.put("uuid-3", DrainStatusProto.newBuilder().setDrained(true).build());
    assertThat(health()).as("a drained server may be stopped").doesNotContain("server-3:9003");

    rig.act("undrain?server=uuid-3");
    assertThat(rig.namenode.drains).isEmpty();
    assertThat(rig.refused("undrain?server=uuid-3", 409)).contains("it is not drained");
    assertThat(rig.refused("drain?server=nobody", 404)).contains("0 servers have the name");
  }

  // ---- hibernate and rebalance ------------------------------------------------------------------

  private JsonNode hibernationOf(int server) throws Exception {
    return rig.get("/api/v1/cluster").path("servers").get(server).path("hibernation");
  }

  @Test
  void aServerHibernatesAndIsWoken() throws Exception {
    JsonNode plan = rig.act("hibernate?server=server-3:9003&for=2h&dryRun=true");
    assertThat(plan.path("summary").get(0).asText())
        .contains("Server server-3:9003 takes no new blocks", "nothing is repaired");
    assertThat(rig.namenode.hibernations).isEmpty();
    assertThat(rig.refused("hibernate?server=uuid-3&for=long", 400)).contains("for=2h");

    rig.act("hibernate?server=uuid-3&for=2h");
    assertThat(hibernationOf(3).path("ready").asBoolean()).isFalse();
    assertThat(hibernationOf(3).path("untilMillis").asLong()).isPositive();
    assertThat(rig.refused("hibernate?server=uuid-3&for=2h", 409)).contains("already");
    assertThat(
            ViewReader.cluster(
                    rig.namenode.getCluster(null, GetClusterRequestProto.getDefaultInstance()))
                .liveServers())
        .isEqualTo(rig.namenode.servers - 1);
    rig.namenode.hibernations.computeIfPresent(
        "uuid-3",
        (uuid, sleep) ->
            sleep.toBuilder().setBlocks(9).setBlocksLeft(1).setStuck("block 5 is alone").build());
    assertThat(health())
        .contains("chunk server server-3:9003 is not to be stopped yet: block 5 is alone");
    rig.namenode.hibernations.computeIfPresent(
        "uuid-3", (uuid, sleep) -> sleep.toBuilder().clearStuck().setReady(true).build());
    rig.namenode.deadServer = 3;
    assertThat(health()).doesNotContain("server-3:9003");

    rig.act("wake?server=uuid-3");
    assertThat(rig.namenode.hibernations).isEmpty();
    assertThat(health()).contains("server-3:9003 is down");
    assertThat(rig.refused("wake?server=uuid-3", 409)).contains("does not hibernate");
  }

  @Test
  void theRebalanceIsPlannedBegunAndStopped() throws Exception {
    JsonNode plan = rig.act("rebalance?threshold=0.05&bandwidth=5MiB&dryRun=true");
    assertThat(plan.path("summary").get(0).asText()).contains("5 MiB a second", "5.0%");
    assertThat(plan.path("figures").path("bytesToMove").asLong()).isEqualTo(100L << 20);
    assertThat(rig.namenode.rebalances).isFalse();
    rig.act("rebalance");
    assertThat(rig.namenode.rebalances).isTrue();
    rig.act("stoprebalance?dryRun=true");
    assertThat(rig.namenode.rebalances).isTrue();
    rig.act("stoprebalance");
    assertThat(rig.namenode.rebalances).isFalse();
    assertThat(rig.refused("rebalance?threshold=much", 400)).contains("threshold=0.1");
    assertThat(rig.refused("rebalance?bandwidth=fast", 400)).contains("bandwidth=20MiB");
  }
}
