package io.ebbfs.manager.schedule;

import io.ebbfs.manager.view.NamenodeGateway;
import io.ebbfs.manager.view.TransitionView;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The transitions under way, and the transitions that ended recently. A transition that was active
 * at one refresh and is not at the next has ended; the namenode is then asked for it by its id. The
 * log has a limited size. Thread-safe.
 */
public final class TransitionLog {
  private static final int KEPT = 1_000;
  private static final int ASKED_AT_ONCE = 500;
  private static final Set<TransitionStateProto> ACTIVE =
      Set.of(TransitionStateProto.PLANNED, TransitionStateProto.RUNNING);

  private static final List<TransitionStateProto> ENDED =
      Stream.concat(Stream.of(TransitionStateProto.DONE), TransitionView.UNDONE.stream()).toList();

  private final Map<Long, TransitionRow> ended = new LinkedHashMap<>();
  private final Set<Long> watched = new HashSet<>();
  private List<TransitionRow> active = List.of();
  private boolean primed;

  /** Adds proposed transitions, which may end before the next refresh. */
  synchronized void watch(Collection<Long> ids) {
    watched.addAll(ids);
  }

  /** Asks the namenode again. */
  public synchronized void refresh(NamenodeGateway namenode) {
    if (!primed) {
      namenode.allTransitions(ENDED, KEPT).forEach(this::keep);
      primed = true;
    }
    List<TransitionRow> now = namenode.allTransitions(ACTIVE, Integer.MAX_VALUE);
    Set<Long> activeIds = new HashSet<>();
    now.forEach(row -> activeIds.add(row.getId()));
    List<Long> gone = watched.stream().filter(id -> !activeIds.contains(id)).toList();
    for (int from = 0; from < gone.size(); from += ASKED_AT_ONCE) {
      namenode
          .transitions(gone.subList(from, Math.min(from + ASKED_AT_ONCE, gone.size())))
          .forEach(this::keep);
    }
    watched.clear();
    watched.addAll(activeIds);
    active = List.copyOf(now);
  }

  private void keep(TransitionRow row) {
    if (ACTIVE.contains(row.getState())) {
      watched.add(row.getId());
      return;
    }
    ended.remove(row.getId());
    ended.put(row.getId(), row);
    if (ended.size() > KEPT) {
      ended.remove(ended.keySet().iterator().next());
    }
  }

  /** The planned and running transitions at the last refresh. */
  public synchronized List<TransitionRow> active() {
    return active;
  }

  /** The ended transitions, the latest first. */
  public synchronized List<TransitionRow> ended() {
    List<TransitionRow> rows = new ArrayList<>(ended.values());
    rows.sort(Comparator.comparingLong(TransitionRow::getUpdatedMillis).reversed());
    return rows;
  }
}
