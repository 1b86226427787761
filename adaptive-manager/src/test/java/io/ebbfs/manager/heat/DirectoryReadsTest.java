package io.ebbfs.manager.heat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.HalfLives;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.view.NamespaceView;
import io.ebbfs.protocol.proto.CodingProtos.DirectoryStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesResponseProto;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The reads below directories, against a model that visits every file. */
class DirectoryReadsTest {
  private static final long ROOT = 16_385;
  private static final long HOUR = 3_600_000;
  private static final HalfLives HALF_LIVES = new HalfLives(HOUR, 24 * HOUR);
  private static final HalfLives OTHERS = new HalfLives(2 * HOUR, 72 * HOUR);

  @TempDir Path directory;
  private final long seed = Long.getLong("seed", System.nanoTime());
  private final Random random = new Random(seed);
  private HalfLives halfLives = HALF_LIVES;
  private ManagerStore store;
  private NamespaceView view;
  private DirectoryReads reads;
  private int views;
  private int offset;
  private long nextId = 20_000;
  private long now = 1_000 * HOUR;

  /** A file or directory of the model. */
  private static final class Inode {
    final boolean isDirectory;
    long parent;
    String name;
    final List<OpenEvent> opens = new ArrayList<>();

    Inode(boolean isDirectory, long parent, String name) {
      this.isDirectory = isDirectory;
      this.parent = parent;
      this.name = name;
    }
  }

  private final Map<Long, Inode> inodes = new TreeMap<>();

  /** Inodes that the view has to hear of. */
  private final Set<Long> changed = new TreeSet<>();

  private void open() throws Exception {
    store = ManagerStore.open(directory.resolve("store"));
    reads = store.directoryReads(halfLives);
    view =
        NamespaceView.open(
            directory.resolve("view-" + views),
            new PolicySet(List.of()),
            CodeRegistry.builtIn(),
            reads);
  }

  @AfterEach
  void close() {
    view.close();
    store.close();
  }

  // ---- the model --------------------------------------------------------------------------------

  private List<Long> ids(boolean directories) {
    return inodes.entrySet().stream()
        .filter(entry -> entry.getValue().isDirectory == directories)
        .map(Map.Entry::getKey)
        .toList();
  }

  private long anyDirectory() {
    List<Long> all = ids(true);
    int index = random.nextInt(all.size() + 1);
    return index == all.size() ? ROOT : all.get(index);
  }

  private long make(boolean isDirectory, long parent) {
    long id = nextId++;
    inodes.put(id, new Inode(isDirectory, parent, "n" + id));
    changed.add(id);
    return id;
  }

  private boolean isAtOrBelow(long id, long other) {
    for (long at = id; at != ROOT; at = inodes.get(at).parent) {
      if (at == other) {
        return true;
      }
    }
    return false;
  }

  private void rename(long id, long parent) {
    if (!isAtOrBelow(parent, id)) {
      inodes.get(id).parent = parent;
      inodes.get(id).name = "r" + nextId++;
      changed.add(id);
    }
  }

  private void deleteTree(long id) {
    Set<Long> gone = new HashSet<>();
    inodes.keySet().stream().filter(one -> isAtOrBelow(one, id)).forEach(gone::add);
    inodes.keySet().removeAll(gone);
    changed.addAll(gone);
  }

  private void read(long id) throws Exception {
    long at = now - random.nextInt((int) HOUR / 4);
    List<OpenEvent> events =
        List.of(new OpenEvent(id, at, 1 + random.nextInt(5)), new OpenEvent(id, now, 1));
    store.count(events, new ManagerStore.Position("t", 0, ++offset), halfLives);
    if (inodes.containsKey(id)) {
      inodes.get(id).opens.addAll(events);
    }
  }

  private double decayed(Inode file, long halfLifeMillis) {
    return file.opens.stream()
        .mapToDouble(
            open ->
                open.count() * Math.pow(2, -(double) (now - open.timeMillis()) / halfLifeMillis))
        .sum();
  }

  private String pathOf(long id) {
    return id == ROOT ? "" : pathOf(inodes.get(id).parent) + "/" + inodes.get(id).name;
  }

  // ---- what the view hears ----------------------------------------------------------------------

  private ListFilesResponseProto answer(List<Long> asked) {
    ListFilesResponseProto.Builder answer = ListFilesResponseProto.newBuilder();
    List<Long> shuffled = new ArrayList<>(asked);
    Collections.shuffle(shuffled, random);
    for (long id : shuffled) {
      Inode inode = inodes.get(id);
      if (inode != null && inode.isDirectory) {
        answer.addDirectories(
            DirectoryStatusProto.newBuilder()
                .setDirectoryId(id)
                .setParentId(inode.parent)
                .setPath(pathOf(id)));
      } else if (inode != null) {
        answer.addFiles(
            FileStatusProto.newBuilder()
                .setFileId(id)
                .setPath(pathOf(id))
                .setLengthBytes(1)
                .setModifiedMillis(1)
                .setUnderConstruction(false)
                .setBlocks(1)
                .setStripedBlocks(0)
                .setStoredBytes(3)
                .setReplicatedBytes(1)
                .setReplicatedStoredBytes(3)
                .setParentId(inode.parent));
      }
    }
    return answer.build();
  }

  /** The view hears of the changes in two parts, in any order, as records come. */
  private void hear() {
    List<Long> all = new ArrayList<>(changed);
    Collections.shuffle(all, random);
    int cut = all.isEmpty() ? 0 : random.nextInt(all.size());
    for (List<Long> part : List.of(all.subList(0, cut), all.subList(cut, all.size()))) {
      view.putInodes(part, answer(part));
      if (random.nextBoolean()) {
        view.tellListener(1 + random.nextInt(5));
      }
    }
    changed.clear();
    settle();
  }

  private void settle() {
    for (int steps = 0; view.tellListener(20); steps++) {
      assertThat(steps).as("seed %d: all are placed in the end", seed).isLessThan(5_000);
    }
  }

  private void check() {
    Map<Long, Double> heat = new HashMap<>();
    Map<Long, Double> remembered = new HashMap<>();
    for (long id : ids(false)) {
      Inode file = inodes.get(id);
      for (long at = file.parent; ; at = inodes.get(at).parent) {
        heat.merge(at, decayed(file, halfLives.heatMillis()), Double::sum);
        remembered.merge(at, decayed(file, halfLives.memoryMillis()), Double::sum);
        if (at == ROOT) {
          break;
        }
      }
    }
    List<Long> directories = new ArrayList<>(ids(true));
    directories.add(ROOT);
    Map<Long, DirectoryReads.Sum> sums = reads.of(directories, now).orElseThrow();
    for (long id : directories) {
      String as = "seed " + seed + ", directory " + id;
      double expected = heat.getOrDefault(id, 0.0);
      assertThat(sums.get(id).heat()).as(as).isCloseTo(expected, within(1e-6 + expected / 1e6));
      expected = remembered.getOrDefault(id, 0.0);
      assertThat(sums.get(id).remembered())
          .as(as)
          .isCloseTo(expected, within(1e-6 + expected / 1e6));
    }
  }

  private void change() throws Exception {
    List<Long> files = ids(false);
    List<Long> directories = ids(true);
    switch (random.nextInt(10)) {
      case 0, 1 -> make(true, anyDirectory());
      case 2 -> {
        long id = make(false, anyDirectory());
        if (random.nextBoolean()) {
          read(id); // before the view knows the file
        }
      }
      case 3 -> {
        if (!files.isEmpty()) {
          rename(files.get(random.nextInt(files.size())), anyDirectory());
        }
      }
      case 4, 5 -> {
        if (!directories.isEmpty()) {
          rename(directories.get(random.nextInt(directories.size())), anyDirectory());
        }
      }
      case 6 -> {
        if (random.nextInt(4) == 0 && !directories.isEmpty()) {
          deleteTree(directories.get(random.nextInt(directories.size())));
        } else if (!files.isEmpty()) {
          long id = files.get(random.nextInt(files.size()));
          deleteTree(id);
          read(id); // an event that comes late
        }
      }
      default -> {
        if (!files.isEmpty()) {
          read(files.get(random.nextInt(files.size())));
        }
      }
    }
    now += random.nextInt(60_000);
  }

  // ---- tests ------------------------------------------------------------------------------------

  @Test
  void readsRenamesAndDeletesInAnyOrder() throws Exception {
    System.out.println("seed " + seed);
    open();
    settle();
    for (int round = 0; round < 200; round++) {
      int changes = random.nextInt(12);
      for (int i = 0; i < changes; i++) {
        change();
      }
      hear();
      check();
      switch (random.nextInt(60)) {
        case 0 -> reopen(false, halfLives);
        case 1 -> reopen(true, halfLives);
        case 2 -> reopen(false, halfLives == HALF_LIVES ? OTHERS : HALF_LIVES);
        case 3 -> {
          store.prune(now, halfLives, 0, id -> inodes.containsKey(id), now);
          settle();
          check();
        }
        default -> {}
      }
    }
  }

  /**
   * Opens the store again.
   *
   * @param lost whether the view was lost, and everything is read anew
   * @param others the half-lives of the configuration now
   */
  private void reopen(boolean lost, HalfLives others) throws Exception {
    close();
    boolean same = others.equals(halfLives);
    halfLives = others;
    if (!same) {
      // The counts of the store were kept by the half-lives before: the model forgets its own.
      inodes.values().forEach(inode -> inode.opens.clear());
      now += 1_000_000 * HOUR;
    }
    views += lost ? 1 : 0;
    open();
    if (lost) {
      view.beginReading();
      view.putPage(answer(List.copyOf(inodes.keySet())));
      view.endReading();
    }
    if (!same) {
      assertThat(reads.of(List.of(ROOT), now)).as("not known yet").isEmpty();
    }
    settle();
    check();
  }

  // ---- the report for the namenode --------------------------------------------------------------

  @Test
  void theReportNamesWhatIsReadMostAndBoundsTheRest() throws Exception {
    open();
    assertThat(reads.hottest(10, view::hasFile, now)).as("not known yet").isEmpty();
    settle();
    DirectoryReads.Hottest none = reads.hottest(10, view::hasFile, now).orElseThrow();
    assertThat(none).isEqualTo(new DirectoryReads.Hottest(Map.of(), 0, 0));
    List<Long> files = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      files.add(make(false, make(true, ROOT)));
    }
    hear();
    for (int i = 0; i < 8; i++) {
      store.count(
          List.of(new OpenEvent(files.get(i), now, 1 << i)),
          new ManagerStore.Position("t", 0, ++offset),
          halfLives);
    }
    settle();
    DirectoryReads.Hottest all = reads.hottest(10, view::hasFile, now).orElseThrow();
    assertThat(all.heat()).hasSize(8 + 8 + 1).containsEntry(ROOT, 255.0);
    assertThat(all.otherFilesAtMost()).isZero();
    assertThat(all.otherDirectoriesAtMost()).isZero();
    DirectoryReads.Hottest cut = reads.hottest(3, view::hasFile, now).orElseThrow();
    assertThat(cut.heat()).containsEntry(files.get(7), 128.0).doesNotContainKey(files.get(4));
    assertThat(cut.otherFilesAtMost()).as("16 is not named").isBetween(16.0, 35.0);
    assertThat(cut.otherDirectoriesAtMost()).as("some of the directories").isEqualTo(255);
    inodes.remove(files.get(7));
    changed.add(files.get(7));
    hear();
    DirectoryReads.Hottest left = reads.hottest(10, view::hasFile, now).orElseThrow();
    assertThat(left.heat()).doesNotContainKey(files.get(7)).containsEntry(ROOT, 127.0);
    assertThat(left.otherFilesAtMost()).isZero();
  }

  @Test
  void filesThatAreReadSeldomBesideVeryHotOnesAreNotReportedAsUnread() throws Exception {
    open();
    long hot = make(false, make(true, ROOT));
    long seldom = make(false, make(true, ROOT));
    hear();
    store.count(
        List.of(new OpenEvent(hot, now, 1_000_000_000L), new OpenEvent(seldom, now, 100)),
        new ManagerStore.Position("t", 0, ++offset),
        halfLives);
    settle();
    DirectoryReads.Hottest one = reads.hottest(1, view::hasFile, now).orElseThrow();
    assertThat(one.heat()).containsKey(hot).doesNotContainKey(seldom);
    assertThat(one.otherFilesAtMost()).isGreaterThanOrEqualTo(100);
    assertThat(one.otherDirectoriesAtMost()).isGreaterThanOrEqualTo(100);
  }

  /** Two renames that the view hears of one after the other make a circle in between. */
  @Test
  @Timeout(60)
  void renamesThatMakeACircleWhileTheyAreHalfKnown() throws Exception {
    open();
    settle();
    long a = make(true, ROOT);
    long b = make(true, a);
    long inA = make(false, a);
    long inB = make(false, b);
    hear();
    read(inA);
    read(inB);
    settle();
    check();
    rename(b, ROOT);
    rename(a, b);
    changed.clear();
    view.putInodes(List.of(a), answer(List.of(a)));
    view.putInodes(List.of(b), answer(List.of(b)));
    settle();
    check();
    for (long id : List.of(a, b, inA, inB)) {
      assertThat(view.at(pathOf(id)).orElseThrow().id()).isEqualTo(id);
    }
  }

  /** A power failure may lose what the store has written last, and not what the view has. */
  @Test
  void aWrongPlaceIsMendedByThePruning() throws Exception {
    open();
    settle();
    long a = make(true, ROOT);
    long b = make(true, ROOT);
    long file = make(false, a);
    long below = make(true, a);
    long other = make(false, below);
    hear();
    read(file);
    read(other);
    settle();
    rename(file, b);
    rename(below, b);
    view.close();
    view = // without a listener: the store does not hear of the renames
        NamespaceView.open(
            directory.resolve("view-0"), new PolicySet(List.of()), CodeRegistry.builtIn());
    List<Long> ids = List.copyOf(changed);
    view.putInodes(ids, answer(ids));
    changed.clear();
    close();
    open();
    settle();
    assertThat(reads.placeOf(file)).isEqualTo(a);
    store.prune(now, halfLives, 0, id -> true, now);
    settle();
    check();
  }

  @Test
  void whatIsReadInADeepDirectoryCountsUpToTheRoot() throws Exception {
    open();
    settle();
    long deepest = ROOT;
    for (int i = 0; i < 60; i++) {
      deepest = make(true, deepest);
    }
    long file = make(false, deepest);
    hear();
    read(file);
    settle();
    check();
    assertThat(reads.of(List.of(ROOT), now).orElseThrow().get(ROOT).heat()).isGreaterThan(1);
  }
}
