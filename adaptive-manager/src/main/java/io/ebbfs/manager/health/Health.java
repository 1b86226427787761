package io.ebbfs.manager.health;

import io.ebbfs.manager.bound.PolicyAccount;
import io.ebbfs.manager.config.LivePolicies;
import io.ebbfs.manager.heat.ReadCounter;
import io.ebbfs.manager.policy.Evaluation;
import io.ebbfs.manager.view.TransitionView;
import io.ebbfs.protocol.proto.CodingProtos.CountProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ScrubStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ScrubSuspectProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.StorageStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.words.TransitionKinds;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Finds the problems of this moment, worst first, each with its remedy. Pure. */
public final class Health {
  /** The severity of a message, in increasing order. */
  public enum Level {
    OK,
    WARNING,
    ERROR
  }

  /** One problem and its remedy. */
  public record Message(Level level, String subject, String message, String remedy) {}

  /**
   * The progress of the parity scrub; times are 0 for none.
   *
   * @param passStripes stripes of the pass under way, or of the last pass
   * @param endedMillis when the last whole pass ended
   * @param suspectStripes stripes whose data is in doubt
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

  /**
   * All messages. The status is the level of the worst one.
   *
   * @param pausedSinceMillis since when the manager proposes nothing by itself; null if it does
   */
  public record Report(Level status, List<Message> messages, Scrub scrub, Long pausedSinceMillis) {}

  private static final ScrubStatusProto NO_SCRUB = ScrubStatusProto.getDefaultInstance();

  private final List<Message> messages = new ArrayList<>();

  private Health() {}

  /**
   * @param cluster null if the namenode never answered
   * @param namenodeProblem null if the namenode answered the last call
   * @param last null before the first evaluation
   * @param undone transitions that ended without success, the latest first
   * @param pausedSinceMillis null if the manager proposes by itself
   */
  public static Report report(
      GetClusterResponseProto cluster,
      String namenodeProblem,
      ReadCounter.Status opens,
      LivePolicies.Current policies,
      Evaluation last,
      List<TransitionRow> undone,
      Long pausedSinceMillis) {
    Health health = new Health();
    if (namenodeProblem != null) {
      health.error("namenode", namenodeProblem, "start the namenode, or see its log");
    }
    if (cluster != null) {
      health.cluster(cluster);
      health.scrub(cluster.getScrub());
    }
    health.pause(pausedSinceMillis);
    health.opens(opens);
    health.policies(policies);
    if (last != null) {
      health.evaluation(last);
    }
    for (TransitionStateProto state : TransitionView.UNDONE) {
      health.undone(state, undone.stream().filter(row -> row.getState() == state).toList());
    }
    health.messages.sort(Comparator.comparing(Message::level).reversed());
    Level worst = health.messages.isEmpty() ? Level.OK : health.messages.get(0).level();
    return new Report(worst, List.copyOf(health.messages), Scrub.of(cluster), pausedSinceMillis);
  }

  private void pause(Long sinceMillis) {
    if (sinceMillis != null) {
      warn(
          "policies",
          "proposing is paused since %s: nothing is encoded or converted by itself"
              .formatted(Instant.ofEpochMilli(sinceMillis).truncatedTo(ChronoUnit.SECONDS)),
          "resume it with the dashboard, or with POST /api/v1/actions/resume");
    }
  }

  private void opens(ReadCounter.Status opens) {
    if (!opens.connected()) {
      warn("kafka", opens.problem(), "start the broker, or see --kafka");
    }
    if (opens.malformed() > 0) {
      warn(
          "kafka",
          opens.malformed() + " malformed open events were skipped",
          "see the log for their offsets");
    }
  }

  private void policies(LivePolicies.Current policies) {
    policies
        .refused()
        .forEach(
            p ->
                error(
                    "policies",
                    "%s:%d: %s (the policies before the edit stay in force)"
                        .formatted(p.file(), p.line(), p.message()),
                    p.remedy()));
  }

  private void cluster(GetClusterResponseProto cluster) {
    if (cluster.getSafeMode()) {
      warn(
          "namenode",
          "the namenode is in safe mode: nothing is converted",
          "wait until the chunk servers have reported their blocks; if they never will, leave it"
              + " with 'hdfs dfsadmin -safemode leave'");
    }
    blocks(cluster);
    placement(cluster);
    cluster.getServersList().forEach(this::server);
  }

  private void blocks(GetClusterResponseProto cluster) {
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
    if (cluster.getOrphanReplicas() > 0) {
      warn(
          "blocks",
          "%d replicas (%d bytes) belong to blocks that the metadata does not know"
              .formatted(cluster.getOrphanReplicas(), cluster.getOrphanBytes()),
          "after a restore from a backup: stop the namenode before orphanWait is over, and restore"
              + " a newer one; otherwise nothing to do: they are deleted then");
    }
    if (cluster.getStuckTruncations() > 0) {
      warn(
          "files",
          "%d truncations do not go on, and nobody can append to their files; the oldest is of %s"
              .formatted(cluster.getStuckTruncations(), cluster.getStuckTruncation()),
          "do what the message says");
    }
    long atRisk = cluster.getStripesByLossList().stream().mapToLong(Long::longValue).sum();
    if (atRisk > 0) {
      warn(
          "blocks",
          atRisk + " stripes have lost blocks and wait for repair",
          "nothing to do: stripes at the highest risk are repaired first");
    }
    if (cluster.getUnderReplicatedBlocks() > 0) {
      warn(
          "blocks",
          cluster.getUnderReplicatedBlocks() + " blocks have too few replicas",
          "nothing to do: the namenode orders new replicas");
    }
  }

  private void server(ServerStatusProto server) {
    String name = server.getServer().getHostName() + ":" + server.getServer().getXferPort();
    if (server.getDrain().hasStuck()) {
      warn(
          "drain",
          "the drain of chunk server %s cannot end: %s"
              .formatted(name, server.getDrain().getStuck()),
          "do what the message says, or take the server back");
    }
    if (server.getHibernation().hasStuck()) {
      warn(
          "hibernation",
          "chunk server %s is not to be stopped yet: %s"
              .formatted(name, server.getHibernation().getStuck()),
          "do what the message says, or wake the server");
    }
    if ((server.getDrain().getDrained() || server.hasHibernation()) && !server.getLive()) {
      return; // it may be stopped
    }
    if (!server.getLive()) {
      warn("servers", "chunk server " + name + " is down", "start it again");
      return;
    }
    long failed = server.getStoragesList().stream().filter(StorageStatusProto::getFailed).count();
    if (failed > 0) {
      warn(
          "disks",
          failed + (failed == 1 ? " disk has" : " disks have") + " failed at chunk server " + name,
          "replace the disk and restart the server");
    }
  }

  private void placement(GetClusterResponseProto cluster) {
    long violations = counter(cluster, "placementViolations");
    if (violations > 0) {
      boolean moving = counter(cluster, "placementViolations.beingMended") > 0;
      warn(
          "placement",
          "%d placement violations in %d stripes; %s"
              .formatted(
                  violations,
                  counter(cluster, "placementViolations.stripes"),
                  moving ? "re-placement is under way" : "no stripe is being re-placed now"),
          moving
              ? "nothing to do: blocks move to better disks after repairs and conversions"
              : "if the violations stay: add servers or disks with free space, and see that"
                  + " mendPlacements of the namenode is true");
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
          "nothing was changed: compare the files of the stripe with other copies that you have,"
              + " and write the wrong files again");
    }
  }

  private void evaluation(Evaluation evaluation) {
    evaluation.refusals().forEach(r -> error("policies", r.message(), r.remedy()));
    if (evaluation.cluster().isOverBound()) {
      warn(
          "storage",
          String.format(
              Locale.ROOT,
              "the cluster stores its encoded data %.3fx, over its bound of %.2fx",
              evaluation.cluster().encodedOverhead(),
              evaluation.cluster().bound().getAsDouble()),
          "nothing to do while conversions are under way; otherwise raise storageBound at the top"
              + " of policies.yaml, or give policies codes that store less");
    }
    for (PolicyAccount account : evaluation.accounts()) {
      if (account.isOverBound()) {
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
                : "all encoded data is compact already; partly filled stripes, short blocks and"
                    + " deleted blocks take the space: store more files of similar sizes, or raise"
                    + " the bound");
      }
    }
  }

  /** Shows the latest of the transitions that ended in this state. */
  private void undone(TransitionStateProto state, List<TransitionRow> rows) {
    if (rows.isEmpty()) {
      return;
    }
    String how =
        switch (state) {
          case NO_SPACE -> "found no space";
          case NO_DOMAINS -> "found too few failure domains";
          default -> "failed";
        };
    warn(
        "transitions",
        "%d transitions %s; the latest (%s, code %s): %s"
            .formatted(
                rows.size(),
                how,
                TransitionKinds.show(rows.get(0).getKind()),
                rows.get(0).getToCode(),
                rows.get(0).getFailure()),
        "see all of them at /api/v1/transitions?state=" + state);
  }

  private void warn(String subject, String message, String remedy) {
    messages.add(new Message(Level.WARNING, subject, message, remedy));
  }

  private void error(String subject, String message, String remedy) {
    messages.add(new Message(Level.ERROR, subject, message, remedy));
  }
}
