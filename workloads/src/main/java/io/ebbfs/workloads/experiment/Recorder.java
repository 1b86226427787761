package io.ebbfs.workloads.experiment;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.StoredMemberProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.testbed.process.BackgroundLoop;
import io.ebbfs.testbed.process.ProcessNames;
import io.ebbfs.workloads.experiment.Experiment.Variant;
import io.ebbfs.workloads.results.Recording;
import io.ebbfs.workloads.results.Recording.Moves;
import io.ebbfs.workloads.results.Recording.Step;
import io.ebbfs.workloads.traffic.Workload;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Keeps a {@link Recording} of a cluster, from its creation on. A thread looks at the stripes once
 * in each step. {@link #end} adds what the namenode has counted. One thread may use it.
 */
final class Recorder implements AutoCloseable {
  /** The manager of an experiment decides as often. */
  static final long STEP_MILLIS = 2_000;

  private static final String DECODED = "degradedReadSources.";

  /** The least share of the steps in which the cluster has to be looked at. */
  private static final double LEAST_SAMPLED = 0.95;

  private final Experiment experiment;
  private final Variant system;
  private final Bench bench;
  private final StoredData data;
  private final long countedMillis;
  private final long startMillis = System.currentTimeMillis();
  private final long decodedBefore;
  private final TreeMap<Integer, Sample> samples = new TreeMap<>();
  private final BackgroundLoop background;

  /** The stripes in a step. */
  private record Sample(long positions, double absent, double stored) {
    static final Sample NOTHING = new Sample(0, 0, 0);
  }

  /**
   * @param countedMillis how long the manager has counted reads
   */
  Recorder(Experiment experiment, Variant system, Bench bench, StoredData data, long countedMillis)
      throws IOException {
    this.experiment = experiment;
    this.system = system;
    this.bench = bench;
    this.data = data;
    this.countedMillis = countedMillis;
    this.decodedBefore = decoded();
    background = new BackgroundLoop("recorder", this::run);
  }

  private long decoded() throws IOException {
    return bench.probe().counters(DECODED).values().stream().mapToLong(Long::longValue).sum();
  }

  /** Looks at the stripes in the middle of each step. A look that takes long delays the next. */
  private void run() throws InterruptedException {
    long next = startMillis + STEP_MILLIS / 2;
    while (!Thread.currentThread().isInterrupted()) {
      Thread.sleep(Math.max(0, next - System.currentTimeMillis()));
      next += STEP_MILLIS;
      int step = (int) ((System.currentTimeMillis() - startMillis) / STEP_MILLIS);
      try {
        Sample sample = sample();
        synchronized (samples) {
          samples.put(step, sample);
        }
      } catch (IOException | RuntimeException e) {
        // The step counts as the one before. end() fails if too many are missed.
      }
    }
  }

  private Sample sample() throws IOException {
    Set<String> running = bench.cluster().running().keySet();
    List<StripeStatusProto> stripes = bench.probe().stripesWithLocations();
    GetClusterResponseProto cluster = bench.probe().cluster();
    long positions = 0;
    long blocks = 0;
    long absent = 0;
    for (StripeStatusProto stripe : stripes) {
      int dataCount = Codes.byName(stripe.getStripe().getCode()).dataCount();
      positions += stripe.getStoredCount();
      for (StoredMemberProto member : stripe.getStoredList()) {
        if (member.getPosition() < dataCount) {
          blocks++;
          absent += isThere(member, running) ? 0 : 1;
        }
      }
    }
    return new Sample(
        positions,
        blocks == 0 ? 0 : (double) absent / blocks,
        (double) cluster.getStoredBytes() / Math.max(1, cluster.getLogicalBytes()));
  }

  private boolean isThere(StoredMemberProto member, Set<String> running) {
    return member.getBlock().getLocationsList().stream()
        .map(place -> bench.server(place.getServer().getIpAddr(), place.getServer().getIpcPort()))
        .anyMatch(server -> running.contains(ProcessNames.server(server)));
  }

  private void requireSamples(int steps) throws IOException {
    synchronized (samples) {
      long taken = samples.keySet().stream().filter(step -> step < steps).count();
      if (taken < steps * LEAST_SAMPLED) {
        throw new IOException(
            "the cluster was looked at in %d of %d steps; record on a machine with less load"
                .formatted(taken, steps));
      }
    }
  }

  /**
   * The recording of the time of the workloads. To be called when all transitions have ended.
   *
   * @throws IOException if the namenode does not answer, or did not in too many steps
   */
  Recording end() throws IOException {
    close();
    long millis =
        data.workloads().values().stream().mapToLong(Workload::durationMillis).max().orElse(0);
    int count = (int) Math.max(1, (millis + STEP_MILLIS - 1) / STEP_MILLIS);
    requireSamples(count);
    List<Map<Integer, Integer>> opens = new ArrayList<>();
    double[] lost = new double[count];
    for (int step = 0; step < count; step++) {
      opens.add(new HashMap<>());
    }
    List<Recording.File> files = files(opens);
    List<TransitionRow> done = bench.probe().transitions(TransitionStateProto.DONE);
    for (TransitionRow row : done) {
      if (row.getKind() == TransitionKindProto.REPAIR) {
        int step = clamped(row.getCreatedMillis() - startMillis, count);
        lost[step] += (double) row.getBlocksWritten() / Math.max(1, sampleOf(step).positions);
      }
    }
    List<Step> steps = new ArrayList<>();
    for (int step = 0; step < count; step++) {
      Sample sample = sampleOf(step);
      steps.add(new Step(opens.get(step), lost[step], sample.absent, sample.stored));
    }
    return new Recording(
        STEP_MILLIS,
        countedMillis,
        experiment.cluster().blockBytes(),
        system.halfLifeMillis(),
        experiment.policy().memoryMillis(),
        experiment.configuration(system).get(Configuration.POLICIES),
        files,
        steps,
        moves(done, decoded() - decodedBefore));
  }

  /** The files of all workloads; their opens are added to the steps. */
  private List<Recording.File> files(List<Map<Integer, Integer>> opens) throws IOException {
    List<Recording.File> files = new ArrayList<>();
    for (Map.Entry<String, Workload> entry : data.workloads().entrySet()) {
      int first = files.size();
      Map<String, FileStatusProto> known = new HashMap<>();
      bench.probe().files("/" + entry.getKey()).forEach(file -> known.put(file.getPath(), file));
      for (int i = 0; i < entry.getValue().files().size(); i++) {
        String path = data.path(entry.getKey(), i);
        FileStatusProto file = known.get(path);
        if (file == null) {
          throw new IOException(
              "the namenode does not list %s: run the system again".formatted(path));
        }
        files.add(
            new Recording.File(path, file.getBlocks(), file.getModifiedMillis() - startMillis));
        // The look at the blocks of the file after it was stored counts as an open.
        opens.get(0).put(first + i, 1);
      }
      for (Workload.Read read : entry.getValue().reads()) {
        opens
            .get(clamped(read.atMillis(), opens.size()))
            .merge(first + read.file(), 1, Integer::sum);
      }
    }
    return files;
  }

  private static int clamped(long millis, int steps) {
    return (int) Math.max(0, Math.min(steps - 1, millis / STEP_MILLIS));
  }

  /**
   * The sums of transitions that are done.
   *
   * @param decoded blocks that were read to decode blocks for readers
   */
  static Moves moves(List<TransitionRow> done, long decoded) {
    long encode = 0;
    long convert = 0;
    long repair = 0;
    for (TransitionRow row : done) {
      long moved = row.getBlocksRead() + row.getBlocksWritten();
      switch (row.getKind()) {
        case REPAIR -> repair += moved;
        case ENCODE -> encode += moved;
        default -> convert += moved;
      }
    }
    return new Moves(encode, convert, repair, decoded);
  }

  /** The sample of a step, or of the last step before it that has one. */
  private Sample sampleOf(int step) {
    synchronized (samples) {
      Map.Entry<Integer, Sample> entry = samples.floorEntry(step);
      return entry == null ? Sample.NOTHING : entry.getValue();
    }
  }

  @Override
  public void close() {
    background.close();
  }
}
