package io.ebbfs.fault;

import io.ebbfs.cluster.Arguments;
import io.ebbfs.cluster.Build;
import io.ebbfs.cluster.ClusterException;
import io.ebbfs.cluster.Layout;
import io.ebbfs.cluster.LocalCluster;
import io.ebbfs.fault.Timetable.Shape;
import io.ebbfs.settings.ConfigException;
import io.ebbfs.settings.FailPoint;
import io.ebbfs.settings.FailPoints.Armed;
import io.ebbfs.settings.Units;
import io.ebbfs.settings.YamlFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Breaks something of a local cluster and says in one line what. Exit code 0: done; 2: refused,
 * with one message.
 */
public final class FaultMain {
  private static final String USAGE =
      """
      usage: delete-block [PATH|BLOCKID]    delete a replica: its data and checksum file
             corrupt-block [PATH|BLOCKID]   flip some bytes of a replica
             forge-block [PATH|BLOCKID]     give a replica other bytes, and checksums that fit
             fail-disk [SERVER DISK]        delete all blocks of a disk, restart its server
             kill-server [N]                SIGKILL
             revive-server [N]              start it again
             flap N [TIMES [PERIOD]]        kill server N and start it again, 3 times every 10s
             kill-rack [R]                  SIGKILL to all servers of a rack
             revive-rack R                  start those of them that are down
             slow-link N RATE               the link of server N gets this rate (a lab only): 10mbit
             restore-link N                 it has the rate of the lab again
             kill-all                       SIGKILL to every process of the cluster
             timetable FILE                 faults by the clock: a YAML file with 'faults:', a list
                                            of {at: 30s, fault: server, target: 3, for: 20s}
             points                         the fail points, by name (docs/faults.md)
             arm POINT                      the next process that passes it dies; --action A:
                                            kill, error or 'stall SECONDS'; --skip N passes first;
                                            --server N or --process NAME: only that one
      options: --dir D (the cluster's directory; ~/.ebbfs)
               --seed S (what is not named is chosen at random; the same seed chooses the same)""";

  private FaultMain() {}

  /** Runs one command. */
  public static void main(String[] arguments) {
    // Before Hadoop's classes look for it.
    if (System.getProperty("log4j.configuration") == null) {
      System.setProperty("log4j.configuration", "io/ebbfs/cluster/log4j.properties");
    }
    System.exit(run(Arrays.asList(arguments)));
  }

  static int run(List<String> arguments) {
    if (arguments.contains("--help") || arguments.contains("-h")) {
      System.out.println(USAGE);
      return 0;
    }
    try {
      inject(arguments);
      return 0;
    } catch (ClusterException e) {
      System.err.println("error: " + e.getMessage());
      return 2;
    } catch (IOException e) {
      System.err.println("error: " + e);
      return 2;
    } catch (InterruptedException e) {
      System.err.println("error: interrupted");
      return 2;
    }
  }

  private static void inject(List<String> arguments)
      throws IOException, ClusterException, InterruptedException {
    List<String> words = new ArrayList<>(arguments);
    int end = 0;
    while (end < words.size() && !words.get(end).startsWith("--")) {
      end++;
    }
    Arguments options =
        Arguments.parse(
            words.subList(end, words.size()),
            List.of("dir", "seed", "action", "skip", "server", "process"));
    if (end == 0) {
      throw new ClusterException("no command\n" + USAGE);
    }
    if (words.get(0).equals("points")) {
      for (FailPoint point : FailPoint.values()) {
        System.out.printf("%-30s %s%n", point.pointName(), point.meaning());
      }
      return;
    }
    String home = Path.of(System.getProperty("user.home"), ".ebbfs").toString();
    LocalCluster cluster = LocalCluster.open(Build.find(), Path.of(options.text("dir", home)));
    if (words.get(0).equals("timetable") && end == 2) {
      play(cluster, Path.of(words.get(1)), options);
      return;
    }
    if (words.get(0).equals("arm")) {
      arm(cluster, words.subList(1, end), options);
      return;
    }
    long seed = seed(options);
    Command command = new Command(new FaultInjector(cluster, new Random(seed)));
    System.out.printf("%s (seed %d)%n", command.run(words.subList(0, end)), seed);
  }

  private static long seed(Arguments options) throws ClusterException {
    return options.has("seed") ? options.number("seed", 0) : new Random().nextInt();
  }

  private static void play(LocalCluster cluster, Path file, Arguments options)
      throws ClusterException, InterruptedException {
    Layout layout = cluster.layout();
    Shape shape = new Shape(layout.servers(), layout.disks(), layout.racks());
    Timetable timetable;
    try {
      timetable =
          YamlFile.parse(file, YamlFile.text(file), top -> Timetable.read(top, "faults", shape));
    } catch (ConfigException e) {
      throw new ClusterException(e.getMessage(), e);
    }
    long seed = seed(options);
    int shown = 0;
    try (FaultPlayer player =
        new FaultPlayer(timetable, new FaultInjector(cluster, new Random(seed)))) {
      boolean done = false;
      while (!done) {
        done = player.await(200);
        List<FaultPlayer.Fired> fired = player.fired();
        for (FaultPlayer.Fired one : fired.subList(shown, fired.size())) {
          String error = one.error() == null ? "" : ": " + one.error();
          System.out.printf(
              Locale.ROOT, "%8.1f s  %s%s%n", one.atMillis() / 1e3, one.what(), error);
        }
        shown = fired.size();
      }
    }
    System.out.printf("the timetable is over (seed %d)%n", seed);
  }

  private static void arm(LocalCluster cluster, List<String> words, Arguments options)
      throws ClusterException {
    FailPoint point = words.size() == 1 ? FailPoint.byName(words.get(0)) : null;
    if (point == null) {
      throw new ClusterException(
          "no fail point '" + String.join(" ", words) + "': 'fault points' lists them");
    }
    String action = options.text("action", "kill");
    String process =
        options.has("server")
            ? "server-%02d".formatted(options.number("server", 0))
            : options.text("process", "");
    try {
      Armed armed = Armed.parse(action).in(process).after(options.number("skip", 0));
      cluster.arm(point, armed);
      System.out.printf("armed %s: %s%n", point.pointName(), armed.text().replace('\n', ' '));
    } catch (IOException e) {
      throw new ClusterException(e.getMessage() + ": choose kill, error or 'stall SECONDS'", e);
    }
  }

  private record Command(FaultInjector injector) {
    Injected run(List<String> words) throws IOException, ClusterException, InterruptedException {
      String target = words.size() == 2 ? words.get(1) : null;
      boolean id = target != null && target.matches("\\d+");
      return switch (words.get(0) + " " + (words.size() - 1)) {
        case "delete-block 0" -> injector.deleteBlock();
        case "delete-block 1" ->
            id ? injector.deleteBlock(Long.parseLong(target)) : injector.deleteBlock(target);
        case "corrupt-block 0" -> injector.corruptBlock();
        case "corrupt-block 1" ->
            id ? injector.corruptBlock(Long.parseLong(target)) : injector.corruptBlock(target);
        case "forge-block 0" -> injector.forgeBlock();
        case "forge-block 1" ->
            id ? injector.forgeBlock(Long.parseLong(target)) : injector.forgeBlock(target);
        case "fail-disk 0" -> injector.failDisk();
        case "fail-disk 2" -> injector.failDisk(number(words.get(1)), number(words.get(2)));
        case "kill-server 0" -> injector.killServer();
        case "kill-server 1" -> injector.killServer(number(target));
        case "revive-server 0" -> injector.reviveServer();
        case "revive-server 1" -> injector.reviveServer(number(target));
        case "flap 1" -> injector.flap(number(target), 3, 10_000);
        case "flap 2" -> injector.flap(number(words.get(1)), number(words.get(2)), 10_000);
        case "flap 3" ->
            injector.flap(number(words.get(1)), number(words.get(2)), millis(words.get(3)));
        case "kill-rack 0" -> injector.killRack(injector.anyRack());
        case "kill-rack 1" -> injector.killRack(number(target));
        case "revive-rack 1" -> injector.reviveRack(number(target));
        case "slow-link 2" -> injector.slowLink(number(words.get(1)), words.get(2));
        case "restore-link 1" -> injector.restoreLink(number(target));
        case "kill-all 0" -> injector.killAll();
        default ->
            throw new ClusterException(
                "unknown command '" + String.join(" ", words) + "'\n" + USAGE);
      };
    }

    private static long millis(String text) throws ClusterException {
      return Units.durationMillis(text)
          .orElseThrow(
              () -> new ClusterException("'" + text + "' is no duration: write 500ms, 10s or 1m"));
    }

    private static int number(String text) throws ClusterException {
      try {
        return Integer.parseInt(text);
      } catch (NumberFormatException e) {
        throw new ClusterException("'" + text + "' is not a number of a server, disk or rack", e);
      }
    }
  }
}
