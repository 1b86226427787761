package io.ebbfs.manager;

import io.ebbfs.manager.config.LivePolicies;
import io.ebbfs.manager.heat.OpenConsumer;
import io.ebbfs.manager.policy.Account;
import io.ebbfs.manager.policy.Evaluation;
import io.ebbfs.manager.policy.TransitionView;
import io.ebbfs.protocol.proto.CodingProtos.CountProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ScrubStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ScrubSuspectProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.StorageStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** What is wrong now, worst first. Pure. */
public final class Health {
  /** How bad a message is; the order is the order of severity. */
  public enum Level {
    OK,
    WARNING,
    ERROR
  }

  /** One message and what to do about it. */
  public record Message(Level level, String subject, String message, String remedy) {}

  /**
   * How far the scrub of the stripes is; times are 0 for none.
   *
   * @param endedMillis when the last whole pass ended, with its stripes and findings
   * @param passStripes of the pass under way, or of the last
   * @param suspectStripes whose data is in doubt
   */
  public record Scrub(
      long passStartedMillis,
      long passStripes,
      long passFindings,
      long endedMillis,
      long endedStripes,
      long endedFindings,
      long suspectStripes) {
    static Scrub of(GetClusterResponseProto cluster) {
      ScrubStatusProto s = cluster == null ? NO_SCRUB : cluster.getScrub();
      return new Scrub(
          s.getPassStartedMillis(),
          s.getPassStripes(),
          s.getPassFindings(),
          s.getEndedMillis(),
          s.getEndedStripes(),
          s.getEndedFindings(),
          s.getSuspectsCount());
    }
  }

  /** All of them; the level is that of the worst. */
  public record Report(Level status, List<Message> messages, Scrub scrub) {}

  private static final ScrubStatusProto NO_SCRUB = ScrubStatusProto.getDefaultInstance();

  private final List<Message> messages = new ArrayList<>();

  private Health() {}

  /**
   * @param cluster null if the namenode never answered
   * @param namenodeProblem null if it answered the last time
   * @param last null before the first evaluation
   */
  static Report report(
      GetClusterResponseProto cluster,
      String namenodeProblem,
      OpenConsumer.Status opens,
      LivePolicies.Current policies,
      Evaluator.Result last,
      List<TransitionRow> undone) {
    Health health = new Health();
    if (namenodeProblem != null) {
      health.error("namenode", namenodeProblem, "start the namenode, or see its log");
    }
    if (cluster != null) {
      health.cluster(cluster);
      health.scrub(cluster.getScrub());
    }
    if (!opens.connected()) {
      health.warn("kafka", opens.problem(), "start the broker, or see --kafka");
    }
    if (opens.malformed() > 0) {
      health.warn(
          "kafka",
          opens.malformed() + " malformed open events were skipped",
          "see the log for their offsets");
    }
    policies
        .refused()
        .forEach(
            p ->
                health.error(
                    "policies",
                    p.file()
                        + ":"
                        + p.line()
                        + ": "
                        + p.message()
                        + " (the policies before the edit stay in force)",
                    p.remedy()));
    if (last != null) {
      health.evaluation(last.evaluation());
    }
    for (TransitionStateProto state : TransitionView.UNDONE) {
      health.undone(state, undone.stream().filter(row -> row.getState() == state).toList());
    }
    health.messages.sort(Comparator.comparing(Message::level).reversed());
    Level worst = health.messages.isEmpty() ? Level.OK : health.messages.get(0).level();
    return new Report(worst, List.copyOf(health.messages), Scrub.of(cluster));
  }

  /** The latest of those that ended so, with what it says of the remedy. */
  private void undone(TransitionStateProto state, List<TransitionRow> rows) {
    if (!rows.isEmpty()) {
      String how =
          switch (state) {
            case NO_SPACE -> " found no space";
            case NO_DOMAINS -> " found too few failure domains";
            default -> " failed";
          };
      warn(
          "transitions",
          "%d transitions%s; the latest, %s to %s: %s"
              .formatted(
                  rows.size(),
                  how,
                  rows.get(0).getKind(),
                  rows.get(0).getToCode(),
                  rows.get(0).getFailure()),
          "see all of them at /api/v1/transitions?state=" + state);
    }
  }

  private void cluster(GetClusterResponseProto cluster) {
    if (cluster.getSafeMode()) {
      warn(
          "namenode",
          "the namenode is in safe mode: nothing is converted",
          "wait until the chunk servers have reported their blocks");
    }
    if (cluster.getUnrecoverableStripes() > 0) {
      error(
          "blocks",
          cluster.getUnrecoverableStripes() + " stripes do not decode",
          "bring back a server or disk that holds one of their blocks");
    }
    if (cluster.getMissingBlocks() > 0) {
      error(
          "blocks",
          cluster.getMissingBlocks() + " replicated blocks have no live replica",
          "bring back a server or disk that holds them");
    }
    long atRisk = cluster.getStripesByLossList().stream().mapToLong(Long::longValue).sum();
    if (atRisk > 0) {
      warn(
          "blocks",
          atRisk + " stripes have lost blocks and wait for repair",
          "nothing to do: repairs run by risk");
    }
    if (cluster.getUnderReplicatedBlocks() > 0) {
      warn(
          "blocks",
          cluster.getUnderReplicatedBlocks() + " blocks have too few replicas",
          "nothing to do: they are replicated again");
    }
    placement(cluster);
    for (ServerStatusProto server : cluster.getServersList()) {
      String name = server.getServer().getHostName() + ":" + server.getServer().getXferPort();
      if (!server.getLive()) {
        warn("servers", "chunk server " + name + " is down", "start it again");
      }
      long failed = server.getStoragesList().stream().filter(StorageStatusProto::getFailed).count();
      if (server.getLive() && failed > 0) {
        warn(
            "disks",
            failed
                + (failed == 1 ? " disk has" : " disks have")
                + " failed at chunk server "
                + name,
            "replace the disk and restart the server");
      }
    }
  }

  private void placement(GetClusterResponseProto cluster) {
    long violations = counter(cluster, "placementViolations");
    if (violations > 0) {
      long mending = counter(cluster, "placementViolations.beingMended");
      warn(
          "placement",
          "%d placement violations in %d stripes, %s"
              .formatted(
                  violations,
                  counter(cluster, "placementViolations.stripes"),
                  mending > 0 ? "being mended" : "not being mended now"),
          mending > 0
              ? "nothing to do: blocks move to better disks after repairs and conversions"
              : "if it stays so: add servers or disks with free space, and see that mendPlacements"
                  + " of the namenode is true");
    }
  }

  private static long counter(GetClusterResponseProto cluster, String name) {
    return cluster.getCountersList().stream()
        .filter(c -> c.getName().equals(name))
        .mapToLong(CountProto::getValue)
        .sum();
  }

  private void scrub(ScrubStatusProto scrub) {
    for (ScrubSuspectProto suspect : scrub.getSuspectsList()) {
      error(
          "scrub",
          suspect.getMessage(),
          "nothing was changed: compare the files of the stripe with copies of them, and write"
              + " again what is wrong");
    }
  }

  private void evaluation(Evaluation evaluation) {
    evaluation.refusals().forEach(r -> error("policies", r.message(), r.remedy()));
    for (Account account : evaluation.accounts()) {
      if (account.bound().isPresent()
          && account.encodedOverhead() > account.bound().getAsDouble()) {
        warn(
            "storage",
            String.format(
                Locale.ROOT,
                "policy '%s' stores its encoded data %.3fx, over its bound of %.2fx",
                account.policy(),
                account.encodedOverhead(),
                account.bound().getAsDouble()),
            account.fastBytes() > 0
                ? "nothing to do while conversions are under way; otherwise raise the bound"
                : "all of it is compact already: short blocks and deleted ones pad the stripes;"
                    + " more files of like sizes fill them better, or raise the bound");
      }
    }
  }

  private void warn(String subject, String message, String remedy) {
    messages.add(new Message(Level.WARNING, subject, message, remedy));
  }

  private void error(String subject, String message, String remedy) {
    messages.add(new Message(Level.ERROR, subject, message, remedy));
  }
}
