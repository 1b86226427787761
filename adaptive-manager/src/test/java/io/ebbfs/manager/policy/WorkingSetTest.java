package io.ebbfs.manager.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.economics.Experience;
import io.ebbfs.manager.economics.ReadCounts;
import io.ebbfs.manager.model.ModelNamenode;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileState;
import io.ebbfs.manager.view.FileStates;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.NamespaceView;
import io.ebbfs.manager.view.PolicySums;
import io.ebbfs.manager.view.SnapshotReader;
import io.ebbfs.manager.view.StripeView;
import io.ebbfs.manager.view.WorkingSet;
import io.ebbfs.protocol.proto.CodingProtos.DirectoryStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.PinProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A view that hears only of what has changed decides as a snapshot of everything does, says the
 * same of each file, and has the same sums.
 */
class WorkingSetTest {
  private static final int WORLDS = 10;
  private static final int STEPS = 30;
  private static final int ALL = 1_000_000;
  private static final List<String> DIRECTORIES =
      List.of("/p", "/q", "/p/x", "/q/x", "/p/x/y", "/o");

  @TempDir Path directory;

  @Test
  void whatChangesIsEnough() throws Exception {
    for (int seed = 1; seed <= WORLDS; seed++) {
      new Run(seed).run();
    }
  }

  /** Read files that wait as replicas are looked at beside the limit of a run. */
  @Test
  void filesThatWaitWhileTheyAreReadKeepNoOtherFileAway() throws Exception {
    PolicyRule rule =
        PolicyWorld.rule("p", CodeRegistry.builtIn().family("product"), null, ReadHot.AUTO, 0);
    Run run = new Run(1, List.of(PolicyWorld.waitingWhileRead(86_400_000, rule)));
    run.world.maxPending = 1;
    for (int i = 0; i < 1_100; i++) {
      long modified = run.world.now - 50_000;
      long id = run.world.namenode.addFile("/p/read" + i, modified, PolicyWorld.MIB).id;
      run.world.heat.put(id, 5.0);
    }
    run.world.experience = Experience.of(Map.copyOf(run.world.heat));
    Set<Long> unread = new HashSet<>();
    for (int i = 0; i < 30; i++) {
      unread.add(run.world.file("/p/unread" + i, 1, 0));
    }
    run.follow();
    ClusterSnapshot taken = run.workingSet.take(run.around(run.world.snapshot()));
    assertThat(Policy.decide(CodeRegistry.builtIn(), taken).decisions())
        .extracting(decision -> Set.copyOf(decision.fileIds()))
        .containsExactly(unread);
  }

  /** Files that clients have encoded wait for their conversion as long as the limits say. */
  @Test
  void filesThatClientsHaveEncodedKeepNoOtherFileAway() throws Exception {
    PolicyRule rule =
        PolicyWorld.convertingClientStriped(
            PolicyWorld.rule("p", CodeRegistry.builtIn().family("product"), null, ReadHot.AUTO, 0));
    Run run = new Run(1, List.of(rule));
    run.world.maxPending = 1;
    for (int i = 0; i < 1_100; i++) {
      long modified = run.world.now - 50_000;
      run.world.namenode.addFile("/p/striped" + i, modified, PolicyWorld.MIB).clientStriped = true;
    }
    Set<Long> others = new HashSet<>();
    for (int i = 0; i < 30; i++) {
      others.add(run.world.file("/p/other" + i, 1, 0));
    }
    run.follow();
    ClusterSnapshot taken = run.workingSet.take(run.around(run.world.snapshot()));
    assertThat(taken.files()).extracting(FileView::id).containsAll(others);
  }

  /** So many read files may wait that they do not fit in memory: each run looks at a part. */
  @Test
  void runsLookAtOnePartOfTheDueFilesAfterTheOther() throws Exception {
    PolicyRule rule =
        PolicyWorld.rule("p", CodeRegistry.builtIn().family("product"), null, ReadHot.AUTO, 0);
    Run run = new Run(1, List.of(PolicyWorld.waitingWhileRead(86_400_000, rule)));
    for (int i = 0; i < 120; i++) {
      long modified = run.world.now - 50_000;
      long id = run.world.namenode.addFile("/p/read" + i, modified, PolicyWorld.MIB).id;
      run.world.heat.put(id, 5.0);
    }
    run.world.experience = Experience.of(Map.copyOf(run.world.heat));
    Set<Long> unread = new HashSet<>();
    for (int i = 0; i < 30; i++) {
      unread.add(run.world.file("/p/unread" + i, 1, 0));
    }
    run.follow();
    WorkingSet narrow = new WorkingSet(run.view, ALL, 0, ALL, 50);
    Set<Long> lookedAt = new HashSet<>();
    for (int i = 0; i < 3; i++) {
      ClusterSnapshot taken = narrow.take(run.around(run.world.snapshot()));
      assertThat(taken.files()).hasSize(50);
      taken.files().forEach(file -> lookedAt.add(file.id()));
      narrow.nextRun();
    }
    assertThat(lookedAt).isEqualTo(run.world.heat.keySet()).containsAll(unread);
    narrow.take(run.around(run.world.snapshot()));
    narrow.nextRun();
    assertThat(narrow.take(run.around(run.world.snapshot())).files())
        .as("behind the last one comes the first one")
        .hasSize(50)
        .noneMatch(file -> unread.contains(file.id()));
  }

  /** New files that are in no stripe do not keep those away that are written again. */
  @Test
  void filesThatAreWrittenAgainAreFoundAmongManyNewOnes() throws Exception {
    PolicyRule rule = PolicyWorld.releasing(PolicyWorld.rule("p", "product", null));
    Run run = new Run(1, List.of(rule));
    long file = run.world.file("/p/f", 30, 0);
    run.world.namenode.nowMillis = run.world.now;
    for (int i = 0; i < 5; i++) {
      run.world.propose();
      run.world.completeAll();
    }
    run.world.now += 60_000;
    run.world.namenode.nowMillis = run.world.now;
    for (int i = 0; i < 2_100; i++) {
      run.world.namenode.addFile("/p/new" + i, run.world.now - 5_000, PolicyWorld.MIB);
    }
    run.world.namenode.append(file, 1);
    run.follow();
    ClusterSnapshot taken = run.workingSet.take(run.around(run.world.snapshot()));
    assertThat(Policy.decide(CodeRegistry.builtIn(), taken).decisions())
        .singleElement()
        .matches(decision -> decision.kind() == TransitionKindProto.RELEASE)
        .matches(decision -> decision.fileIds().equals(List.of(file)));
  }

  /** While files are sorted, the view has the bound of before, and another one is to be kept. */
  @Test
  void aRunKeepsABoundThatTheViewDoesNotHaveYet() throws Exception {
    PolicyRule rule = PolicyWorld.rule("p", "product", null);
    Run run = new Run(1, List.of(rule));
    List<Long> files = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      files.add(run.world.file("/p/f" + i, 1, 0));
    }
    run.world.namenode.nowMillis = run.world.now;
    for (int i = 0; i < 5; i++) {
      run.world.propose();
      run.world.completeAll();
    }
    files.subList(0, 15).forEach(run.world.namenode::delete);
    run.follow();
    WorkingSet.Surroundings around = run.around(run.world.snapshot());
    WorkingSet freed = new WorkingSet(run.view, 0, 0, 0, 0);
    assertThat(freed.take(around).stripes()).isEmpty();
    PolicySet lowered = new PolicySet(run.view.policies().rules(), OptionalDouble.of(1.5));
    ClusterSnapshot taken = freed.take(around, lowered);
    assertThat(taken.policies()).isEqualTo(lowered);
    assertThat(Policy.decide(CodeRegistry.builtIn(), taken).decisions())
        .as("deleted data goes for the sake of the bound")
        .singleElement()
        .matches(decision -> decision.stripeIds().size() == 1);
  }

  /** Though each run looks at a few stripes, the runs together find the coldest and the hottest. */
  @Test
  void runsThatLookAtAPartFindTheColdestAndTheHottestOfAll() throws Exception {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    PolicyRule rule =
        PolicyWorld.rule("p", CodeRegistry.builtIn().family("product"), null, ReadHot.AUTO, 0);
    PolicyWorld world = new PolicyWorld(rule);
    for (int i = 0; i < 600; i++) {
      world.heat.put(
          world.namenode.addFile("/p/f" + i, world.now - 100_000, PolicyWorld.MIB).id, 1e4);
    }
    world.experience = Experience.of(Map.copyOf(world.heat));
    world.namenode.nowMillis = world.now;
    world.propose();
    world.completeAll();
    Map<Long, Double> reads = new HashMap<>();
    try (NamespaceView view =
        NamespaceView.open(directory, world.policies, CodeRegistry.builtIn())) {
      view.putStripes(
          List.of(),
          world.namenode.listStripes(
              null, ListStripesRequestProto.newBuilder().setLimit(1_000_000).build()));
      view.putPage(
          world.namenode.listFiles(
              null,
              ListFilesRequestProto.newBuilder()
                  .setLimit(10_000)
                  .setWithDirectories(true)
                  .build()));
      Map<Long, Double> ofStripes = new HashMap<>();
      for (StripeView stripe : world.snapshot().stripes().values()) {
        assertThat(stripe.code()).isEqualTo("PC(2x5)");
        double ofFile = 1 + random.nextInt(1_000_000);
        stripe.fileIds().forEach(id -> reads.put(id, ofFile));
        ofStripes.put(stripe.id(), ofFile);
      }
      List<Long> byReads =
          ofStripes.entrySet().stream()
              .sorted(Map.Entry.comparingByValue())
              .map(Map.Entry::getKey)
              .toList();
      assertThat(byReads).hasSizeGreaterThan(50);
      WorkingSet narrow = new WorkingSet(view, 6, 10, 5, ALL);
      ClusterSnapshot taken = null;
      for (int run = 0; run < 20; run++) {
        narrow.nextRun();
        taken =
            narrow.take(
                SnapshotReader.surroundings(
                    world.namenode.getCluster(null, GetClusterRequestProto.getDefaultInstance()),
                    List.of(),
                    world.now,
                    world.snapshot().limits(),
                    ReadCounts.NONE,
                    Experience.of(reads)));
        assertThat(taken.stripes().size())
            .as("seed %d", seed)
            .isLessThanOrEqualTo(3 * (6 + 5 + 10));
      }
      assertThat(taken.stripes().keySet()).as("seed %d", seed).containsAll(byReads.subList(0, 5));
      assertThat(taken.stripes().keySet())
          .as("seed %d", seed)
          .contains(byReads.get(byReads.size() - 1));
    }
  }

  private final class Run {
    private final int seed;
    private final Random random;
    private final PolicyWorld world;
    private final Path viewDirectory;
    private NamespaceView view;
    private WorkingSet workingSet;
    private Map<Long, FileStatusProto> files = new HashMap<>();
    private Map<Long, DirectoryStatusProto> directories = new HashMap<>();
    private Map<Long, StripeStatusProto> stripes = new HashMap<>();

    Run(int seed) throws Exception {
      this(seed, List.of());
    }

    /**
     * @param rules empty for two random policies
     */
    Run(int seed, List<PolicyRule> rules) throws Exception {
      this.seed = seed;
      this.random = new Random(seed);
      this.world =
          rules.isEmpty()
              ? new PolicyWorld(rule("p"), rule("q"))
              : new PolicyWorld(rules.toArray(PolicyRule[]::new));
      if (rules.isEmpty()) {
        world.policies = new PolicySet(world.policies.rules(), clusterBound());
      }
      this.viewDirectory = directory.resolve("view-" + seed);
      open();
      if (random.nextBoolean()) {
        readEverything();
      }
    }

    private OptionalDouble clusterBound() {
      return random.nextBoolean()
          ? OptionalDouble.empty()
          : OptionalDouble.of(1.45 + random.nextDouble() / 5);
    }

    private PolicyRule rule(String name) {
      PolicyRule any = PolicyWorld.waitingWhileRead(1_000L * random.nextInt(60), ruleOfAll(name));
      PolicyRule rule = random.nextInt(3) == 0 ? PolicyWorld.releasing(any) : any;
      return random.nextBoolean() ? rule : PolicyWorld.ofOwner("o", rule);
    }

    private PolicyRule ruleOfAll(String name) {
      boolean auto = random.nextBoolean();
      return switch (random.nextInt(3)) {
        case 0 -> PolicyWorld.single(name, "RS(6,3)", 1_000L * random.nextInt(30));
        default ->
            PolicyWorld.rule(
                name,
                CodeRegistry.builtIn().family(random.nextBoolean() ? "product" : "lrc"),
                random.nextBoolean() ? null : 1.45 + random.nextDouble() / 5,
                auto ? ReadHot.AUTO : new ReadHot(ReadHot.Unit.PER_MIB, 1),
                1_000L * random.nextInt(30));
      };
    }

    private void open() throws Exception {
      view = NamespaceView.open(viewDirectory, world.policies, CodeRegistry.builtIn());
      workingSet = new WorkingSet(view);
    }

    void run() throws Exception {
      for (int round = 0; round < 3; round++) {
        addFiles("/" + (random.nextBoolean() ? "p" : "q") + "/old" + round, 60);
        read();
        world.now += 60_000;
        world.namenode.nowMillis = world.now;
        world.propose();
        world.completeAll();
      }
      for (int step = 0; step < STEPS; step++) {
        world.namenode.nowMillis = world.now;
        String what = act();
        for (int more = random.nextInt(3); more > 0; more--) {
          what += ", " + act(); // what is told of several changes comes together
        }
        follow();
        compare("seed %d, step %d: %s".formatted(seed, step, what));
      }
      view.close();
    }

    private void addFiles(String parent, int count) {
      for (int i = 0; i < count; i++) {
        long[] lengths = new long[random.nextInt(4)];
        Arrays.setAll(lengths, n -> PolicyWorld.MIB);
        long modified = world.now - random.nextInt(40_000);
        ModelNamenode.ModelFile file =
            world.namenode.addFile(parent + "/f" + random.nextLong(), modified, lengths);
        file.underConstruction = random.nextInt(10) == 0;
      }
    }

    private void read() {
      for (long id : world.namenode.files.keySet()) {
        if (random.nextInt(3) == 0) {
          world.heat.put(id, (double) random.nextInt(200));
        } else if (random.nextInt(3) == 0) {
          world.heat.remove(id);
        }
      }
      world.experience = Experience.of(Map.copyOf(world.heat));
    }

    // ---- events ---------------------------------------------------------------------------------

    private String act() throws Exception {
      List<Long> ids = new ArrayList<>(world.namenode.files.keySet());
      List<String> known = new ArrayList<>(world.namenode.directories.keySet());
      switch (random.nextInt(15)) {
        case 14 -> {
          return append(ids);
        }
        case 13 -> {
          ids.stream()
              .filter(id -> random.nextInt(4) == 0)
              .forEach(id -> world.namenode.files.get(id).owner = random.nextBoolean() ? "o" : "x");
          return "other owners";
        }
        case 0, 1, 2 -> {
          String parent = DIRECTORIES.get(random.nextInt(DIRECTORIES.size()));
          addFiles(parent, 1 + random.nextInt(20));
          return "files in " + parent;
        }
        case 3 -> {
          read();
          return "reads";
        }
        case 4 -> {
          world.propose();
          return "proposals";
        }
        case 5 -> {
          world.completeAll();
          return "transitions end";
        }
        case 6 -> {
          for (long id : world.namenode.activeIds()) {
            if (random.nextBoolean()) {
              world.namenode.fail(id, "for a test");
            } else {
              world.namenode.complete(id);
            }
          }
          return "some transitions fail";
        }
        case 7 -> {
          if (!ids.isEmpty()) {
            world.namenode.delete(ids.get(random.nextInt(ids.size())));
          }
          return "deletion";
        }
        case 8 -> {
          if (!known.isEmpty()) {
            String from = known.get(random.nextInt(known.size()));
            String to =
                "/" + (random.nextBoolean() ? "p" : "q") + "/moved" + random.nextInt(1_000_000);
            if (!to.startsWith(from + "/")) {
              world.namenode.rename(from, to);
              return "rename of " + from + " to " + to;
            }
          }
          return "nothing";
        }
        case 9 -> {
          if (!known.isEmpty() && random.nextInt(4) == 0) {
            world.namenode.deleteTree(known.get(random.nextInt(known.size())));
            return "deletion of a tree";
          }
          world.namenode.stripes.values().forEach(s -> s.lost = random.nextInt(10) == 0);
          return "losses";
        }
        case 10, 11 -> {
          return pin(ids, known);
        }
        default -> {
          switch (random.nextInt(3)) {
            case 0 -> {
              view.close();
              open();
              return "restart";
            }
            case 1 -> {
              PolicyRule other = rule(random.nextBoolean() ? "q" : "r");
              world.policies =
                  new PolicySet(List.of(world.policies.rules().get(0), other), clusterBound());
              view.usePolicies(world.policies);
              assertThat(view.policies())
                  .as("few rows are sorted at once")
                  .isEqualTo(world.policies);
              return "edited policies";
            }
            default -> {
              world.now += random.nextInt(30_000);
              if (random.nextInt(3) == 0) {
                readEverything();
                return "time passes, everything is read";
              }
              return "time passes";
            }
          }
        }
      }
    }

    /** Writes some encoded files again: their last blocks leave their stripes. */
    private String append(List<Long> ids) {
      int appended = 0;
      for (long id : ids) {
        ModelNamenode.ModelFile file = world.namenode.files.get(id);
        int last = file.lengths.length - 1;
        if (last > 0 && file.stripeOfBlock[last] != 0 && random.nextInt(10) == 0) {
          world.namenode.append(id, 1);
          appended++;
        }
      }
      return "%d files are written again".formatted(appended);
    }

    /** Sets or removes the pin of a file or a directory. */
    private String pin(List<Long> ids, List<String> known) {
      PinProto pin = random.nextInt(4) == 0 ? null : PinProto.forNumber(1 + random.nextInt(3));
      if (random.nextInt(3) == 0 && !ids.isEmpty()) {
        ModelNamenode.ModelFile file =
            world.namenode.files.get(ids.get(random.nextInt(ids.size())));
        file.pin = pin;
        file.replication = 1 + random.nextInt(3);
        return "a file is pinned to " + pin;
      }
      if (known.isEmpty()) {
        return "nothing";
      }
      String path = known.get(random.nextInt(known.size()));
      long id = world.namenode.directories.get(path);
      if (pin == null) {
        world.namenode.pins.remove(id);
      } else {
        world.namenode.pins.put(id, pin);
      }
      return path + " is pinned to " + pin;
    }

    private void readEverything() throws Exception {
      view.beginReading();
      view.putStripes(List.of(), listStripes());
      view.putPage(listFiles());
      view.endReading();
      if (random.nextBoolean()) {
        listNow(); // the changes before are lost
      }
    }

    private ListFilesResponseProto listFiles() throws Exception {
      return world.namenode.listFiles(
          null,
          ListFilesRequestProto.newBuilder().setLimit(1_000_000).setWithDirectories(true).build());
    }

    private ListStripesResponseProto listStripes() throws Exception {
      return world.namenode.listStripes(
          null, ListStripesRequestProto.newBuilder().setLimit(1_000_000).build());
    }

    /** Tells the view the ids of what differs from before, as the change stream does. */
    private void follow() throws Exception {
      Map<Long, FileStatusProto> filesBefore = files;
      Map<Long, DirectoryStatusProto> directoriesBefore = directories;
      Map<Long, StripeStatusProto> stripesBefore = stripes;
      listNow();
      // A file below a directory that has moved does not change itself.
      Set<Long> changed = differing(withoutPaths(filesBefore), withoutPaths(files));
      changed.addAll(moved(directoriesBefore, directories));
      List<Long> inodes = new ArrayList<>(changed);
      Set<Long> pinned = differing(pins(directoriesBefore), pins(directories));
      pinned.retainAll(directories.keySet());
      pinned.removeAll(changed);
      if (!pinned.isEmpty() && random.nextBoolean()) {
        putPins(pinned);
        pinned.clear();
      }
      List<Long> changedStripes = new ArrayList<>(differing(stripesBefore, stripes));
      boolean stripesFirst = random.nextBoolean();
      for (int part = 0; part < 2; part++) {
        if (stripesFirst == (part == 0)) {
          view.putStripes(
              changedStripes,
              changedStripes.isEmpty()
                  ? ListStripesResponseProto.getDefaultInstance()
                  : world.namenode.listStripes(
                      null,
                      ListStripesRequestProto.newBuilder()
                          .addAllStripeIds(changedStripes)
                          .build()));
        } else {
          Collections.shuffle(inodes, random);
          int first = random.nextInt(inodes.size() + 1);
          putInodes(inodes.subList(0, first));
          putInodes(inodes.subList(first, inodes.size()));
        }
      }
      if (!pinned.isEmpty()) {
        putPins(pinned);
      }
      if (random.nextInt(10) == 0) { // the process ends in the middle
        view.spread(3, Duration.ofHours(1));
        view.close();
        open();
      }
      while (view.spread(1 + random.nextInt(20), Duration.ofHours(1))) {
        // Step after step.
      }
    }

    private void putPins(Set<Long> ids) throws Exception {
      view.putPins(
          ids,
          world.namenode.listFiles(
              null, ListFilesRequestProto.newBuilder().addAllInodeIds(ids).build()));
    }

    private static Map<Long, PinProto> pins(Map<Long, DirectoryStatusProto> of) {
      Map<Long, PinProto> pins = new HashMap<>();
      of.forEach(
          (id, directory) -> {
            if (directory.hasPin()) {
              pins.put(id, directory.getPin());
            }
          });
      return pins;
    }

    private void putInodes(List<Long> ids) throws Exception {
      if (!ids.isEmpty()) {
        view.putInodes(
            ids,
            world.namenode.listFiles(
                null, ListFilesRequestProto.newBuilder().addAllInodeIds(ids).build()));
      }
    }

    private void listNow() throws Exception {
      files = new HashMap<>();
      directories = new HashMap<>();
      stripes = new HashMap<>();
      var page = listFiles();
      page.getFilesList().forEach(f -> files.put(f.getFileId(), f));
      page.getDirectoriesList().forEach(d -> directories.put(d.getDirectoryId(), d));
      listStripes().getStripesList().forEach(s -> stripes.put(s.getStripe().getId(), s));
    }

    private static Map<Long, FileStatusProto> withoutPaths(Map<Long, FileStatusProto> of) {
      Map<Long, FileStatusProto> without = new HashMap<>();
      of.forEach((id, file) -> without.put(id, file.toBuilder().setPath("").build()));
      return without;
    }

    private static Set<Long> moved(
        Map<Long, DirectoryStatusProto> before, Map<Long, DirectoryStatusProto> now) {
      Map<Long, String> names = new HashMap<>();
      Map<Long, String> namesNow = new HashMap<>();
      before.forEach((id, d) -> names.put(id, d.getParentId() + lastPart(d.getPath())));
      now.forEach((id, d) -> namesNow.put(id, d.getParentId() + lastPart(d.getPath())));
      return differing(names, namesNow);
    }

    private static String lastPart(String path) {
      return path.substring(path.lastIndexOf('/'));
    }

    private static <V> Set<Long> differing(Map<Long, V> before, Map<Long, V> now) {
      Set<Long> ids = new HashSet<>(before.keySet());
      ids.addAll(now.keySet());
      ids.removeIf(id -> before.containsKey(id) && before.get(id).equals(now.get(id)));
      return ids;
    }

    // ---- the comparison -------------------------------------------------------------------------

    private void compare(String what) throws Exception {
      ClusterSnapshot whole = world.snapshot();
      ClusterSnapshot taken = workingSet.take(around(whole));
      Evaluation expected = Policy.decide(CodeRegistry.builtIn(), whole);
      Evaluation actual = Policy.decide(CodeRegistry.builtIn(), taken);
      assertThat(actual.accounts()).as(what).isEqualTo(expected.accounts());
      assertThat(actual.decisions()).as(what).isEqualTo(expected.decisions());
      assertThat(view.files()).as(what).isEqualTo(whole.files().size());
      Set<Long> inTaken = new HashSet<>();
      taken.files().forEach(file -> inTaken.add(file.id()));
      for (FileView file : whole.files()) {
        assertThat(view.file(file.id())).as(what).isEqualTo(file);
        Verdict whatFollows = actual.verdicts().of(file, view::stripe);
        Verdict whatIs = expected.verdicts().of(file, whole.stripes()::get);
        if (inTaken.contains(file.id())) {
          assertThat(whatFollows).as(what).isEqualTo(whatIs);
        } else { // the evaluation knows no reason why it waits
          assertThat(whatFollows.state()).as(what).isEqualTo(whatIs.state());
          assertThat(whatFollows.hot()).as(what).isEqualTo(whatIs.hot());
        }
      }
      compareDue(whole, what);
      compareStates(whole, what);
      checkGroups(whole, what);
      for (ModelNamenode.ModelStripe stripe : world.namenode.stripes.values()) {
        assertThat(view.stripe(stripe.id)).as(what).isEqualTo(whole.stripes().get(stripe.id));
      }
    }

    private void compareStates(ClusterSnapshot whole, String what) {
      Map<String, PolicySums> sums = view.sums();
      whole
          .sums()
          .forEach(
              (policy, expected) -> {
                for (FileState state : FileState.values()) {
                  assertThat(sums.get(policy).files(state))
                      .as(what)
                      .isEqualTo(expected.files(state));
                }
              });
    }

    /** Stripes of a group convert together, also if only one of them was read. */
    private void checkGroups(ClusterSnapshot whole, String what) throws Exception {
      Set<Long> taken =
          new WorkingSet(view, 0, ALL, ALL, ALL).take(around(whole)).stripes().keySet();
      WorkingSet narrow = new WorkingSet(view, 1, ALL, ALL, ALL);
      assertThat(narrow.take(around(whole)).stripes().keySet())
          .as("%s: the same run looks at the same stripes again", what)
          .isEqualTo(narrow.take(around(whole)).stripes().keySet());
      for (StripeView stripe : whole.stripes().values()) {
        boolean fast =
            whole.policies().named(stripe.policy()).stream()
                .anyMatch(r -> !r.isSingle() && r.family().fast().equals(stripe.code()));
        if (fast && stripe.groupId() != 0 && taken.contains(stripe.id())) {
          assertThat(whole.stripes().values())
              .as(what)
              .filteredOn(s -> s.groupId() == stripe.groupId() && s.code().equals(stripe.code()))
              .allMatch(s -> taken.contains(s.id()));
        }
      }
    }

    private WorkingSet.Surroundings around(ClusterSnapshot whole) throws Exception {
      return SnapshotReader.surroundings(
          world.namenode.getCluster(null, GetClusterRequestProto.getDefaultInstance()),
          whole.transitions(),
          world.now,
          whole.limits(),
          whole.heat(),
          whole.experience());
    }

    private void compareDue(ClusterSnapshot whole, String what) {
      long since = world.now - random.nextInt(60_000);
      for (PolicyRule rule : world.policies.rules()) {
        long files =
            whole.files().stream()
                .filter(file -> file.modifiedMillis() > since)
                .filter(file -> file.policyOf(whole.policies()).equals(Optional.of(rule)))
                .filter(
                    file -> FileStates.of(file, rule, whole.stripes()::get) == FileState.WAITING)
                .count();
        assertThat(view.newerThan(rule.name(), since).files()).as(what).isEqualTo(files);
      }
    }
  }
}
