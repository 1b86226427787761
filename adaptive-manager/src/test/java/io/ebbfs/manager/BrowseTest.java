package io.ebbfs.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.ManagerConfig;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.heat.ManagerStore;
import io.ebbfs.manager.heat.OpenEvent;
import io.ebbfs.manager.model.ModelNamenode;
import io.ebbfs.manager.view.InodeView;
import io.ebbfs.manager.view.NamespaceView;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesRequestProto;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;

/** Directories, search and the explanation of a file. */
class BrowseTest {
  private static final String POLICIES =
      """
      policies:
        - name: cold
          paths: [/cold]
          family: product
          writeColdAfter: 1s
          readHot: {perMiB: 1}
          fillWait: 0
      """;

  @TempDir Path directory;

  @Test
  void listsDirectoriesPageByPageAndFindsNames() throws Exception {
    try (ManagerRig rig = new ManagerRig(directory, POLICIES)) {
      long past = System.currentTimeMillis() - 60_000;
      for (int i = 0; i < 30; i++) {
        rig.namenode.addFile("/cold/a/part-%02d".formatted(i), past, 1 << 20);
      }
      rig.namenode.addFile("/cold/ab", past, 7);
      rig.namenode.addFile("/other/part-00", past, 7);
      rig.start();
      rig.evaluate();
      rig.namenode.completeAll(new Random(1));
      rig.evaluate();

      assertThat(names("/api/v1/directory?limit=1", rig)).containsExactly("cold", "other");
      JsonNode cold = rig.get("/api/v1/directory?path=/cold").path("entries");
      assertThat(cold.get(0).path("directory").asBoolean()).isTrue();
      assertThat(cold.get(1).path("file").path("lengthBytes").asLong()).isEqualTo(7);
      List<String> parts = names("/api/v1/directory?path=/cold/a/&limit=7", rig);
      assertThat(parts).hasSize(30).isSorted();
      JsonNode part = rig.get("/api/v1/directory?path=/cold/a").path("entries").get(3);
      assertThat(part.path("file").path("state").asText()).isEqualTo("COMPACT");

      assertThat(names("/api/v1/search?text=part-0&limit=4", rig)).hasSize(11);
      assertThat(names("/api/v1/search?text=/cold/a", rig)).containsExactly("a", "ab");
      assertThat(names("/api/v1/search?text=/cold/a/part-29", rig)).containsExactly("part-29");
      assertThat(names("/api/v1/search?text=nothing", rig)).isEmpty();

      JsonNode file = rig.get("/api/v1/file?path=/cold/a/part-05");
      assertThat(file.path("file").path("reason").asText()).isNotEmpty();
      assertThat(file.path("stripes").get(0).path("code").asText()).isEqualTo("PC(6x5)");
    }
  }

  /** The reads of a directory are those of all files below it, wherever these are by now. */
  @Test
  void showsTheReadsBelowDirectories() throws Exception {
    try (ManagerRig rig = new ManagerRig(directory, POLICIES)) {
      long past = System.currentTimeMillis() - 60_000;
      long one = rig.namenode.addFile("/cold/a/one", past, 1 << 20).id;
      long two = rig.namenode.addFile("/cold/b/two", past, 1 << 20).id;
      rig.namenode.addFile("/cold/b/three", past, 1 << 20);
      rig.start();
      rig.evaluate();
      long now = System.currentTimeMillis();
      rig.manager
          .store()
          .count(
              List.of(new OpenEvent(one, now, 10), new OpenEvent(two, now, 5)),
              new ManagerStore.Position("ebbfs.opens", 0, 1),
              ManagerConfig.defaults().heat().halfLives());
      awaitReads(rig, "/", 15);
      JsonNode cold = rig.get("/api/v1/directory?path=/cold");
      assertThat(cold.path("reads").path("remembered").asDouble()).isCloseTo(15, within(0.1));
      assertThat(heat(cold.path("entries").get(0))).isCloseTo(10, within(0.1));
      assertThat(heat(cold.path("entries").get(1))).isCloseTo(5, within(0.1));
      JsonNode b = rig.get("/api/v1/directory?path=/cold/b").path("entries");
      assertThat(heat(b.get(0))).as("three").isZero();
      assertThat(heat(b.get(1))).as("two").isCloseTo(5, within(0.1));
      assertThat(heat(rig.get("/api/v1/files?path=/cold/a"))).isCloseTo(10, within(0.1));
      assertThat(heat(rig.get("/api/v1/search?text=a").path("entries").get(0)))
          .isCloseTo(10, within(0.1));
      JsonNode file = rig.get("/api/v1/file?path=/cold/b/two");
      assertThat(heat(file)).isCloseTo(5, within(0.1));
      assertThat(file.path("directories")).hasSize(3);
      assertThat(file.path("directories").get(0).path("path").asText()).isEqualTo("/");
      assertThat(heat(file.path("directories").get(1))).isCloseTo(15, within(0.1));
      assertThat(heat(file.path("directories").get(2))).isCloseTo(5, within(0.1));

      rig.namenode.rename("/cold/b", "/cold/a/b");
      rig.evaluate();
      awaitReads(rig, "/cold/a", 15);
      rig.namenode.delete(one);
      rig.evaluate();
      awaitReads(rig, "/cold", 5);
    }
  }

  private static double heat(JsonNode answer) {
    assertThat(answer.path("reads").path("heat").isNumber()).as("%s", answer).isTrue();
    return answer.path("reads").path("heat").asDouble();
  }

  /** Files that were read are placed in the background. */
  private static void awaitReads(ManagerRig rig, String path, double reads) throws Exception {
    long end = System.nanoTime() + 30_000_000_000L;
    JsonNode sum;
    do {
      sum = rig.get("/api/v1/directory?path=" + path).path("reads").path("heat");
    } while (Math.abs(sum.asDouble(-1) - reads) > 0.1 && System.nanoTime() < end);
    assertThat(sum.asDouble(-1)).isCloseTo(reads, within(0.1));
  }

  private static List<String> names(String path, ManagerRig rig) throws Exception {
    List<String> names = new ArrayList<>();
    String cursor = "";
    do {
      JsonNode page = rig.get(path + cursor);
      page.path("entries").forEach(entry -> names.add(entry.path("name").asText()));
      cursor = page.has("nextCursor") ? "&cursor=" + page.path("nextCursor").asText() : "";
    } while (!cursor.isEmpty());
    return names;
  }

  @Test
  void followsMovesAndDeletions() throws Exception {
    ModelNamenode namenode = new ModelNamenode();
    PolicySet policies =
        PolicySet.parse(directory.resolve(PolicySet.FILE), POLICIES, CodeRegistry.builtIn());
    try (NamespaceView view =
        NamespaceView.open(directory.resolve("view"), policies, CodeRegistry.builtIn())) {
      namenode.addFile("/a/one", 1, 5);
      namenode.addFile("/a/deep/two", 1, 5);
      long three = namenode.addFile("/a/three", 1, 5).id;
      readAll(view, namenode);
      assertThat(list(view, "/a")).containsExactly("/a/deep", "/a/one", "/a/three");
      assertThat(view.at("/a/one/x")).isEmpty();
      assertThat(view.entries("/a/one", "", null, 9).inodes()).isEmpty();

      namenode.rename("/a", "/b");
      namenode.files.get(three).path = "/b/renamed";
      readAll(view, namenode);
      assertThat(list(view, "/")).containsExactly("/b");
      assertThat(list(view, "/b")).containsExactly("/b/deep", "/b/one", "/b/renamed");
      assertThat(list(view, "/b/deep")).containsExactly("/b/deep/two");
      assertThat(view.named("three", null, 9).inodes()).isEmpty();
      List<String> below = new ArrayList<>();
      assertThat(view.eachFileBelow("/b", 100, file -> below.add(file.path()))).isTrue();
      assertThat(below).containsExactlyInAnyOrder("/b/one", "/b/renamed", "/b/deep/two");
      assertThat(view.eachFileBelow("/b", 3, file -> true)).as("four inodes").isFalse();
      assertThat(view.directoriesAbove("/b/deep/two"))
          .extracting(InodeView::path)
          .containsExactly("/", "/b", "/b/deep");

      namenode.delete(three);
      readAll(view, namenode);
      assertThat(list(view, "/b")).containsExactly("/b/deep", "/b/one");
    }
  }

  private static void readAll(NamespaceView view, ModelNamenode namenode) throws Exception {
    view.beginReading();
    view.putPage(
        namenode.listFiles(
            null,
            ListFilesRequestProto.newBuilder().setWithDirectories(true).setLimit(100).build()));
    view.endReading();
  }

  private static List<String> list(NamespaceView view, String path) {
    return view.entries(path, "", null, 100).inodes().stream().map(InodeView::path).toList();
  }

  @Test
  void aViewOfAnEarlierVersionIsMadeAnew() throws Exception {
    Path path = Files.createDirectories(directory.resolve("view"));
    RocksDB.loadLibrary();
    try (Options options = new Options().setCreateIfMissing(true);
        RocksDB old = RocksDB.open(options, path.toString())) {
      old.put("position".getBytes(), new byte[] {1});
    }
    PolicySet policies =
        PolicySet.parse(directory.resolve(PolicySet.FILE), POLICIES, CodeRegistry.builtIn());
    try (NamespaceView view = NamespaceView.open(path, policies, CodeRegistry.builtIn())) {
      assertThat(view.position()).isEmpty();
    }
  }
}
