package io.ebbfs.manager.api;

import io.ebbfs.manager.policy.Evaluation;
import io.ebbfs.manager.schedule.Evaluator;
import io.ebbfs.manager.view.TransitionView;
import io.ebbfs.protocol.proto.CodingProtos.ListTransitionsResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The answers of /transitions and /jobs. */
final class TransitionAnswers {
  private static final int LATEST = 100;

  private final ManagerState manager;

  TransitionAnswers(ManagerState manager) {
    this.manager = manager;
  }

  record TransitionAnswer(
      long id,
      String kind,
      String state,
      String policy,
      String fromCode,
      String toCode,
      String reason,
      long createdMillis,
      long updatedMillis,
      int attempt,
      String worker,
      String failure,
      Long notBeforeMillis,
      int blocks,
      List<Long> stripeIds,
      Long bytesRead,
      Long bytesWritten,
      Integer blocksRead,
      Integer blocksWritten,
      Long dataBytes,
      Integer checks,
      Integer checkBlocksRead,
      Long checkBytesRead,
      Long missingBytes) {
    static TransitionAnswer of(TransitionRow row) {
      return new TransitionAnswer(
          row.getId(),
          row.getKind().name(),
          row.getState().name(),
          row.getPolicy(),
          row.hasFromCode() ? row.getFromCode() : null,
          row.getToCode(),
          row.getReason(),
          row.getCreatedMillis(),
          row.getUpdatedMillis(),
          row.getAttempt(),
          row.hasWorker() ? row.getWorker() : null,
          row.hasFailure() ? row.getFailure() : null,
          row.hasNotBeforeMillis() ? row.getNotBeforeMillis() : null,
          row.getBlocksCount(),
          row.getStripesList().stream().map(s -> s.getStripeId()).toList(),
          row.hasBytesRead() ? row.getBytesRead() : null,
          row.hasBytesWritten() ? row.getBytesWritten() : null,
          row.hasBlocksRead() ? row.getBlocksRead() : null,
          row.hasBlocksWritten() ? row.getBlocksWritten() : null,
          row.hasDataBytes() ? row.getDataBytes() : null,
          row.hasChecks() ? row.getChecks() : null,
          row.hasCheckBlocksRead() ? row.getCheckBlocksRead() : null,
          row.hasCheckBytesRead() ? row.getCheckBytesRead() : null,
          row.hasMissingBytes() ? row.getMissingBytes() : null);
    }
  }

  record DecisionAnswer(
      long atMillis,
      String kind,
      String policy,
      String toCode,
      String reason,
      String refusal,
      List<Long> transitionIds) {}

  /** Without a state in the query: all transitions under way, and those that ended recently. */
  record Transitions(
      List<TransitionAnswer> transitions,
      String nextCursor,
      Map<String, Long> countsByKindAndState,
      List<DecisionAnswer> latestDecisions,
      List<Evaluation.Refusal> refusals) {}

  Transitions transitions(Query query) {
    Optional<TransitionStateProto> state = query.oneOf("state", TransitionStateProto.class);
    int limit = (int) query.number("limit", 200, 1, 1_000);
    Evaluator.Result last = manager.evaluator().last();
    List<Evaluation.Refusal> refusals = last == null ? List.of() : last.evaluation().refusals();
    if (state.isPresent() || query.cursor() != null) {
      List<TransitionStateProto> states = state.map(List::of).orElse(List.of());
      ListTransitionsResponseProto page =
          manager.namenode().transitions(states, query.cursor(), limit);
      return new Transitions(
          page.getTransitionsList().stream().map(TransitionAnswer::of).toList(),
          page.hasCursor() ? Query.encode(page.getCursor().toByteArray()) : null,
          counts(),
          decisions(),
          refusals);
    }
    List<TransitionRow> rows = new ArrayList<>(manager.transitions().active());
    rows.sort(
        Comparator.comparing((TransitionRow r) -> r.getState() != TransitionStateProto.RUNNING)
            .thenComparing(TransitionRow::getPriority)
            .thenComparing(TransitionRow::getId));
    rows.addAll(manager.transitions().ended());
    return new Transitions(
        rows.stream().limit(limit).map(TransitionAnswer::of).toList(),
        null,
        counts(),
        decisions(),
        refusals);
  }

  /** Counts of the known transitions by kind and state, such as "UPCODE.RUNNING". */
  private Map<String, Long> counts() {
    Map<String, Long> counts = new TreeMap<>();
    List<TransitionRow> rows = new ArrayList<>(manager.transitions().active());
    rows.addAll(manager.transitions().ended());
    rows.forEach(r -> counts.merge(r.getKind() + "." + r.getState(), 1L, Long::sum));
    return counts;
  }

  private List<DecisionAnswer> decisions() {
    return manager.decisions().recent().stream()
        .limit(LATEST)
        .map(
            o ->
                new DecisionAnswer(
                    o.atMillis(),
                    o.decision().kind().name(),
                    o.decision().policy(),
                    o.decision().toCode(),
                    o.decision().reason(),
                    o.refusal(),
                    o.transitionIds()))
        .toList();
  }

  /** The transitions that one worker claimed. */
  record Job(
      String worker,
      long running,
      long done,
      long failed,
      Map<String, Long> kinds,
      long dataBytes,
      long bytesRead,
      long bytesWritten,
      long firstMillis,
      long lastMillis) {}

  record Jobs(List<Job> jobs, long waiting) {}

  Jobs jobs() {
    Map<String, List<TransitionRow>> byWorker = new HashMap<>();
    long waiting = 0;
    List<TransitionRow> rows = new ArrayList<>(manager.transitions().active());
    rows.addAll(manager.transitions().ended());
    for (TransitionRow row : rows) {
      if (row.getState() == TransitionStateProto.PLANNED) {
        waiting++;
      } else if (row.hasWorker()) {
        byWorker.computeIfAbsent(row.getWorker(), worker -> new ArrayList<>()).add(row);
      }
    }
    List<Job> jobs = new ArrayList<>();
    byWorker.forEach((worker, claimed) -> jobs.add(job(worker, claimed)));
    jobs.sort(Comparator.comparingLong(Job::lastMillis).reversed());
    return new Jobs(jobs, waiting);
  }

  private static Job job(String worker, List<TransitionRow> rows) {
    Map<String, Long> kinds = new TreeMap<>();
    rows.forEach(row -> kinds.merge(row.getKind().name(), 1L, Long::sum));
    return new Job(
        worker,
        count(rows, TransitionStateProto.RUNNING),
        count(rows, TransitionStateProto.DONE),
        rows.stream().filter(row -> TransitionView.UNDONE.contains(row.getState())).count(),
        kinds,
        rows.stream().mapToLong(TransitionRow::getDataBytes).sum(),
        rows.stream().mapToLong(TransitionRow::getBytesRead).sum(),
        rows.stream().mapToLong(TransitionRow::getBytesWritten).sum(),
        rows.stream().mapToLong(TransitionRow::getCreatedMillis).min().orElse(0),
        rows.stream().mapToLong(TransitionRow::getUpdatedMillis).max().orElse(0));
  }

  private static long count(List<TransitionRow> rows, TransitionStateProto state) {
    return rows.stream().filter(row -> row.getState() == state).count();
  }
}
