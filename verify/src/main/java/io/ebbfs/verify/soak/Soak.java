package io.ebbfs.verify.soak;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.network.ShapedNetwork;
import io.ebbfs.testbed.process.ShiftedClocks;
import io.ebbfs.verify.cluster.RunFiles;
import io.ebbfs.verify.cluster.VerifyCluster;
import io.ebbfs.verify.soak.Finding.Kind;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A soak: stock clients write, append, flush, read, rename and delete on a cluster of real
 * processes while something breaks every 10 to 20 seconds. At the end everything is mended, the
 * cluster comes to rest, and all that was acknowledged is compared with what is there.
 */
public final class Soak {
  private static final int USERS = 6;
  private static final int CLIENT_PROCESSES = 2;

  private final SoakOptions options;
  private final PrintStream out;
  private final SoakBook book;
  private volatile boolean usersGoOn = true;
  private volatile boolean faultsGoOn = true;

  private Soak(SoakOptions options, PrintStream out) {
    this.options = options;
    this.out = out;
    this.book = new SoakBook(out);
  }

  /**
   * Runs a soak and prints its figures.
   *
   * @return whether every promise was kept
   */
  public static boolean run(SoakOptions options, PrintStream out) throws Exception {
    return new Soak(options, out).run();
  }

  private boolean run() throws Exception {
    Path place = RunFiles.place(options.directory(), "ebbfs-soak");
    out.printf(
        "soak: %.1f minutes, seed %d, cluster in %s%n",
        options.length().toMillis() / 60_000.0, options.seed(), place);
    SoakCluster cluster = SoakCluster.start(place.resolve("cluster"));
    try (cluster) {
      if (!ShapedNetwork.isPossible()) {
        out.println("not root: links are not cut, and disks do not become full, read-only or bad");
      }
      if (!ShiftedClocks.isPossible()) {
        out.println("libfaketime is not installed: the clocks of processes are not shifted");
      }
      soak(cluster);
    }
    ShiftedClocks.removeLeftovers();
    for (String leak : cluster.leaks().afterStop()) {
      book.find(Kind.LEAKED, leak);
    }
    return report(place);
  }

  private void soak(SoakCluster cluster) throws Exception {
    try (SoakClients clients = new SoakClients(cluster.local(), CLIENT_PROCESSES)) {
      Random random = new Random(options.seed());
      List<Thread> users = new ArrayList<>();
      for (int i = 0; i < USERS; i++) {
        String name = "u" + i;
        clients.call(0, "mkdirs", name, SoakUser.directory(name));
        SoakUser user =
            new SoakUser(
                name,
                i % CLIENT_PROCESSES,
                clients,
                book,
                new Random(random.nextLong()),
                () -> usersGoOn);
        users.add(new Thread(user, "soak-" + name));
      }
      SoakFaults faults =
          new SoakFaults(
              cluster.verified(),
              cluster.disks(),
              clients,
              book,
              new Random(random.nextLong()),
              () -> faultsGoOn);
      Thread breaker = new Thread(faults, "soak-faults");
      users.forEach(Thread::start);
      breaker.start();
      Thread.sleep(options.length().toMillis());
      faultsGoOn = false;
      breaker.join();
      book.say("no more faults; the operations under way end");
      usersGoOn = false;
      for (Thread user : users) {
        user.join();
      }
      faults.startDead("at the end");
      new FinalCheck(cluster, clients, book).run();
    }
    cluster.leaks().atRest().forEach(leak -> book.find(Kind.LEAKED, leak));
  }

  // ---- the report -------------------------------------------------------------------------------

  private boolean report(Path place) throws IOException, ClusterException {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("seed", options.seed());
    figures.put("minutes", options.length().toMillis() / 60_000.0);
    figures.put("acknowledged", SoakBook.sum(book.acknowledgedByVerb()));
    figures.put("faults", SoakBook.sum(book.faultsByKind()));
    figures.put("wrong", book.count(Kind.WRONG));
    figures.put("lost", book.count(Kind.LOST));
    figures.put("stuck", book.count(Kind.STUCK));
    figures.put("orphans", book.count(Kind.ORPHAN));
    figures.put("leaked", book.count(Kind.LEAKED));
    boolean good = book.findings().isEmpty();
    out.printf("acknowledged: %s%n", book.acknowledgedByVerb());
    out.printf("failed at the client, outcome open: %s%n", book.failedByVerb());
    out.printf("faults: %s%n", book.faultsByKind());
    figures.forEach((name, value) -> out.printf("%-13s %s%n", name, value));
    Map<String, Object> all = new LinkedHashMap<>(figures);
    all.put("acknowledgedByOperation", book.acknowledgedByVerb());
    all.put("failedByOperation", book.failedByVerb());
    all.put("faultsByKind", book.faultsByKind());
    all.put("findings", book.findings());
    RunFiles.write(options.json(), all);
    if (good && options.directory().isEmpty()) {
      VerifyCluster.deleteTree(place);
    } else if (!good) {
      out.printf(
          "BROKEN PROMISES, seed %d; logs of the servers are in %s%n",
          options.seed(), place.resolve("cluster/logs"));
    }
    return good;
  }
}
