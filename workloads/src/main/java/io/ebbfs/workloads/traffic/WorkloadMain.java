package io.ebbfs.workloads.traffic;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.ebbfs.cluster.Arguments;
import io.ebbfs.cluster.Build;
import io.ebbfs.cluster.ClusterException;
import io.ebbfs.cluster.LocalCluster;
import io.ebbfs.settings.Units;
import io.ebbfs.workloads.stock.StockProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;

/** {@code ebb workload}: generated and recorded workloads, shown or run against a cluster. */
public final class WorkloadMain {
  private static final String USAGE =
      """
      usage: ebb workload [show] [NAME ...] [OPTIONS]   what the workloads are like (default: all)
             ebb workload run NAME [OPTIONS]            store and read one on the running local cluster
             ebb workload grep PATH PATTERN [OPTIONS]   Hadoop's example job over the files of PATH
        NAME           CC1, CC2, CC3, CC4, FB, or 'trace' with --trace
        --trace FILE   jobs in the format of SWIM
        --speed N      seconds of the trace in one second (600)
        --divide N     by how much the lengths of the trace are divided (1000000)
        --files N      files of a generated workload (400)
        --mean-size B  mean length of a cold file (1m)
        --epochs N     how often the hot files change, plus one (3)
        --epoch-seconds N  (60)
        --seed N       (1)
        --dir D        the cluster's directory (~/.ebbfs)
        --target PATH  where the files go in the cluster (/workload)
        --maps N       maps of the grep that run at once (4)
        --json yes     the same for programs""";
  private static final List<String> OPTIONS =
      List.of(
          "trace",
          "speed",
          "divide",
          "files",
          "mean-size",
          "epochs",
          "epoch-seconds",
          "seed",
          "dir",
          "target",
          "maps",
          "json");

  private WorkloadMain() {}

  /** Runs one command; exit code 0: done, 1: some file was wrong or unreadable, 2: refused. */
  public static void main(String[] arguments) {
    if (List.of(arguments).contains("--help")) {
      System.out.println(USAGE);
      return;
    }
    try {
      List<String> words = new ArrayList<>(Arrays.asList(arguments));
      int options = 0;
      while (options < words.size() && !words.get(options).startsWith("--")) {
        options++;
      }
      Arguments given = Arguments.parse(words.subList(options, words.size()), OPTIONS);
      List<String> names = new ArrayList<>(words.subList(0, options));
      if (!names.isEmpty() && names.get(0).equals("grep")) {
        System.exit(grep(names, given));
      }
      boolean run = names.remove("run");
      names.remove("show");
      if (run && names.size() != 1) {
        throw new ClusterException("'run' takes the name of one workload\n" + USAGE);
      }
      List<Workload> workloads = workloads(names, given);
      System.exit(run ? run(workloads.get(0), given) : show(workloads, given));
    } catch (ClusterException | IllegalArgumentException | IOException e) {
      System.err.println("ebb workload: " + e.getMessage());
      System.exit(2);
    } catch (InterruptedException e) {
      System.err.println("ebb workload: interrupted");
      System.exit(2);
    }
  }

  private static List<Workload> workloads(List<String> names, Arguments given)
      throws ClusterException, IOException {
    boolean traced = given.has("trace");
    List<Workload> made = new ArrayList<>();
    List<String> wanted = names;
    if (names.isEmpty()) {
      wanted = traced ? List.of("trace") : Profile.all().stream().map(Profile::name).toList();
    }
    for (String name : wanted) {
      if (name.equals("trace")) {
        made.add(
            new SwimTrace(given.number("speed", 600), given.number("divide", 1_000_000), 1)
                .read(Path.of(given.text("trace", ""))));
      } else {
        made.add(generator(given).generate(Profile.of(name)));
      }
    }
    return made;
  }

  private static Generator generator(Arguments given) throws ClusterException {
    return new Generator(
        atLeast(given, "files", 400, 20),
        given.bytes("mean-size", 1 << 20),
        atLeast(given, "epochs", 3, 1),
        8,
        1000L * atLeast(given, "epoch-seconds", 60, 1),
        given.number("seed", 1));
  }

  private static int atLeast(Arguments given, String name, int otherwise, int least)
      throws ClusterException {
    int number = given.number(name, otherwise);
    if (number < least) {
      throw new ClusterException("--%s %d: give at least %d".formatted(name, number, least));
    }
    return number;
  }

  // ---- show -------------------------------------------------------------------------------------

  private static int show(List<Workload> workloads, Arguments given) throws IOException {
    if (given.has("json")) {
      Map<String, Properties> all = new LinkedHashMap<>();
      workloads.forEach(w -> all.put(w.name(), Properties.of(w)));
      System.out.println(
          new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsString(all));
      return 0;
    }
    System.out.println(
        """
        workload   files      bytes   median     reads   reads on hot files     cold files           hot   hot set that
                                                         measured (known)       measured (known)   bytes   cools per epoch""");
    boolean right = true;
    for (Workload workload : workloads) {
      Properties measured = Properties.of(workload);
      Profile known =
          Profile.all().stream()
              .filter(p -> p.name().equals(workload.name()))
              .findFirst()
              .orElse(null);
      System.out.printf(
          Locale.ROOT,
          "%-9s %6d %10s %8s %9d   %-22s %-20s %4.0f%%   %s%n",
          known == null ? "trace" : workload.name(),
          workload.files().size(),
          Units.showBytes(workload.bytes()),
          Units.showBytes(measured.medianBytes()),
          workload.reads().size(),
          share(
              measured.hotReads(),
              known == null ? null : known.hotReads(),
              known != null && known.hotReadsStated()),
          share(
              measured.coldFiles(),
              known == null ? null : known.coldFiles(),
              known != null && known.coldFilesStated()),
          100 * measured.hotBytes(),
          workload.epochs() == 1 ? "one epoch" : "%.0f%%".formatted(100 * measured.drift()));
      right &=
          known == null
              || known.hotReads().contains(measured.hotReads())
                  && known.coldFiles().contains(measured.coldFiles());
    }
    System.out.println(
        """

        A file is hot in an epoch if it is read more often than the mean file.
        (s) stated in the HACFS paper, section 5; (d) derived from what it shows.""");
    return right ? 0 : 1;
  }

  private static String share(double measured, Range known, boolean stated) {
    String text = "%.1f%%".formatted(100 * measured);
    return known == null
        ? text
        : "%s (%s %s) %s"
            .formatted(text, known, stated ? "s" : "d", known.contains(measured) ? "ok" : "NOT");
  }

  // ---- grep -------------------------------------------------------------------------------------

  private static int grep(List<String> words, Arguments given)
      throws ClusterException, IOException, InterruptedException {
    if (words.size() != 3) {
      throw new ClusterException("'grep' takes a path and a pattern\n" + USAGE);
    }
    GrepJob job = new GrepJob(cluster(given), given.number("maps", 4), true);
    GrepJob.Result result = job.run(words.get(1), words.get(2), TimeUnit.HOURS.toMillis(6));
    if (given.has("json")) {
      System.out.println(new ObjectMapper().writeValueAsString(result));
    } else {
      System.out.printf(
          Locale.ROOT,
          "%d matches in %s, %.2f s, %s/s%n",
          result.matches(),
          Units.showBytes(result.bytes()),
          result.seconds(),
          Units.showBytes((long) (result.bytes() / Math.max(1e-3, result.seconds()))));
    }
    return 0;
  }

  private static LocalCluster cluster(Arguments given) throws ClusterException {
    Path home = Path.of(System.getProperty("user.home"), ".ebbfs");
    return LocalCluster.open(Build.find(), Path.of(given.text("dir", home.toString())));
  }

  // ---- run --------------------------------------------------------------------------------------

  private static int run(Workload workload, Arguments given)
      throws ClusterException, IOException, InterruptedException {
    LocalCluster cluster = cluster(given);
    Path temporary = Files.createTempDirectory("ebb-workload");
    Map<String, String> settings =
        Map.of(
            "fs.defaultFS", cluster.stockClient().uri(),
            "dfs.blocksize", Long.toString(cluster.layout().blockSizeBytes()));
    try (StockProcess client =
        new StockProcess(
            Path.of(System.getProperty("ebbfs.home")),
            16,
            settings,
            temporary.resolve("client.log"))) {
      Replay replay =
          new Replay(workload, client, given.text("target", "/workload"), given.number("seed", 1));
      System.out.printf(
          "%s: storing %d files, %s%n",
          workload.name(), workload.files().size(), Units.showBytes(workload.bytes()));
      replay.store(temporary, progress("stored", System.nanoTime()));
      System.out.printf(
          "reading for %d s: %d reads%n",
          workload.durationMillis() / 1000, workload.reads().size());
      Replay.Outcome outcome = replay.read(progress("read", System.nanoTime()));
      System.out.printf(
          Locale.ROOT,
          "%d reads: %.1f ms median, %.1f ms at 95%%, %.1f ms at 99%%; %d late, %d wrong, %d unreadable%n",
          workload.reads().size(),
          outcome.millis(50),
          outcome.millis(95),
          outcome.millis(99),
          outcome.late(),
          outcome.wrong(),
          outcome.unreadable());
      outcome.failures().stream().limit(10).forEach(f -> System.out.println("  " + f));
      return outcome.wrong() + outcome.unreadable() == 0 ? 0 : 1;
    } finally {
      try (var left = Files.list(temporary)) {
        left.forEach(file -> file.toFile().delete());
      }
      Files.delete(temporary);
    }
  }

  /** A line that is drawn over itself on a terminal, with the time left. */
  private static BiConsumer<Integer, Integer> progress(String what, long start) {
    AtomicLong drawn = new AtomicLong();
    boolean terminal = System.console() != null;
    return (done, of) -> {
      long now = System.nanoTime();
      if (!terminal || done < of && now - drawn.get() < 200_000_000L) {
        return;
      }
      drawn.set(now);
      System.out.printf(
          "\r\033[K  %s %d of %d, about %d s left",
          what, done, of, (now - start) / done * (of - done) / 1_000_000_000);
      if (done.equals(of)) {
        System.out.print("\r\033[K");
      }
      System.out.flush();
    };
  }
}
