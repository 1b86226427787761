package io.ebbfs.workloads.experiment;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.experiment.Experiment.Variant;
import io.ebbfs.workloads.traffic.Generator;
import io.ebbfs.workloads.traffic.Profile;
import io.ebbfs.workloads.traffic.Replay;
import io.ebbfs.workloads.traffic.SwimTrace;
import io.ebbfs.workloads.traffic.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Makes the workloads of an experiment, stores their files in a cluster and heats them. */
final class StoredData {
  private static final String FAST = "10gbit";

  private final Experiment experiment;
  private final Variant system;
  private final Bench bench;
  private final Path staging;
  private final Map<String, Replay> replays = new LinkedHashMap<>();
  private final Map<String, Workload> workloads = new LinkedHashMap<>();
  private final Map<String, List<FileBlock>> blocksOfFile = new LinkedHashMap<>();

  /**
   * Stores nothing yet.
   *
   * @param staging a directory for files on their way to the cluster
   */
  StoredData(Experiment experiment, Variant system, Bench bench, Path staging) {
    this.experiment = experiment;
    this.system = system;
    this.bench = bench;
    this.staging = staging;
  }

  /** Stores all workloads over fast links, because storing takes long and is not measured. */
  void store() throws IOException, ClusterException, InterruptedException {
    bench.setServerRate(FAST);
    Path temporary = Files.createDirectories(staging);
    for (String name : experiment.data().workloads()) {
      Workload workload =
          experiment.measure().recorded()
              ? workload(name).withWholeBlocks(experiment.cluster().blockBytes())
              : workload(name);
      Replay replay = new Replay(workload, bench.loader(), "/" + name, experiment.seed());
      workloads.put(name, workload);
      replays.put(name, replay);
      replay.store(temporary, (done, of) -> {});
      for (int file = 0; file < workload.files().size(); file++) {
        lookUp(replay.remote(file), workload.files().get(file).bytes());
      }
    }
    bench.setServerRate(experiment.cluster().rate());
  }

  /** The directories of the workloads. */
  List<String> trees() {
    return workloads.keySet().stream().map(name -> "/" + name).toList();
  }

  private void lookUp(String file, long bytes) throws IOException {
    blocksOfFile.put(file, FileBlock.of(bench, file, bytes));
  }

  private Workload workload(String name) throws IOException {
    Experiment.Data data = experiment.data();
    if (name.equals(ExperimentFile.TRACE)) {
      return new SwimTrace(data.traceSpeed(), data.traceDivisor(), 1)
          .read(
              data.trace()
                  .orElseThrow(
                      () -> new IOException("the workload is a trace: name it with --trace FILE")));
    }
    Workload made =
        new Generator(
                data.files(),
                data.meanBytes(),
                data.epochs(),
                data.readsPerFile(),
                data.epochMillis(),
                experiment.seed())
            .generate(Profile.of(name));
    return SmallFiles.in(made, system.smallFiles(), experiment.cluster().blockBytes());
  }

  /** Opens the files of all workloads at once, each workload at its own pace. */
  void heat() throws InterruptedException, IOException {
    List<String> failures = play(replay -> replay.open((done, of) -> {}));
    if (!failures.isEmpty()) {
      throw new IOException("%d opens failed: %s".formatted(failures.size(), failures.get(0)));
    }
  }

  /**
   * Reads the files of all workloads at once, each workload at its own pace, and compares what is
   * read with what was stored.
   *
   * @return the reads that failed or found other bytes
   */
  List<String> read() throws InterruptedException, IOException {
    return play(replay -> replay.read((done, of) -> {}));
  }

  /** Works through the reads of a workload. */
  private interface Player {
    Replay.Outcome play(Replay replay) throws InterruptedException;
  }

  /**
   * Works through the reads of all workloads at once; the failures of all of them.
   *
   * @throws IOException if a reader got other bytes than were written
   */
  private List<String> play(Player player) throws InterruptedException, IOException {
    ExecutorService threads = Executors.newFixedThreadPool(replays.size());
    try {
      List<Future<Replay.Outcome>> outcomes = new ArrayList<>();
      for (Replay replay : replays.values()) {
        outcomes.add(threads.submit(() -> player.play(replay)));
      }
      List<String> failures = new ArrayList<>();
      long wrong = 0;
      for (Future<Replay.Outcome> outcome : outcomes) {
        failures.addAll(outcome.get().failures());
        wrong += outcome.get().wrong();
      }
      if (wrong > 0) {
        throw new IOException(wrong + " reads gave other bytes than were written");
      }
      return failures;
    } catch (ExecutionException e) {
      throw new IOException("opening the files failed: " + e.getCause(), e);
    } finally {
      threads.shutdownNow();
    }
  }

  /** Begins to open files as in the last epoch, until the answer is closed. */
  HeatKeeper keepHeat() {
    List<String> files = new ArrayList<>();
    workloads.forEach(
        (name, workload) -> {
          int[] counts = workload.readsIn(workload.epochs() - 1);
          for (int file = 0; file < counts.length; file++) {
            files.addAll(Collections.nCopies(counts[file], replays.get(name).remote(file)));
          }
        });
    Collections.shuffle(files, new Random(experiment.seed()));
    long epochMillis =
        workloads.values().stream().mapToLong(w -> w.durationMillis() / w.epochs()).max().orElse(1);
    return new HeatKeeper(bench.loader(), files, epochMillis);
  }

  /** The blocks of full length. Replicas are looked up again, because repairs may move them. */
  List<FileBlock> fullBlocks() throws IOException {
    if (system.codes().isEmpty()) {
      for (String file : List.copyOf(blocksOfFile.keySet())) {
        lookUp(file, Long.MAX_VALUE);
      }
    }
    return blocksOfFile.values().stream()
        .flatMap(List::stream)
        .filter(block -> block.bytes() == experiment.cluster().blockBytes())
        .toList();
  }

  /** The files of the first workload. */
  List<String> filesToRead() {
    String name = experiment.data().workloads().get(0);
    List<String> files = new ArrayList<>();
    for (int file = 0; file < workloads.get(name).files().size(); file++) {
      files.add(replays.get(name).remote(file));
    }
    return files;
  }

  /** Some file. */
  String anyFile() {
    return blocksOfFile.keySet().iterator().next();
  }

  /** The workloads by name, in the order of the experiment. */
  Map<String, Workload> workloads() {
    return workloads;
  }

  /** The path of a file of a workload in the cluster. */
  String path(String workload, int file) {
    return replays.get(workload).remote(file);
  }

  /** The blocks of a file of a workload. */
  List<FileBlock> blocks(String workload, int file) {
    return blocksOfFile.get(path(workload, file));
  }

  /** Reads every file and compares it with the stored bytes. */
  void verify() throws IOException, InterruptedException {
    for (Replay replay : replays.values()) {
      replay.verify();
    }
  }
}
