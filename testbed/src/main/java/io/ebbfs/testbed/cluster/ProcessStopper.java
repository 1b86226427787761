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
    // The namenode and the broker go last: the other processes sign off from them.
    Set<ProcessId> last = new LinkedHashSet<>();
    for (String name : List.of(ProcessNames.NAMENODE, ProcessNames.KAFKA)) {
      ProcessId process = layout.processes().get(name);
      if (process != null) {
        last.add(process);
      }
    }
    Set<ProcessId> all = new LinkedHashSet<>(layout.processes().values());
    all.addAll(launcher.running());
    List<ProcessId> first = new ArrayList<>(all);
    first.removeAll(last);
    if (force) {
      first.addAll(last);
    }
    end(first, force);
    end(List.copyOf(last), force);
    end(launcher.running(), true);
    layout.processes().clear();
    layout.write(launcher.clusterDirectory());
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
