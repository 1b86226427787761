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

/** Loses a server and then a disk of one side, and measures reads and repairs. */
final class LossSequence {
  private static final long CLEAN_MILLIS = 90_000;

  private final Side side;
  private final Protection protection;
  private final FileSet files;
  private final List<LossRows> rows;
  private final RowGroup.Recorder recorder;

  /**
   * @param rows to which each run is added
   */
  LossSequence(
      Side side,
      Protection protection,
      FileSet files,
      List<LossRows> rows,
      RowGroup.Recorder recorder) {
    this.side = side;
    this.protection = protection;
    this.files = files;
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
    try {
      Run first = recorder.measure(0, () -> side.client().firstByte(one));
      rows.forEach(row -> recorder.add(row.firstByte(), first));
      Run whole = recorder.measure(one.bytes(), () -> side.client().read(one, 1));
      rows.forEach(row -> recorder.add(row.wholeFile(), whole));
      protection.awaitLoss();
      Run repair = repair(lost);
      rows.forEach(row -> recorder.add(row.server(), repair));
    } finally {
      side.system().restart(server);
    }
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
    side.system().restart(server);
    protection.awaitLoss();
    Run repair = repair(lost);
    rows.forEach(row -> recorder.add(row.disk(), repair));
  }

  private Run repair(long lost) throws IOException, ClusterException, InterruptedException {
    Run run =
        recorder.measure(
            lost,
            () -> {
              long begin = System.nanoTime();
              protection.awaitWhole();
              long micros = (System.nanoTime() - begin) / 1000;
              return new Timing(micros, micros);
            });
    return run.with(protection.traffic(lost));
  }
}
