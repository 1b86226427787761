package io.ebbfs.manager.schedule;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.manager.heat.ManagerStore;
import io.ebbfs.manager.policy.Decision;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What was decided and done: the decisions that the namenode took, its refusals, and the actions of
 * operators. The latest {@link #KEPT} entries survive a restart. Thread-safe.
 */
public final class History {
  static final int KEPT = 20_000;

  private static final Logger LOG = LoggerFactory.getLogger(History.class);
  private static final int TRIM_EVERY = 1_000;
  private static final int REMEMBERED_REFUSALS = 1_000;
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * An entry.
   *
   * @param what the kind of a decision, such as ENCODE, or the name of an action, such as pause
   * @param by "policy", or "operator"
   * @param policy null if no policy is concerned
   * @param reason of a decision, or what an action did
   * @param refusal why the namenode refused a part of it or all; null if it did not
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Entry(
      long atMillis,
      String what,
      String by,
      String policy,
      String toCode,
      String reason,
      String refusal,
      long dataBytes,
      List<Long> transitionIds) {}

  /**
   * Some entries, the newest first.
   *
   * @param next to pass for the next page; null after the last page
   */
  public record Page(List<Entry> entries, ManagerStore.HistoryRow next) {}

  private final ManagerStore store;
  private final AtomicLong number;

  /** The latest refusals, those that came back last at the end. */
  private final Set<Refusal> refusals =
      Collections.newSetFromMap(
          new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Refusal, Boolean> eldest) {
              return size() > REMEMBERED_REFUSALS;
            }
          });

  private record Refusal(String by, TransitionKindProto kind, String policy, String text) {}

  public History(ManagerStore store) {
    this.store = store;
    List<ManagerStore.HistoryRow> latest = store.history(null, 1);
    this.number = new AtomicLong(latest.isEmpty() ? 0 : latest.get(0).number() + 1);
  }

  /** Notes a decision. A refusal that repeats is noted once, also if others come in between. */
  synchronized void note(DecisionProposer.Outcome outcome, String by) {
    Decision decision = outcome.decision();
    boolean isNew =
        outcome.refusal() == null
            || refusals.add(new Refusal(by, decision.kind(), decision.policy(), outcome.refusal()));
    if (isNew || !outcome.transitionIds().isEmpty()) {
      add(
          new Entry(
              outcome.atMillis(),
              decision.kind().name(),
              by,
              decision.policy(),
              decision.toCode(),
              decision.reason(),
              outcome.refusal(),
              decision.dataBytes(),
              outcome.transitionIds()));
    }
  }

  /** Notes an action of an operator. */
  public void noteAction(long atMillis, String action, String did) {
    add(new Entry(atMillis, action, "operator", null, null, did, null, 0, List.of()));
  }

  private void add(Entry entry) {
    try {
      long next = number.getAndIncrement();
      store.putHistory(entry.atMillis, next, JSON.writeValueAsString(entry));
      if (next % TRIM_EVERY == 0) {
        store.trimHistory(KEPT);
      }
    } catch (RocksDBException | JsonProcessingException e) {
      LOG.warn("The history lacks an entry ({}): {}", e.getMessage(), entry);
    }
  }

  /**
   * A page of the history.
   *
   * @param before {@link Page#next} of the page before; null for the first page
   */
  public Page page(ManagerStore.HistoryRow before, int limit) {
    List<ManagerStore.HistoryRow> rows = store.history(before, limit + 1);
    List<Entry> entries = new ArrayList<>();
    for (ManagerStore.HistoryRow row : rows.subList(0, Math.min(limit, rows.size()))) {
      try {
        entries.add(JSON.readValue(row.json(), Entry.class));
      } catch (JsonProcessingException e) {
        LOG.warn("An entry of the history cannot be read: {}", e.getMessage());
      }
    }
    return new Page(entries, rows.size() > limit ? rows.get(limit - 1) : null);
  }
}
