package io.ebbfs.manager.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.protocol.proto.CodingProtos.DirectoryStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.PinProto;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Many directories of one branch are renamed at once: what lies below them is visited once. */
@Timeout(120)
class RenamedChainTest {
  private static final long ROOT = InodeListener.ROOT;
  private static final long FIRST_DIRECTORY = 20_000;
  private static final long FIRST_FILE = 30_000;
  private static final long TREE = 40_000;
  private static final int FILES_OF_A_BRANCH = 1_500;
  private static final int DEPTH = 60;
  private static final int FILES = 300;

  @TempDir Path directory;
  private NamespaceView view;

  @BeforeEach
  void fill() throws Exception {
    view = NamespaceView.open(directory, new PolicySet(List.of()), CodeRegistry.builtIn());
    ListFilesResponseProto.Builder page = chain("d", DEPTH).toBuilder();
    for (int i = 0; i < FILES; i++) {
      page.addFiles(file(FIRST_FILE + i, path("d", DEPTH - 1) + "/" + i));
    }
    view.putPage(page.build());
  }

  @AfterEach
  void close() {
    view.close();
  }

  /** The path of a directory of the chain. */
  private static String path(String name, int depth) {
    StringBuilder path = new StringBuilder();
    for (int i = 0; i <= depth; i++) {
      path.append('/').append(name).append(i);
    }
    return path.toString();
  }

  private static ListFilesResponseProto chain(String name, int depth) {
    ListFilesResponseProto.Builder answer = ListFilesResponseProto.newBuilder();
    for (int i = 0; i < depth; i++) {
      answer.addDirectories(
          directory(FIRST_DIRECTORY + i, i == 0 ? ROOT : FIRST_DIRECTORY + i - 1, path(name, i)));
    }
    return answer.build();
  }

  private static DirectoryStatusProto directory(long id, long parent, String path) {
    return DirectoryStatusProto.newBuilder()
        .setDirectoryId(id)
        .setParentId(parent)
        .setPath(path)
        .build();
  }

  private static FileStatusProto file(long id, String path) {
    return FileStatusProto.newBuilder()
        .setFileId(id)
        .setPath(path)
        .setLengthBytes(1)
        .setModifiedMillis(1)
        .setUnderConstruction(false)
        .setBlocks(1)
        .setStripedBlocks(0)
        .setStoredBytes(3)
        .setReplicatedBytes(1)
        .setReplicatedStoredBytes(3)
        .setParentId(FIRST_DIRECTORY + DEPTH - 1)
        .build();
  }

  private static List<Long> directories() {
    return LongStream.range(FIRST_DIRECTORY, FIRST_DIRECTORY + DEPTH).boxed().toList();
  }

  private void checkPaths(String name) {
    for (int i = 0; i < FILES; i++) {
      String path = path(name, DEPTH - 1) + "/" + i;
      assertThat(view.file(FIRST_FILE + i).path()).isEqualTo(path);
    }
    assertThat(view.at(path(name, DEPTH - 1) + "/0").orElseThrow().id()).isEqualTo(FIRST_FILE);
  }

  @Test
  void whatIsBelowRenamedDirectoriesIsVisitedOnce() {
    view.putInodes(directories(), chain("e", DEPTH));
    checkPaths("e");
    assertThat(view.walked()).isEqualTo(DEPTH - 1 + FILES);
    view.putPage(chain("f", DEPTH));
    checkPaths("f");
    assertThat(view.walked()).isEqualTo(2 * (DEPTH - 1 + FILES));
  }

  @Test
  void aTopDirectoryOfAPartTakesAllBelowAlong() {
    view.putInodes(List.of(FIRST_DIRECTORY), chain("e", 1));
    assertThat(view.file(FIRST_FILE).path()).startsWith("/e0/d1/d2/").endsWith("/0");
  }

  /** Three directories with more files than a rename visits at once. */
  private void fillLargeTree() {
    ListFilesResponseProto.Builder page =
        ListFilesResponseProto.newBuilder().addDirectories(directory(TREE, ROOT, "/old"));
    for (int i = 1; i <= 3; i++) {
      page.addDirectories(directory(TREE + i, TREE, "/old/" + i));
      for (int j = 0; j < FILES_OF_A_BRANCH; j++) {
        page.addFiles(fileOfTree(i, j));
      }
    }
    view.putPage(page.build());
  }

  private static FileStatusProto fileOfTree(int branch, int number) {
    long id = TREE + 10 + branch * FILES_OF_A_BRANCH + number;
    return file(id, "/old/" + branch + "/" + number).toBuilder().setParentId(TREE + branch).build();
  }

  private void renameTree(String path) {
    view.putInodes(
        List.of(TREE),
        ListFilesResponseProto.newBuilder().addDirectories(directory(TREE, ROOT, path)).build());
  }

  private long filesBelow(String path) {
    long count = 0;
    for (int i = 1; i <= 3; i++) {
      for (int j = 0; j < FILES_OF_A_BRANCH; j++) {
        String expected = path + "/" + i + "/" + j;
        count += view.file(fileOfTree(i, j).getFileId()).path().equals(expected) ? 1 : 0;
      }
    }
    return count;
  }

  @Test
  void aLargeTreeFollowsARenameByStepsAndARestartGoesOn() throws Exception {
    fillLargeTree();
    long walked = view.walked();

    assertThat(view.spread(500, Duration.ofHours(1))).isFalse();
    assertThat(view.movesAreLeft()).isFalse();
    renameTree("/new");
    assertThat(view.walked() - walked).isBetween(1L, 2_100L);
    assertThat(view.movesAreLeft()).isTrue();
    assertThat(filesBelow("/new")).isBetween(1L, 3L * FILES_OF_A_BRANCH - 1);
    assertThat(view.spread(100, Duration.ofHours(1))).isTrue();
    view.close();
    view = NamespaceView.open(directory, new PolicySet(List.of()), CodeRegistry.builtIn());
    assertThat(view.movesAreLeft()).isTrue();
    renameTree("/newer");
    for (int steps = 0; view.spread(500, Duration.ofHours(1)); steps++) {
      assertThat(steps).isLessThan(1_000);
    }

    assertThat(view.movesAreLeft()).isFalse();
    assertThat(filesBelow("/newer")).isEqualTo(3L * FILES_OF_A_BRANCH);
    assertThat(view.at("/newer/3/7").orElseThrow().path()).isEqualTo("/newer/3/7");
  }

  private static DirectoryStatusProto pinned(long id, long parent, String path) {
    return directory(id, parent, path).toBuilder().setPin(PinProto.FAST).build();
  }

  private void put(DirectoryStatusProto... directories) {
    view.putInodes(
        Stream.of(directories).map(DirectoryStatusProto::getDirectoryId).toList(),
        ListFilesResponseProto.newBuilder().addAllDirectories(List.of(directories)).build());
  }

  private void spreadAll(int mostSteps) {
    for (int steps = 0; view.spread(500, Duration.ofHours(1)); steps++) {
      assertThat(steps).isLessThan(mostSteps);
    }
  }

  @Test
  void filesBelowAPinnedDirectoryFollowItAndTheDirectoryAbove() {
    put(directory(TREE, ROOT, "/d"), pinned(TREE + 1, TREE, "/d/c"));
    view.putInodes(
        List.of(TREE + 9),
        ListFilesResponseProto.newBuilder()
            .addFiles(file(TREE + 9, "/d/c/f").toBuilder().setParentId(TREE + 1))
            .build());
    spreadAll(100);

    put(directory(TREE, ROOT, "/e"), pinned(TREE + 1, TREE, "/e/c2"));
    assertThat(view.movesAreLeft()).isTrue();
    spreadAll(100);

    assertThat(view.file(TREE + 9).path()).isEqualTo("/e/c2/f");
  }

  /** Two renames of which the view has heard in part: each directory is below the other one. */
  @Test
  void aCircleEndsAndIsLeftOnceTheOtherRenameIsKnown() {
    put(directory(TREE, ROOT, "/a"), directory(TREE + 1, TREE, "/a/b"));
    put(directory(TREE, TREE + 1, "/b/a"));
    spreadAll(20_000);
    put(directory(TREE + 1, ROOT, "/b"));
    spreadAll(100);

    assertThat(view.at("/b/a").orElseThrow().path()).isEqualTo("/b/a");
  }

  @Test
  void theTopDirectoriesOfACircleAndOfBranchesAreFound() {
    // 1 is below 2, 2 below 3, and 3 below 1; 4 is below 3; 5 and 6 are below 7, 7 below "/".
    List<Long> parents = List.of(0L, 2L, 3L, 1L, 3L, 7L, 7L, ROOT);
    for (List<Long> order :
        List.of(List.of(1L, 2L, 4L), List.of(4L, 2L, 1L), List.of(2L, 4L, 1L))) {
      Set<Long> circle = new LinkedHashSet<>(order);
      Set<Long> tops = TopDirectories.of(circle, id -> id < 8 ? parents.get((int) id) : 0);
      assertThat(tops).as("order %s", order).hasSize(1).isSubsetOf(1L, 2L);
    }
    assertThat(TopDirectories.of(Set.of(5L, 6L), id -> id < 8 ? parents.get((int) id) : 0))
        .containsExactlyInAnyOrder(5L, 6L);
    assertThat(TopDirectories.of(Set.of(5L, 6L, 7L), id -> id < 8 ? parents.get((int) id) : 0))
        .containsExactly(7L);
  }
}
