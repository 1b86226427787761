package io.ebbfs.verify.soak;

import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.process.Launcher;
import io.ebbfs.testbed.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Looks for processes that nobody counts on, and for descriptors of a cluster at rest that no
 * client needs any more.
 */
final class Leaks {
  private static final long PATIENCE_MILLIS = 90_000;

  /**
   * Connections that a process of a cluster at rest may have beyond those at its start: to each
   * other process one or two, and some of this machine's tools.
   */
  private static final int MORE_SOCKETS = 64;

  private final LocalCluster cluster;
  private final Map<String, Integer> socketsAtStart = new java.util.TreeMap<>();

  /** Counts what a cluster has that was just started. */
  Leaks(LocalCluster cluster) {
    this.cluster = cluster;
    cluster.running().forEach((name, process) -> socketsAtStart.put(name, sockets(process)));
  }

  /** Lists sockets, files and processes that outlive the clients; waits until slow ones end. */
  List<String> atRest() throws InterruptedException {
    List<String> leaked = new ArrayList<>();
    for (Map.Entry<String, ProcessId> entry : cluster.running().entrySet()) {
      ConditionWaiter.within(PATIENCE_MILLIS)
          .every(1000)
          .objection(() -> leakOf(entry.getKey(), entry.getValue()))
          .ifPresent(leak -> leaked.add(entry.getKey() + " " + leak));
    }
    try {
      for (ProcessId process : new Launcher(cluster.directory()).running()) {
        if (!cluster.running().containsValue(process)) {
          leaked.add("process %d belongs to no part of the cluster".formatted(process.pid()));
        }
      }
    } catch (IOException e) {
      leaked.add("the processes cannot be listed: " + e);
    }
    return leaked;
  }

  private String leakOf(String name, ProcessId process) {
    List<String> targets = descriptors(process);
    // RocksDB and the broker keep files open. A chunk server has no reason to.
    List<String> blocks = targets.stream().filter(target -> target.contains("/blk_")).toList();
    if (!blocks.isEmpty()) {
      return "has %d block files open: %s"
          .formatted(blocks.size(), blocks.subList(0, Math.min(3, blocks.size())));
    }
    int sockets = sockets(process);
    int most = socketsAtStart.getOrDefault(name, 0) + MORE_SOCKETS;
    return sockets > most ? "has %d sockets, more than %d".formatted(sockets, most) : null;
  }

  private static int sockets(ProcessId process) {
    return (int)
        descriptors(process).stream().filter(target -> target.startsWith("socket:")).count();
  }

  /** What the descriptors of a process refer to; nothing if it has ended. */
  private static List<String> descriptors(ProcessId process) {
    List<String> targets = new ArrayList<>();
    try (Stream<Path> all = Files.list(Path.of("/proc/" + process.pid() + "/fd"))) {
      for (Path descriptor : (Iterable<Path>) all::iterator) {
        try {
          targets.add(Files.readSymbolicLink(descriptor).toString());
        } catch (IOException e) {
          continue; // closed meanwhile
        }
      }
    } catch (IOException e) {
      return List.of();
    }
    return targets;
  }

  /** The processes that are left after the cluster was stopped. */
  List<String> afterStop() throws IOException {
    return new Launcher(cluster.directory())
        .running().stream()
            .map(process -> "process %d lives after the stop".formatted(process.pid()))
            .toList();
  }
}
