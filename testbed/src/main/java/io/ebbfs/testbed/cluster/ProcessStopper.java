package io.ebbfs.testbed.cluster;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.process.Launcher;
import io.ebbfs.testbed.process.ProcessId;
import io.ebbfs.testbed.process.ProcessNames;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** Ends processes of a cluster: by SIGTERM, then by SIGKILL if a process does not end in time. */
final class ProcessStopper {
  private static final long STOP_MILLIS = 10_000;

  private ProcessStopper() {}

  /**
   * Ends every process that any launcher has started for the cluster.
   *
   * @param force SIGKILL for all at once
   */
  static void endAll(Launcher launcher, ClusterLayout layout, boolean force)
      throws IOException, ClusterException, InterruptedException {
    // The namenodes and the broker go last: the other processes sign off from them. The namenodes'
    // store goes after them.
    Set<ProcessId> last = processes(layout, ProcessStopper::isNamenodeOrBroker);
    Set<ProcessId> store = processes(layout, ProcessNames::isStore);
    Set<ProcessId> all = new LinkedHashSet<>(layout.processes().values());
    all.addAll(launcher.running());
    List<ProcessId> first = new ArrayList<>(all);
    first.removeAll(last);
    first.removeAll(store);
    if (force) {
      first.addAll(last);
      first.addAll(store);
    }
    end(first, force);
    end(List.copyOf(last), force);
    end(List.copyOf(store), force);
    end(launcher.running(), true);
    layout.processes().clear();
    layout.write(launcher.clusterDirectory());
  }

  private static Set<ProcessId> processes(ClusterLayout layout, Predicate<String> which) {
    Set<ProcessId> found = new LinkedHashSet<>();
    layout
        .processes()
        .forEach(
            (name, process) -> {
              if (which.test(name)) {
                found.add(process);
              }
            });
    return found;
  }

  private static boolean isNamenodeOrBroker(String name) {
    return name.equals(ProcessNames.KAFKA) || ProcessNames.isNamenode(name);
  }

  static void end(List<ProcessId> processes, boolean force)
      throws ClusterException, InterruptedException {
    processes.forEach(process -> process.signal(force));
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STOP_MILLIS);
    for (ProcessId process : processes) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (process.awaitEnd(Math.max(0, left))) {
        continue;
      }
      process.signal(true);
      if (!process.awaitEnd(STOP_MILLIS)) {
        throw new ClusterException(
            "process %d does not end, not even by SIGKILL: look at its state in /proc/%d/stat"
                .formatted(process.pid(), process.pid()));
      }
    }
  }
}
