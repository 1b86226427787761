package io.ebbfs.namenode.tasks.lifecycle;

import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongPredicate;

/**
 * The transitions in memory, in the order in which they are to run. It is a cache: the rows in the
 * store are the truth. It is loaded from the store once, {@link #update} is called after the commit
 * of every change, and {@link TransitionScanner} finds the changes of other namenodes. Two updates
 * may arrive in the wrong order, so a reader checks the row under its lock before it acts, and
 * calls {@link #update} if the entry is out of date. Thread-safe.
 */
public final class TransitionIndex {
  private static final Comparator<Entry> ORDER =
      Comparator.comparingLong(Entry::priority).thenComparingLong(Entry::id);

  private record Entry(
      long id,
      TransitionKindProto kind,
      TransitionStateProto state,
      long priority,
      long notBeforeMillis,
      long leaseEndsMillis,
      long reservedBytes) {}

  private final Map<Long, Entry> active = new HashMap<>();
  private final TreeSet<Entry> planned = new TreeSet<>(ORDER);
  private final Map<TransitionKindProto, Integer> activeByKind =
      new EnumMap<>(TransitionKindProto.class);
  private final Set<Long> finished = new LinkedHashSet<>();
  private final Map<Long, TransitionStateProto> states = new HashMap<>();
  private final Map<TransitionStateProto, NavigableSet<Long>> byState =
      new EnumMap<>(TransitionStateProto.class);
  private long reservedBytes;

  /** Reads all rows. */
  public void load(MetadataStore store) throws IOException {
    store.eachRow(Tables.TRANSITION, (key, row) -> update(row));
  }

  public static boolean isActive(TransitionStateProto state) {
    return state == TransitionStateProto.PLANNED || state == TransitionStateProto.RUNNING;
  }

  /** Takes over a row as it was committed. */
  public synchronized void update(TransitionRow row) {
    remove(row.getId());
    states.put(row.getId(), row.getState());
    byState.computeIfAbsent(row.getState(), state -> new TreeSet<>()).add(row.getId());
    if (!isActive(row.getState())) {
      finished.add(row.getId());
      return;
    }
    finished.remove(row.getId());
    Entry entry =
        new Entry(
            row.getId(),
            row.getKind(),
            row.getState(),
            Integer.toUnsignedLong(row.getPriority()),
            row.getNotBeforeMillis(),
            row.getLeaseEndsMillis(),
            reservedBytes(row));
    active.put(row.getId(), entry);
    reservedBytes += entry.reservedBytes;
    activeByKind.merge(entry.kind, 1, Integer::sum);
    if (row.getState() == TransitionStateProto.PLANNED) {
      planned.add(entry);
    }
  }

  /**
   * Takes over a row as a scan has read it, if the index does not know of the transition, or does
   * not know that it has ended. The row may be older than the entry; readers notice.
   */
  synchronized void learn(TransitionRow row) {
    boolean known =
        isActive(row.getState()) ? active.containsKey(row.getId()) : finished.contains(row.getId());
    if (!known) {
      update(row);
    }
  }

  /** Forgets a transition whose row is gone. */
  public synchronized void remove(long id) {
    TransitionStateProto state = states.remove(id);
    if (state != null) {
      byState.get(state).remove(id);
    }
    Entry entry = active.remove(id);
    if (entry != null) {
      planned.remove(entry);
      reservedBytes -= entry.reservedBytes;
      activeByKind.merge(entry.kind, -1, Integer::sum);
    }
  }

  private static long reservedBytes(TransitionRow row) {
    return row.getState() == TransitionStateProto.RUNNING
        ? row.getOutputsList().stream().mapToLong(TransitionOutputProto::getLengthBytes).sum()
        : 0;
  }

  /** The bytes that the running transitions write. */
  public synchronized long reservedBytes() {
    return reservedBytes;
  }

  public synchronized boolean isActive(long id) {
    return active.containsKey(id);
  }

  public synchronized boolean isRunning(long id) {
    Entry entry = active.get(id);
    return entry != null && entry.state == TransitionStateProto.RUNNING;
  }

  public synchronized int activeCount() {
    return active.size();
  }

  /** How many transitions of one kind are planned or running. */
  public synchronized int activeCount(TransitionKindProto kind) {
    return activeByKind.getOrDefault(kind, 0);
  }

  /**
   * Planned transitions whose back-off is over, the most urgent first.
   *
   * @param kinds no kinds mean all kinds
   * @param wanted the transitions that count, by id
   */
  public synchronized List<Long> runnable(
      long nowMillis, Set<TransitionKindProto> kinds, LongPredicate wanted, int limit) {
    List<Long> result = new ArrayList<>();
    for (Entry entry : planned) {
      if (result.size() >= limit) {
        break;
      }
      if (entry.notBeforeMillis <= nowMillis
          && (kinds.isEmpty() || kinds.contains(entry.kind))
          && wanted.test(entry.id)) {
        result.add(entry.id);
      }
    }
    return result;
  }

  /** All running transitions. */
  public synchronized List<Long> running() {
    return active.values().stream()
        .filter(entry -> entry.state == TransitionStateProto.RUNNING)
        .map(Entry::id)
        .toList();
  }

  /** Running transitions whose lease has ended. */
  public synchronized List<Long> expired(long nowMillis) {
    return active.values().stream()
        .filter(e -> e.state == TransitionStateProto.RUNNING && e.leaseEndsMillis < nowMillis)
        .map(Entry::id)
        .sorted()
        .toList();
  }

  /**
   * The transitions in some states, by id. The row of one may be in another state meanwhile.
   *
   * @param afterId only transitions with a greater id
   */
  public synchronized List<Long> inStates(
      Collection<TransitionStateProto> wanted, long afterId, int limit) {
    NavigableSet<Long> ids = new TreeSet<>();
    for (TransitionStateProto state : Set.copyOf(wanted)) {
      byState.getOrDefault(state, Collections.emptyNavigableSet()).tailSet(afterId, false).stream()
          .limit(limit)
          .forEach(ids::add);
    }
    return ids.stream().limit(limit).toList();
  }

  /** Removes and returns the oldest finished transitions beyond the number to keep. */
  synchronized List<Long> takeOldestFinished(int keep, int limit) {
    List<Long> taken = new ArrayList<>();
    while (finished.size() > keep && taken.size() < limit) {
      long oldest = finished.iterator().next();
      finished.remove(oldest);
      remove(oldest);
      taken.add(oldest);
    }
    return taken;
  }
}
