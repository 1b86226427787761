package io.ebbfs.manager.schedule;

import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.economics.Experience;
import io.ebbfs.manager.heat.ManagerStore;
import io.ebbfs.manager.heat.ManagerStore.OpenConversion;
import io.ebbfs.manager.policy.Decision;
import io.ebbfs.manager.view.NamenodeGateway;
import io.ebbfs.manager.view.StripeView;
import io.ebbfs.manager.view.TransitionView;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongFunction;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the books of conversionBytesPerDay in the manager's store: each conversion counts from its
 * proposal on, and no longer once it has ended without converting anything. One that is larger than
 * the budget counts until as many days have paid for it. Not thread-safe.
 */
final class ConversionBudget {
  private static final Logger LOG = LoggerFactory.getLogger(ConversionBudget.class);
  private static final int ASKED_AT_ONCE = 500;

  private final ManagerStore store;

  ConversionBudget(ManagerStore store) {
    this.store = store;
  }

  /**
   * Notes what was proposed.
   *
   * @param bytesPerDay the budget of the policy; empty for none
   */
  void note(DecisionProposer.Outcome outcome, OptionalLong bytesPerDay) {
    Decision decision = outcome.decision();
    int count = outcome.transitionIds().size();
    if (!decision.isConversion()) {
      return;
    }
    for (long id : outcome.transitionIds()) {
      note(
          new OpenConversion(
              id, outcome.atMillis(), decision.policy(), decision.dataBytes() / count),
          bytesPerDay);
    }
  }

  private void note(OpenConversion conversion, OptionalLong bytesPerDay) {
    try {
      store.addConversion(conversion, bytesPerDay.orElse(Long.MAX_VALUE));
    } catch (RocksDBException e) {
      LOG.warn("A conversion is missing in the budget of the day: {}", e.getMessage());
    }
  }

  /**
   * Notes conversions under way that were never noted, because the answer to their proposal was
   * lost or the manager died before it noted the answer. They count from the time at which the
   * namenode planned them. A conversion that has ended by now is not found.
   *
   * @param transitions those that are planned, running or failed
   * @param stripes gives a stripe by its id, or null
   * @param policies give the budgets
   */
  void noteUnknown(
      List<TransitionView> transitions,
      LongFunction<StripeView> stripes,
      PolicySet policies,
      long nowMillis) {
    if (transitions.stream().noneMatch(TransitionView::active)) {
      return;
    }
    Set<Long> noted = store.notedConversions(nowMillis);
    for (TransitionView one : transitions) {
      boolean counts = one.active() && one.createdMillis() > nowMillis - Experience.DAY;
      long bytes = counts && !noted.contains(one.id()) ? convertedBytes(one, stripes) : 0;
      if (bytes > 0) {
        note(
            new OpenConversion(one.id(), one.createdMillis(), one.policy(), bytes),
            bytesPerDay(policies, one.policy()));
      }
    }
  }

  /** The budget of a policy; empty for none. */
  static OptionalLong bytesPerDay(PolicySet policies, String policy) {
    return policies
        .named(policy)
        .map(rule -> rule.pace().bytesPerDay())
        .orElse(OptionalLong.empty());
  }

  /** Logical bytes that a transition converts; 0 if it is no conversion. */
  private static long convertedBytes(TransitionView one, LongFunction<StripeView> stripes) {
    List<StripeView> converted =
        one.stripeIds().stream().map(stripes::apply).filter(Objects::nonNull).toList();
    return switch (one.kind()) {
      case UPCODE, DOWNCODE -> liveBytes(converted);
      case REWRITE ->
          liveBytes(converted.stream().filter(s -> !s.code().equals(one.toCode())).toList());
      case RELEASE ->
          one.groupFileId() != 0
              ? liveBytes(converted)
              : converted.stream()
                  .flatMap(stripe -> stripe.members().stream())
                  .filter(member -> one.leaving().contains(member.position()))
                  .mapToLong(StripeView.Member::lengthBytes)
                  .sum();
      default -> 0;
    };
  }

  private static long liveBytes(List<StripeView> stripes) {
    return stripes.stream().mapToLong(StripeView::liveBytes).sum();
  }

  /**
   * Finds out how conversions ended that are not active any more. A conversion whose row the
   * namenode has deleted counts as done.
   *
   * @param transitions those that are planned, running or failed
   */
  void settle(NamenodeGateway namenode, List<TransitionView> transitions, long nowMillis) {
    Set<Long> active = new HashSet<>();
    transitions.stream().filter(TransitionView::active).forEach(t -> active.add(t.id()));
    List<OpenConversion> ended =
        store.openConversions(nowMillis).stream()
            .filter(conversion -> !active.contains(conversion.transitionId()))
            .toList();
    for (int from = 0; from < ended.size(); from += ASKED_AT_ONCE) {
      settle(namenode, ended.subList(from, Math.min(from + ASKED_AT_ONCE, ended.size())));
    }
  }

  private void settle(NamenodeGateway namenode, List<OpenConversion> ended) {
    Map<Long, TransitionStateProto> states = new HashMap<>();
    for (TransitionRow row :
        namenode.transitions(ended.stream().map(OpenConversion::transitionId).toList())) {
      states.put(row.getId(), row.getState());
    }
    for (OpenConversion conversion : ended) {
      TransitionStateProto state =
          states.getOrDefault(conversion.transitionId(), TransitionStateProto.DONE);
      if (state != TransitionStateProto.PLANNED && state != TransitionStateProto.RUNNING) {
        try {
          store.endConversion(conversion, state == TransitionStateProto.DONE);
        } catch (RocksDBException e) {
          LOG.warn("The end of a conversion is not noted: {}", e.getMessage());
        }
      }
    }
  }
}
