package io.ebbfs.manager.api;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.ConfigProblem;
import io.ebbfs.manager.bound.ClusterAccount;
import io.ebbfs.manager.bound.PolicyAccount;
import io.ebbfs.manager.config.LivePolicies;
import io.ebbfs.manager.config.Pace;
import io.ebbfs.manager.config.PathPattern;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.economics.FailureRates;
import io.ebbfs.manager.economics.PairCost;
import io.ebbfs.manager.economics.Prices;
import io.ebbfs.manager.heat.ReadShares;
import io.ebbfs.manager.policy.Decision;
import io.ebbfs.manager.policy.Evaluation;
import io.ebbfs.manager.schedule.DecisionProposer;
import io.ebbfs.manager.schedule.Evaluator;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.rocksdb.RocksDBException;

/** The answers of /policies and /policies/evaluate. */
final class PolicyAnswers {
  /** Files that a preview has in memory at once. */
  private static final long MOST_PREVIEWED = 100_000;

  private static final long PREVIEW_WAIT_MILLIS = 150;
  private static final int MOST_PREVIEWED_DECISIONS = 100;

  private final ManagerState manager;
  // The preview that was asked for last; null for none.
  private PreviewJob lastPreview;

  PolicyAnswers(ManagerState manager) {
    this.manager = manager;
  }

  /**
   * A policy with a family has family, fastCode and compactCode. A policy with a single code has
   * code. The other fields are null. A policy with a threshold has no prices and no
   * waitWhileReadMillis.
   *
   * @param degradedReadBlocks by code: how many blocks a degraded read of a data block reads, on
   *     average over the data blocks of a full stripe
   */
  record PolicyAnswer(
      String name,
      List<String> paths,
      List<String> exclude,
      List<String> owners,
      List<String> groups,
      String code,
      String family,
      String fastCode,
      String compactCode,
      Double storageBound,
      long writeColdAfterMillis,
      String readHot,
      double hysteresis,
      long minFileBytes,
      long fillWaitMillis,
      Long waitWhileReadMillis,
      long maxBytesPerRun,
      int minServers,
      long minimumStayMillis,
      Long conversionBytesPerDay,
      String conversionHours,
      Prices prices,
      Map<String, Double> degradedReadBlocks,
      AccountAnswer account) {}

  /** Sizes are bytes. The bound limits the encoded bytes. packing covers all codes together. */
  record AccountAnswer(
      String policy,
      Double bound,
      long liveBytes,
      long storedBytes,
      long fastBytes,
      long replicatedBytes,
      long replicatedStoredBytes,
      double encodedOverhead,
      double totalOverhead,
      double endOverhead,
      ReadShares reads,
      PackingAnswer packing,
      Map<String, PackingAnswer> packingByCode) {
    static AccountAnswer of(PolicyAccount account) {
      return new AccountAnswer(
          account.policy(),
          account.bound().isPresent() ? account.bound().getAsDouble() : null,
          account.liveBytes(),
          account.storedBytes(),
          account.fastBytes(),
          account.replicatedBytes(),
          account.replicatedStoredBytes(),
          account.encodedOverhead(),
          account.totalOverhead(),
          account.endOverhead(),
          account.reads(),
          PackingAnswer.total(account.packing().values()),
          PackingAnswer.byCode(account));
    }
  }

  /**
   * What the cluster has seen of failures, which policies with {@code readHot: auto} use.
   *
   * @param lostPerDay share of all blocks that is lost and rebuilt in a day
   * @param unavailable share of the time in which a block cannot be read
   * @param observedDays for which the cluster was watched; the published rates count as 30 more
   * @param readsLookedAt share of all reads that fell on files that the last evaluation looked at;
   *     null before the first evaluation
   */
  record ExperienceAnswer(
      double lostPerDay, double unavailable, double observedDays, Double readsLookedAt) {
    static ExperienceAnswer of(FailureRates rates, Evaluator.Result last) {
      return new ExperienceAnswer(
          rates.lostPerDay(),
          rates.unavailable(),
          rates.observedDays(),
          last == null ? null : last.readsLookedAt());
    }
  }

  /**
   * The encoded data of the whole cluster.
   *
   * @param encodedOverhead stored bytes per logical byte, which the bound limits; 0 if nothing is
   *     encoded
   */
  record ClusterAnswer(
      Double bound, long liveBytes, long storedBytes, double encodedOverhead, double endOverhead) {
    static ClusterAnswer of(ClusterAccount account) {
      return new ClusterAnswer(
          account.bound().isPresent() ? account.bound().getAsDouble() : null,
          account.liveBytes(),
          account.storedBytes(),
          account.encodedOverhead(),
          account.endOverhead());
    }
  }

  /**
   * Files are being sorted by edited policies, which decide nothing before that is done.
   *
   * @param sortedFiles so far
   * @param files in all
   */
  record SortingAnswer(long sortedFiles, long files) {}

  /**
   * The cluster is null before the first evaluation. sorting is null if no edit waits.
   *
   * @param storageBound of the whole cluster, in force now; null for none
   */
  record Policies(
      long loadedMillis,
      Double storageBound,
      ClusterAnswer cluster,
      ExperienceAnswer experience,
      List<PolicyAnswer> policies,
      SortingAnswer sorting,
      List<ConfigProblem> refusedEdit,
      List<Evaluation.Refusal> refusals) {}

  Policies policies() {
    LivePolicies.Current current = manager.policies().current();
    Evaluator.Result last = manager.evaluator().last();
    Map<String, AccountAnswer> accounts = new HashMap<>();
    if (last != null) {
      last.evaluation().accounts().forEach(a -> accounts.put(a.policy(), AccountAnswer.of(a)));
    }
    OptionalDouble bound = current.policies().storageBound();
    return new Policies(
        current.loadedMillis(),
        bound.isPresent() ? bound.getAsDouble() : null,
        last == null ? null : ClusterAnswer.of(last.evaluation().cluster()),
        ExperienceAnswer.of(manager.evaluator().failureRates(), last),
        current.policies().rules().stream()
            .map(rule -> answer(rule, accounts.get(rule.name())))
            .toList(),
        manager
            .view()
            .sortingProgress()
            .map(progress -> new SortingAnswer(progress.files(), manager.view().files()))
            .orElse(null),
        current.refused(),
        last == null ? List.of() : last.evaluation().refusals());
  }

  /** The text of policies.yaml when the policies in force were read from it. */
  record PoliciesText(String text) {}

  PoliciesText text() {
    return new PoliciesText(manager.policies().textInForce());
  }

  private PolicyAnswer answer(PolicyRule rule, AccountAnswer account) {
    boolean pair = !rule.isSingle();
    boolean isAuto = rule.readHot().unit() == ReadHot.Unit.AUTO;
    return new PolicyAnswer(
        rule.name(),
        rule.files().paths().stream().map(PathPattern::text).toList(),
        rule.files().excluded().stream().map(PathPattern::text).toList(),
        rule.files().owners().stream().sorted().toList(),
        rule.files().groups().stream().sorted().toList(),
        pair ? null : rule.family().fast(),
        pair ? rule.family().name() : null,
        pair ? rule.family().fast() : null,
        pair ? rule.family().compact() : null,
        rule.storageBound().isPresent() ? rule.storageBound().getAsDouble() : null,
        rule.writeColdAfterMillis(),
        rule.readHot().show(),
        rule.hysteresis(),
        rule.minFileBytes(),
        rule.fillWaitMillis(),
        isAuto ? rule.waitWhileReadMillis() : null,
        rule.maxBytesPerRun(),
        rule.minServers(),
        rule.pace().minimumStayMillis(),
        rule.pace().bytesPerDay().isPresent() ? rule.pace().bytesPerDay().getAsLong() : null,
        rule.pace().hours().map(Pace.Hours::toString).orElse(null),
        isAuto ? rule.prices() : null,
        degradedReadBlocks(rule.family()),
        account);
  }

  /** The fast code comes first. A single code comes alone. */
  private static Map<String, Double> degradedReadBlocks(CodeFamily family) {
    PairCost cost = PairCost.of(family);
    Map<String, Double> blocks = new LinkedHashMap<>();
    blocks.put(family.fast(), cost.fast().degradedReads());
    blocks.put(family.compact(), cost.compact().degradedReads());
    return blocks;
  }

  /**
   * What one policy of an edit would do. Sizes are bytes of data; movedBytes are those that are
   * read and written for it, by the plans for full stripes.
   *
   * @param overhead stored bytes per byte of its encoded data now
   * @param endOverhead the same once all that is under way and decided is done
   * @param margins null if all files were looked at
   */
  record PreviewAnswer(
      String policy,
      long encodeBytes,
      long toCompactBytes,
      long toFastBytes,
      long movedBytes,
      double overhead,
      double endOverhead,
      Double bound,
      Margins margins) {}

  /** What all policies of an edit would make of the encoded data of the cluster. */
  record PreviewedCluster(double overhead, double endOverhead, Double bound) {
    private static PreviewedCluster of(List<Evaluation> batches) {
      OptionalDouble bound = batches.get(0).cluster().bound();
      return new PreviewedCluster(
          Estimate.mean(batches, batch -> batch.cluster().encodedOverhead()).value(),
          Estimate.mean(batches, batch -> batch.cluster().endOverhead()).value(),
          bound.isPresent() ? bound.getAsDouble() : null);
    }
  }

  /** How far the figures of a sample may be from those of all files, with a confidence of 95%. */
  record Margins(
      long encodeBytes,
      long toCompactBytes,
      long toFastBytes,
      long movedBytes,
      double overhead,
      double endOverhead) {}

  /**
   * The fields after files are null until the preview is done.
   *
   * @param job for the question how far the preview has come
   * @param looked files and directories that were looked at
   * @param files of the cluster
   * @param sampledShare of all files that the figures come from; 1 for all
   * @param filesWithoutPolicy files that no policy of the edit matches
   * @param decisionCount decisions about the files in the sample
   * @param decisions the first ones
   */
  record Preview(
      long job,
      boolean done,
      long looked,
      long files,
      Double sampledShare,
      List<PreviewAnswer> policies,
      PreviewedCluster cluster,
      Long filesWithoutPolicy,
      List<Evaluation.Refusal> refusals,
      Integer decisionCount,
      List<DecisionAnswer> decisions) {}

  /**
   * What the policies in the body of the request would do if they were in force. The answer comes
   * soon: it has the result if there are few files, else the number of a job that goes on.
   */
  Preview preview(Query query) throws InterruptedException {
    PolicySet edited;
    try {
      edited = PolicySet.parse(Path.of(PolicySet.FILE), query.body(), manager.evaluator().codes());
    } catch (ConfigException e) {
      throw new ApiException(400, e.getMessage().strip(), "correct the policies; nothing changed");
    }
    PreviewJob job;
    synchronized (this) {
      if (lastPreview != null) {
        lastPreview.stop();
      }
      long number = lastPreview == null ? 1 : lastPreview.number() + 1;
      job = new PreviewJob(number, edited, MOST_PREVIEWED, manager.evaluator(), this::done);
      lastPreview = job;
    }
    job.start();
    return answer(job, PREVIEW_WAIT_MILLIS);
  }

  /** How far a preview has come, and its result once it is done. */
  Preview previewed(Query query) throws InterruptedException {
    long number = query.number("job", -1, 1, Long.MAX_VALUE);
    if (number < 0) {
      throw new ApiException(400, "no job is given", "add job=N, from the answer to the preview");
    }
    PreviewJob job;
    synchronized (this) {
      job = lastPreview;
    }
    if (job == null || job.number() != number) {
      throw new ApiException(
          404,
          "preview %d is not kept".formatted(number),
          "send the policies again; a newer preview ends the one before");
    }
    return answer(job, 0);
  }

  private Preview answer(PreviewJob job, long waitMillis) throws InterruptedException {
    Preview done = job.await(waitMillis);
    long files = manager.view().files();
    return done != null
        ? done
        : new Preview(
            job.number(), false, job.looked(), files, null, null, null, null, null, null, null);
  }

  private Preview done(PreviewJob job, Evaluator.Preview result) {
    List<Evaluation> batches = result.batches();
    List<DecisionAnswer> decisions =
        batches.stream()
            .flatMap(batch -> batch.decisions().stream())
            .limit(MOST_PREVIEWED_DECISIONS)
            .map(decision -> DecisionAnswer.of(decision, null))
            .toList();
    return new Preview(
        job.number(),
        true,
        job.looked(),
        manager.view().files(),
        result.share(),
        job.edited().rules().stream().map(rule -> preview(rule, result)).toList(),
        PreviewedCluster.of(batches),
        Math.round(
            Estimate.sum(batches, b -> b.verdicts().filesWithoutPolicy(), result.share()).value()),
        batches.get(0).refusals(),
        batches.stream().mapToInt(batch -> batch.decisions().size()).sum(),
        decisions);
  }

  private static PreviewAnswer preview(PolicyRule rule, Evaluator.Preview result) {
    List<Figures> batches =
        result.batches().stream().map(batch -> Figures.of(rule, batch)).toList();
    Estimate encode = Estimate.sum(batches, Figures::encode, result.share());
    Estimate toCompact = Estimate.sum(batches, Figures::toCompact, result.share());
    Estimate toFast = Estimate.sum(batches, Figures::toFast, result.share());
    Estimate moved = Estimate.sum(batches, Figures::moved, result.share());
    Estimate overhead = Estimate.mean(batches, b -> b.account.encodedOverhead());
    Estimate endOverhead = Estimate.mean(batches, b -> b.account.endOverhead());
    OptionalDouble bound = batches.get(0).account.bound();
    return new PreviewAnswer(
        rule.name(),
        Math.round(encode.value()),
        Math.round(toCompact.value()),
        Math.round(toFast.value()),
        Math.round(moved.value()),
        overhead.value(),
        endOverhead.value(),
        bound.isPresent() ? bound.getAsDouble() : null,
        result.share() == 1
            ? null
            : new Margins(
                Math.round(encode.margin()),
                Math.round(toCompact.margin()),
                Math.round(toFast.margin()),
                Math.round(moved.margin()),
                overhead.margin(),
                endOverhead.margin()));
  }

  /** What one policy decides in one batch, in bytes. */
  private record Figures(
      double encode, double toCompact, double toFast, double moved, PolicyAccount account) {
    static Figures of(PolicyRule rule, Evaluation evaluation) {
      PairCost cost = PairCost.of(rule.family());
      long encode = 0;
      long toCompact = 0;
      long toFast = 0;
      double moved = 0;
      for (Decision decision : evaluation.decisions()) {
        if (!decision.policy().equals(rule.name())) {
          continue;
        }
        long bytes = decision.dataBytes();
        if (decision.kind() == TransitionKindProto.UPCODE) {
          toCompact += bytes;
          moved += bytes * cost.toCompact();
        } else if (decision.kind() == TransitionKindProto.DOWNCODE) {
          toFast += bytes;
          moved += bytes * cost.toFast();
        } else if (decision.kind() != TransitionKindProto.ENCODE) {
          moved += decision.movedBytes();
        } else {
          encode += bytes;
          boolean fast = decision.toCode().equals(rule.family().fast());
          moved += bytes * (fast ? cost.fast() : cost.compact()).stored();
        }
      }
      PolicyAccount account =
          evaluation.accounts().stream()
              .filter(one -> one.policy().equals(rule.name()))
              .findFirst()
              .orElseThrow();
      return new Figures(encode, toCompact, toFast, moved, account);
    }
  }

  /** transitionIds and refusal are null in a dry run. */
  record DecisionAnswer(
      String kind,
      String policy,
      String toCode,
      String reason,
      long dataBytes,
      List<Long> fileIds,
      List<Long> stripeIds,
      List<Long> transitionIds,
      String refusal) {
    static DecisionAnswer of(Decision decision, DecisionProposer.Outcome outcome) {
      return new DecisionAnswer(
          decision.kind().name(),
          decision.policy(),
          decision.toCode(),
          decision.reason(),
          decision.dataBytes(),
          decision.fileIds(),
          decision.stripeIds(),
          outcome == null ? null : outcome.transitionIds(),
          outcome == null ? null : outcome.refusal());
    }
  }

  record Evaluated(
      boolean dryRun,
      long atMillis,
      long tookMillis,
      List<DecisionAnswer> decisions,
      List<Evaluation.Refusal> refusals,
      List<AccountAnswer> accounts) {}

  Evaluated evaluate(Query query) throws RocksDBException {
    boolean dryRun = query.flag("dryRun");
    if (!dryRun && manager.store().pausedSince().isPresent()) {
      throw new ApiException(
          409, "proposing is paused", "resume it, or add dryRun=true to see the decisions alone");
    }
    Evaluator.Result result = manager.evaluator().evaluate(dryRun);
    List<DecisionAnswer> decisions = new ArrayList<>();
    for (int i = 0; i < result.evaluation().decisions().size(); i++) {
      decisions.add(
          DecisionAnswer.of(
              result.evaluation().decisions().get(i),
              i < result.outcomes().size() ? result.outcomes().get(i) : null));
    }
    return new Evaluated(
        dryRun,
        result.evaluation().atMillis(),
        result.tookMillis(),
        decisions,
        result.evaluation().refusals(),
        result.evaluation().accounts().stream().map(AccountAnswer::of).toList());
  }
}
