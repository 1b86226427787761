package io.ebbfs.cli.fault;

import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.YamlFile;
import io.ebbfs.fault.FaultPlayer;
import io.ebbfs.fault.Timetable;
import io.ebbfs.fault.Timetable.Shape;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.ClusterLayout;
import io.ebbfs.testbed.cluster.LocalCluster;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Plays the faults of a file at their times. */
@Command(
    name = "timetable",
    description = "Injects the faults of a file, each at its time.",
    footer = {
      "",
      "The file has a list 'faults:' of entries such as",
      "  {at: 30s, fault: server, target: 3, for: 20s}"
    })
final class TimetableCommand implements Callable<Integer> {
  @Mixin private FaultTarget target;

  @Parameters(paramLabel = "FILE", description = "A YAML file.")
  private Path file;

  @Override
  public Integer call() throws ConfigException, ClusterException, InterruptedException {
    LocalCluster cluster = target.cluster();
    ClusterLayout layout = cluster.layout();
    Shape shape = new Shape(layout.servers(), layout.disks(), layout.racks());
    Timetable timetable =
        YamlFile.parse(file, YamlFile.text(file), top -> Timetable.read(top, "faults", shape));
    int shown = 0;
    try (FaultPlayer player = new FaultPlayer(timetable, target.injector(cluster))) {
      boolean done = false;
      while (!done) {
        done = player.await(200);
        List<FaultPlayer.Fired> fired = player.fired();
        fired.subList(shown, fired.size()).forEach(TimetableCommand::show);
        shown = fired.size();
      }
    }
    System.out.printf("the timetable is over (seed %d)%n", target.seed());
    return 0;
  }

  private static void show(FaultPlayer.Fired fired) {
    String error = fired.error() == null ? "" : ": " + fired.error();
    System.out.printf(Locale.ROOT, "%8.1f s  %s%s%n", fired.atMillis() / 1e3, fired.what(), error);
  }
}
