package io.ebbfs.manager.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesResponseProto;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A restart reads no rows, and edited policies sort the rows step by step. */
class SortingTest {
  private static final int FILES = 10_000;
  private static final Duration LONG = Duration.ofHours(1);

  @TempDir Path directory;
  private NamespaceView view;
  private final Map<Long, FileStatusProto> files = new HashMap<>();

  private static PolicySet policies(String yaml) throws Exception {
    return PolicySet.parse(Path.of("policies.yaml"), yaml, CodeRegistry.builtIn());
  }

  private static PolicySet both() throws Exception {
    return policies(
        """
        policies:
          - {name: a, paths: [/a], family: product}
          - {name: b, paths: [/b], family: lrc}
        """);
  }

  private static PolicySet edited() throws Exception {
    return policies(
        """
        policies:
          - {name: half, paths: ["/a/*1"], family: product}
          - {name: a, paths: [/a], family: product}
          - {name: b, paths: [/b], family: lrc}
        """);
  }

  private void open(PolicySet policies) throws Exception {
    view = NamespaceView.open(directory, policies, CodeRegistry.builtIn());
  }

  @AfterEach
  void close() {
    view.close();
  }

  private FileStatusProto file(long id, String path, long bytes) {
    FileStatusProto file =
        FileStatusProto.newBuilder()
            .setFileId(id)
            .setPath(path)
            .setOwner("o")
            .setGroup("g")
            .setParentId(16_385)
            .setLengthBytes(bytes)
            .setModifiedMillis(id)
            .setUnderConstruction(false)
            .setBlocks(1)
            .setStripedBlocks(0)
            .setStoredBytes(3 * bytes)
            .setReplicatedBytes(bytes)
            .setReplicatedStoredBytes(3 * bytes)
            .build();
    files.put(id, file);
    return file;
  }

  private void fill() {
    fill(FILES);
  }

  private void fill(int count) {
    for (int from = 0; from < count; from += 1_000) {
      ListFilesResponseProto.Builder page = ListFilesResponseProto.newBuilder();
      for (int i = from; i < from + 1_000; i++) {
        page.addFiles(file(20_000 + i, (i % 2 == 0 ? "/a/f" : "/b/f") + i, 1_000 + i));
      }
      view.putPage(page.build());
    }
  }

  /** What the view must say, by the files themselves. */
  private void check(PolicySet by, String what) {
    Map<String, Long> counts = new HashMap<>();
    Map<String, Long> bytes = new HashMap<>();
    Map<String, List<Long>> due = new HashMap<>();
    files.values().stream()
        .sorted((x, y) -> Long.compare(x.getFileId(), y.getFileId()))
        .forEach(
            file ->
                by.forFile(file.getPath(), "o", "g")
                    .ifPresent(
                        rule -> {
                          counts.merge(rule.name(), 1L, Long::sum);
                          bytes.merge(rule.name(), file.getReplicatedBytes(), Long::sum);
                          due.computeIfAbsent(rule.name(), n -> new ArrayList<>())
                              .add(file.getFileId());
                        }));
    assertThat(view.policies()).as(what).isEqualTo(by);
    assertThat(view.files()).as(what).isEqualTo(files.size());
    counts.forEach(
        (policy, count) -> {
          PolicySums sums = view.sums().get(policy);
          assertThat(sums.files(FileState.WAITING).files()).as(what).isEqualTo(count);
          assertThat(sums.replicatedBytes()).as(what).isEqualTo(bytes.get(policy));
          List<Long> found = new ArrayList<>();
          view.eachDue(policy, (modified, id, length) -> found.add(id));
          assertThat(found).as(what).isEqualTo(due.get(policy));
        });
  }

  @Test
  void aRestartReadsNoRows() throws Exception {
    open(both());
    fill();
    view.close();
    open(both());
    assertThat(view.visited()).isLessThan(10);
    check(both(), "after a restart");
  }

  /** The sums on the disk agree with the rows on the disk at any moment. */
  @Test
  void aProcessThatIsKilledFindsSumsThatAgreeWithTheRows() throws Exception {
    open(both());
    Path copy = directory.resolveSibling(directory.getFileName() + "-copy");
    int copies = 0;
    for (int files = 20_000; files <= 160_000; files += 35_000) {
      fill(files);
      deleteAll(copy);
      try {
        copyAll(copy);
      } catch (NoSuchFileException e) {
        continue; // a compaction has deleted a file meanwhile
      }
      try (NamespaceView found = NamespaceView.open(copy, both(), CodeRegistry.builtIn())) {
        assertThat(found.isSorted()).isTrue();
        assertThat(found.visited()).isLessThan(10);
        long[] counted = {0};
        found.eachFile(-1, Integer.MAX_VALUE, file -> counted[0]++);
        assertThat(found.files()).isEqualTo(counted[0]);
        copies += counted[0] > 0 ? 1 : 0;
      }
    }
    deleteAll(copy);
    assertThat(copies).as("copies with files").isPositive();
  }

  /** As a killed process leaves it: without what is in memory. */
  private void copyAll(Path to) throws IOException {
    Files.createDirectories(to);
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(f -> !f.endsWith("LOCK")).sorted().toList()) {
        Files.copy(file, to.resolve(file.getFileName()));
      }
    }
  }

  private static void deleteAll(Path tree) throws IOException {
    if (Files.exists(tree)) {
      try (Stream<Path> files = Files.list(tree)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
      Files.delete(tree);
    }
  }

  @Test
  void editedPoliciesSortByStepsWhileThoseBeforeServeAndFilesChange() throws Exception {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    open(both());
    fill();
    view.usePolicies(edited());
    check(both(), "seed " + seed + ": the policies before serve");
    assertThat(view.sortingProgress()).isPresent();
    boolean left = true;
    while (left) {
      long before = view.visited();
      left = view.sortSome(500, LONG);
      assertThat(view.visited() - before).as("seed %d", seed).isLessThan(510);
      change(random);
      check(both(), "seed " + seed);
    }
    view.usePolicies(edited());
    check(edited(), "seed " + seed + ": the edited policies are in use");
    assertThat(view.sortingProgress()).isEmpty();
    change(random);
    check(edited(), "seed " + seed + ": and are kept");
    view.close();
    open(edited());
    assertThat(view.visited()).as("seed %d", seed).isLessThan(10);
    check(edited(), "seed " + seed + ": after a restart");
  }

  /** Some files are made, change, move and are deleted. */
  private void change(Random random) {
    List<Long> asked = new ArrayList<>();
    ListFilesResponseProto.Builder answer = ListFilesResponseProto.newBuilder();
    for (int i = 0; i < 20; i++) {
      long id = 20_000 + random.nextInt(FILES + 500);
      if (asked.contains(id)) {
        continue;
      }
      asked.add(id);
      if (random.nextInt(3) == 0) {
        files.remove(id);
      } else {
        String path = (random.nextBoolean() ? "/a/m" : "/b/m") + random.nextInt(1_000_000);
        answer.addFiles(file(id, path, random.nextInt(1_000_000)));
      }
    }
    view.putInodes(asked, answer.build());
  }

  /** A page of a directory costs what it shows, and waits for nobody who changes the view. */
  @Test
  void aPageOfALargeDirectoryReadsItsOwnRowsAndWaitsForNoWriter() throws Exception {
    open(both());
    fill();
    long before = view.visited();
    InodePage page = view.entries("/", "", null, 100);
    assertThat(page.inodes()).hasSize(100);
    assertThat(view.visited() - before).isLessThan(210);
    synchronized (view) {
      assertThat(
              CompletableFuture.supplyAsync(() -> view.entries("/", "", page.end(), 100).inodes())
                  .get(30, TimeUnit.SECONDS))
          .hasSize(100);
    }
  }

  @Test
  void anEditThatIsTakenBackCostsNothing() throws Exception {
    open(both());
    fill();
    view.usePolicies(edited());
    view.sortSome(100, LONG);
    view.usePolicies(both());
    check(both(), "taken back");
    assertThat(view.sortSome(100, LONG)).isFalse();
  }

  @Test
  void anEditDuringASortBeginsAnew() throws Exception {
    open(both());
    fill();
    view.usePolicies(edited());
    view.sortSome(FILES / 2, LONG);
    PolicySet third = policies("policies:\n  - {name: all, paths: [/], family: product}\n");
    view.usePolicies(third);
    while (view.sortSome(1_000, LONG)) {
      check(both(), "the first ones serve");
    }
    view.usePolicies(third);
    check(third, "the last edit is in use");
  }

  @Test
  void policiesThatWereEditedWhileTheManagerWasDownSortByStepsToo() throws Exception {
    open(both());
    fill();
    view.close();
    open(edited());
    assertThat(view.isSorted()).isFalse();
    assertThat(view.at("/f0")).as("whoever browses does not wait").isPresent();
    while (view.sortSome(1_000, LONG)) {
      change(new Random(7));
    }
    view.usePolicies(edited());
    check(edited(), "sorted");
  }
}
