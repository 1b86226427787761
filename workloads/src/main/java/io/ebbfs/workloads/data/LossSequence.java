package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.workloads.data.DataClient.FileSet;
import io.ebbfs.workloads.data.DataClient.Timing;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Loses a server and then a disk of one side, and measures reads and repairs. */
final class LossSequence {
  private static final long CLEAN_MILLIS = 90_000;

  /** A dead server is noticed after 32 s at the earliest. */
  private static final double UNNOTICED_SECONDS = 32;

  /**
   * EbbFS's namenode does not believe a report that lacks a replica which arrived in the last 5 s.
   * Without a pause it would take blocks for whole that were just rebuilt on the disk.
   */
  private static final long SETTLE_MILLIS = 6_000;

  private static final int NO_SERVER = -1;

  /** Losses have no other one. */
  private static final int ROUND = 1;

  private final Side side;
  private final Protection protection;
  private final FileSet files;
  private final long readBytes;
  private final List<LossRows> rows;
  private final RowGroup.Recorder recorder;

  /**
   * @param readBytes how much of the first file is read while a server is dead
   * @param rows to which each run is added
   */
  LossSequence(
      Side side,
      Protection protection,
      FileSet files,
      long readBytes,
      List<LossRows> rows,
      RowGroup.Recorder recorder) {
    this.side = side;
    this.protection = protection;
    this.files = files;
    this.readBytes = readBytes;
    this.rows = rows;
    this.recorder = recorder;
  }

  /** The files are there and whole, before and afterwards. */
  void run() throws IOException, ClusterException, InterruptedException {
    try (RepairWatch watch = new RepairWatch(side.system())) {
      int servers = watch.liveServers();
      awaitNothingSuperfluous(servers);
      lostServer();
      watch.awaitLive(servers);
      protection.awaitWhole();
      awaitNothingSuperfluous(servers);
    }
    Thread.sleep(SETTLE_MILLIS);
    lostDisk();
  }

  /** What is to be deleted would count as lost. Both systems delete it after some heartbeats. */
  private void awaitNothingSuperfluous(int servers)
      throws IOException, ClusterException, InterruptedException {
    List<Path> disks = new ArrayList<>();
    for (int server = 0; server < servers; server++) {
      disks.addAll(side.system().disks(server));
    }
    long wanted = protection.storedBytes(files);
    Optional<String> left =
        ConditionWaiter.within(CLEAN_MILLIS).objection(() -> superfluous(disks, wanted));
    left.ifPresent(
        why -> {
          String note = "%s: %s, which the lost bytes include".formatted(side.name(), why);
          rows.forEach(row -> recorder.note(row.server(), note));
          rows.forEach(row -> recorder.note(row.disk(), note));
        });
  }

  private static String superfluous(List<Path> disks, long wanted) throws IOException {
    try {
      long bytes = BlocksOnDisk.bytes(disks);
      return bytes == wanted
          ? null
          : "%,d bytes were on the disks instead of %,d".formatted(bytes, wanted);
    } catch (NoSuchFileException e) {
      return "blocks were being deleted";
    }
  }

  private int server() throws IOException {
    return FirstServer.of(side.system(), files.prefix() + "0");
  }

  private void lostServer() throws IOException, ClusterException, InterruptedException {
    int server = server();
    long lost = BlocksOnDisk.bytes(side.system().disks(server));
    FileSet one = new FileSet(files.prefix(), 1, files.bytes());
    side.system().kill(server);
    long killed = System.nanoTime();
    try {
      ClientTurns.take(side, ROUND, recorder, (client, turn) -> read(one, client, turn));
      noteLateReads(secondsSince(killed));
      Run repair = repair(lost, killed, recorder.links().received());
      rows.forEach(row -> recorder.add(row.server(), repair));
      noteMissing(LossRows::server, server);
    } finally {
      side.system().restart(server);
    }
  }

  private void read(FileSet one, DataClient client, ClientTurns.Measured turn)
      throws IOException, ClusterException, InterruptedException {
    turn.add(rows.stream().map(LossRows::firstByte).toList(), 0, () -> client.firstByte(one));
    turn.add(
        rows.stream().map(LossRows::degradedRead).toList(),
        readBytes,
        () -> client.readBeginning(one, readBytes));
  }

  /** Deletes the blocks of the fullest disk of a server while the server is down. */
  private void lostDisk() throws IOException, ClusterException, InterruptedException {
    int server = server();
    Path fullest = null;
    long lost = 0;
    for (Path disk : side.system().disks(server)) {
      long bytes = BlocksOnDisk.bytes(List.of(disk));
      if (fullest == null || bytes > lost) {
        fullest = disk;
        lost = bytes;
      }
    }
    side.system().kill(server);
    BlocksOnDisk.delete(fullest);
    long wiped = System.nanoTime();
    SharedLinks.Received before = recorder.links().received();
    side.system().restart(server);
    Run repair = repair(lost, wiped, before);
    rows.forEach(row -> recorder.add(row.disk(), repair));
    noteMissing(LossRows::disk, NO_SERVER);
  }

  /** Notes if less is on the disks than what is stored, though the namenode took all for whole. */
  private void noteMissing(Function<LossRows, BenchmarkRow> measured, int dead)
      throws IOException, ClusterException {
    List<Path> disks = new ArrayList<>();
    for (int server = 0; server < side.system().transferPorts().size(); server++) {
      if (server != dead) {
        disks.addAll(side.system().disks(server));
      }
    }
    long bytes = BlocksOnDisk.bytes(disks);
    long wanted = protection.storedBytes(files);
    if (bytes < wanted) {
      String note =
          "%s: %,d bytes of %,d were on the disks after the repair, so that it was not all"
              .formatted(side.name(), bytes, wanted);
      rows.forEach(row -> recorder.note(measured.apply(row), note));
    }
  }

  private void noteLateReads(double seconds) {
    if (seconds > UNNOTICED_SECONDS) {
      String note =
          "%s: the reads lasted %.0f s, in which the repair may have begun"
              .formatted(side.name(), seconds);
      rows.forEach(row -> recorder.note(row.server(), note));
    }
  }

  private static double secondsSince(long nanos) {
    return (System.nanoTime() - nanos) / 1e9;
  }

  /**
   * Measures a repair from the moment at which the namenode knows of the loss.
   *
   * @param lostAt the nano time of the loss
   * @param before what the links had received before the loss, or after what was read since then
   */
  private Run repair(long lost, long lostAt, SharedLinks.Received before)
      throws IOException, ClusterException, InterruptedException {
    protection.awaitLoss();
    double noticed = secondsSince(lostAt);
    Run run =
        recorder.measure(
            lost,
            () -> {
              long begin = System.nanoTime();
              protection.awaitWhole();
              long micros = (System.nanoTime() - begin) / 1000;
              return new Timing(micros, micros);
            });
    return run.with(protection.traffic(lost)).since(noticed, recorder.links().since(before));
  }
}
