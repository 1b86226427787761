package io.ebbfs.manager.web;

import io.ebbfs.manager.Evaluator;
import io.ebbfs.manager.Manager;
import io.ebbfs.manager.config.LivePolicies;
import io.ebbfs.manager.config.PathPattern;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.policy.Account;
import io.ebbfs.manager.policy.Decision;
import io.ebbfs.manager.policy.Evaluation;
import io.ebbfs.settings.Problem;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What /policies and /policies/evaluate answer. */
final class PolicyAnswers {
  private final Manager manager;

  PolicyAnswers(Manager manager) {
    this.manager = manager;
  }

  /** Either family with its two codes, or a single code; the others are absent. */
  record PolicyAnswer(
      String name,
      List<String> paths,
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
      long maxBytesPerRun,
      int minServers,
      AccountAnswer account) {}

  /** Bytes; the bound is about the encoded ones. packing is of all codes together. */
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
      PackingAnswer packing,
      Map<String, PackingAnswer> packingByCode) {
    static AccountAnswer of(Account account) {
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
          PackingAnswer.total(account.packing().values()),
          PackingAnswer.byCode(account));
    }
  }

  record Policies(
      long loadedMillis,
      List<PolicyAnswer> policies,
      List<Problem> refusedEdit,
      List<Evaluation.Refusal> refusals) {}

  Policies policies() {
    LivePolicies.Current current = manager.policies().current();
    Evaluator.Result last = manager.evaluator().last();
    Map<String, AccountAnswer> accounts = new HashMap<>();
    if (last != null) {
      last.evaluation().accounts().forEach(a -> accounts.put(a.policy(), AccountAnswer.of(a)));
    }
    return new Policies(
        current.loadedMillis(),
        current.policies().rules().stream()
            .map(rule -> answer(rule, accounts.get(rule.name())))
            .toList(),
        current.refused(),
        last == null ? List.of() : last.evaluation().refusals());
  }

  private static PolicyAnswer answer(PolicyRule rule, AccountAnswer account) {
    boolean pair = !rule.isSingle();
    return new PolicyAnswer(
        rule.name(),
        rule.paths().stream().map(PathPattern::text).toList(),
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
        rule.maxBytesPerRun(),
        rule.minServers(),
        account);
  }

  /** transitionIds and refusal are absent in a dry run. */
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
    static DecisionAnswer of(Decision decision, Evaluator.Outcome outcome) {
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

  Evaluated evaluate(Query query) {
    boolean dryRun = query.flag("dryRun");
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
