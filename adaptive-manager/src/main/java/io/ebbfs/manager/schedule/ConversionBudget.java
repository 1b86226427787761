package io.ebbfs.manager.schedule;

import io.ebbfs.manager.heat.ManagerStore;
import io.ebbfs.manager.heat.ManagerStore.OpenConversion;
import io.ebbfs.manager.policy.Decision;
import io.ebbfs.manager.view.NamenodeGateway;
import io.ebbfs.manager.view.TransitionView;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
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
      try {
        store.addConversion(
            new OpenConversion(
                id, outcome.atMillis(), decision.policy(), decision.dataBytes() / count),
            bytesPerDay.orElse(Long.MAX_VALUE));
      } catch (RocksDBException e) {
        LOG.warn("A conversion is missing in the budget of the day: {}", e.getMessage());
      }
    }
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
