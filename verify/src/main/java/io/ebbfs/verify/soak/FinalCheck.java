package io.ebbfs.verify.soak;

import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.verify.audit.ClusterAudit;
import io.ebbfs.verify.soak.Finding.Kind;
import io.ebbfs.verify.soak.SoakFile.Expectation;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Compares the acknowledged files with the cluster after every fault is mended: every file can be
 * closed and read, no other name exists, the cluster comes to rest, and disks and metadata agree.
 */
final class FinalCheck {
  private static final String USER = "checker";
  private static final long CLOSE_MILLIS = 120_000;
  private static final long REST_MILLIS = 240_000;
  private static final long QUIET_MILLIS = 4_000;
  private static final long ORPHANS_MILLIS = 120_000;
  private static final int READ_TRIES = 5;

  private final SoakCluster cluster;
  private final SoakClients clients;
  private final SoakBook book;

  FinalCheck(SoakCluster cluster, SoakClients clients, SoakBook book) {
    this.cluster = cluster;
    this.clients = clients;
    this.book = book;
  }

  void run() throws Exception {
    Map<String, SoakFile> present = names();
    present.forEach(this::close);
    cluster.stopAdapting();
    awaitRest();
    book.say("reading %d files", present.size());
    present.forEach(this::read);
    book.say("comparing disks with the metadata");
    ClusterAudit audit = new ClusterAudit(cluster.verified(), ORPHANS_MILLIS).all(Map.of());
    audit.orphans().forEach(orphan -> book.find(Kind.ORPHAN, orphan));
    audit.wrong().stream()
        .filter(wrong -> !audit.orphans().contains(wrong))
        .forEach(wrong -> book.find(Kind.WRONG, wrong));
  }

  // ---- names ------------------------------------------------------------------------------------

  /** Compares the names that exist with those that may; returns the files that exist. */
  private Map<String, SoakFile> names() throws IOException, InterruptedException {
    Set<String> found = new HashSet<>();
    for (String directory : retried("list", "/soak")) {
      for (String name : retried("list", "/soak/" + directory)) {
        found.add("/soak/" + directory + "/" + name);
      }
    }
    Map<String, SoakFile> present = new TreeMap<>();
    for (SoakFile file : book.files()) {
      Expectation wanted = file.expectation();
      boolean here = found.remove(wanted.path());
      boolean there = wanted.otherPath() != null && found.remove(wanted.otherPath());
      if (here && there) {
        book.find(Kind.WRONG, file, "exists under both names");
      } else if (!here && !there && !wanted.mayBeAbsent()) {
        book.find(Kind.LOST, file, "does not exist");
      } else if (here || there) {
        present.put(here ? wanted.path() : wanted.otherPath(), file);
      }
    }
    Set<String> gone = book.goneNames();
    for (String path : found) {
      book.find(
          Kind.WRONG,
          path + (gone.contains(path) ? " exists again after its end" : " was never made"));
    }
    return present;
  }

  /** The cluster was mended a moment ago, so that the first calls may still fail. */
  private List<String> retried(String verb, String path) throws IOException, InterruptedException {
    for (int tries = 1; ; tries++) {
      try {
        return clients.call(0, verb, USER, path);
      } catch (IOException e) {
        if (tries == READ_TRIES) {
          throw e;
        }
        Thread.sleep(2000);
      }
    }
  }

  // ---- files ------------------------------------------------------------------------------------

  /** Takes back the lease of a file that nobody has closed. */
  private void close(String path, SoakFile file) {
    try {
      Optional<String> objection =
          ConditionWaiter.within(CLOSE_MILLIS).every(500).objection(() -> whyOpen(path));
      objection.ifPresent(
          why -> book.find(Kind.STUCK, file, "cannot be closed at %s: %s".formatted(path, why)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private String whyOpen(String path) throws InterruptedException {
    try {
      return clients.call(0, "recover", USER, path).get(0).equals("true") ? null : "open";
    } catch (IOException e) {
      return e.getMessage();
    }
  }

  private void read(String path, SoakFile file) {
    Expectation wanted = file.expectation();
    IOException failure = null;
    try {
      for (int tries = 0; tries < READ_TRIES; tries++) {
        try {
          judge(file, wanted, clients.call(0, "read", USER, path, "" + file.seed()));
          return;
        } catch (IOException e) {
          failure = e;
          Thread.sleep(2000);
        }
      }
      book.find(Kind.LOST, file, "cannot be read at the end: " + failure.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void judge(SoakFile file, Expectation wanted, List<String> answer) {
    long length = Long.parseLong(answer.get(0));
    String objection = SoakFile.objection(length, wanted.least(), wanted.most());
    if (!answer.get(1).equals("-1")) {
      book.find(
          Kind.WRONG, file, "has a wrong byte at the end: " + answer.subList(1, answer.size()));
    } else if (objection != null) {
      Kind kind = length < wanted.least() ? Kind.LOST : Kind.WRONG;
      book.find(kind, file, "at the end it " + objection);
    } else {
      book.acknowledged("final read");
    }
  }

  // ---- rest -------------------------------------------------------------------------------------

  private void awaitRest() throws InterruptedException {
    book.say("waiting for the cluster to come to rest");
    ConditionWaiter.within(REST_MILLIS)
        .every(500)
        .quietFor(QUIET_MILLIS)
        .objection(this::whyNotAtRest)
        .ifPresent(why -> book.find(Kind.STUCK, "the cluster does not come to rest: " + why));
  }

  private String whyNotAtRest() {
    try {
      return cluster.verified().whyNotAtRest();
    } catch (IOException e) {
      return e.toString();
    }
  }
}
