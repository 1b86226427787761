package io.ebbfs.manager.api;

import io.ebbfs.manager.policy.FileState;
import io.ebbfs.manager.policy.Verdict;
import io.ebbfs.manager.schedule.Evaluator;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesResponseProto;
import java.nio.ByteBuffer;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The answers of /files. */
final class FileAnswers {
  private static final int PAGE = 100;

  private final ManagerState manager;

  FileAnswers(ManagerState manager) {
    this.manager = manager;
  }

  /** state and policy are null for a file that was not evaluated yet. */
  record FileAnswer(
      long id,
      String path,
      String policy,
      FileState state,
      String reason,
      double heat,
      boolean hot,
      long lengthBytes,
      long storedBytes,
      Integer blocks,
      Integer stripedBlocks,
      List<Long> stripeIds,
      Long transitionId) {}

  /** evaluatedMillis is null before the first evaluation; nextCursor is null on the last page. */
  record FilePage(List<FileAnswer> files, String nextCursor, Long evaluatedMillis) {}

  FilePage files(Query query) {
    Optional<FileState> state = query.oneOf("state", FileState.class);
    boolean hot = query.flag("hot");
    int limit = (int) query.number("limit", PAGE, 1, 1_000);
    Evaluator.Result last = manager.evaluator().last();
    if (state.isPresent() || hot) {
      return filtered(query, state, hot, limit, last);
    }
    ListFilesResponseProto page =
        manager.namenode().files(query.text("path").orElse(null), query.cursor(), limit);
    return new FilePage(
        page.getFilesList().stream().map(file -> answer(file, last)).toList(),
        page.hasCursor() ? Query.encode(page.getCursor().toByteArray()) : null,
        last == null ? null : last.evaluation().atMillis());
  }

  private static FileAnswer answer(FileStatusProto file, Evaluator.Result last) {
    Verdict verdict = last == null ? null : last.verdicts().get(file.getFileId());
    return new FileAnswer(
        file.getFileId(),
        file.getPath(),
        verdict == null ? null : verdict.policy(),
        verdict == null ? null : verdict.state(),
        verdict == null ? "not evaluated yet" : verdict.reason(),
        verdict == null ? 0 : verdict.heat(),
        verdict != null && verdict.hot(),
        file.getLengthBytes(),
        file.getStoredBytes(),
        file.getBlocks(),
        file.getStripedBlocks(),
        file.getStripeIdsList(),
        file.hasTransitionId() ? file.getTransitionId() : null);
  }

  /** Answers from the last evaluation, by file id; the cursor holds the last id. */
  private FilePage filtered(
      Query query, Optional<FileState> state, boolean hot, int limit, Evaluator.Result last) {
    if (last == null) {
      return new FilePage(List.of(), null, null);
    }
    String path = query.text("path").orElse("/");
    String below = path.endsWith("/") ? path : path + "/";
    byte[] cursor = query.cursor();
    if (cursor != null && cursor.length != 8) {
      throw new ApiException(
          400, "the cursor belongs to another query", "keep all parameters as they were");
    }
    long after = cursor == null ? -1 : ByteBuffer.wrap(cursor).getLong();
    Stream<Verdict> matching =
        last.verdicts().values().stream()
            .filter(v -> v.fileId() > after)
            .filter(v -> state.isEmpty() || v.state() == state.get())
            .filter(v -> !hot || v.hot())
            .filter(v -> v.path().equals(path) || v.path().startsWith(below))
            .sorted(Comparator.comparingLong(Verdict::fileId))
            .limit(limit + 1L);
    List<Verdict> found = matching.toList();
    List<Verdict> page = found.subList(0, Math.min(limit, found.size()));
    String next =
        found.size() <= limit
            ? null
            : Query.encode(
                ByteBuffer.allocate(8).putLong(page.get(page.size() - 1).fileId()).array());
    return new FilePage(
        page.stream().map(FileAnswers::answer).toList(), next, last.evaluation().atMillis());
  }

  private static FileAnswer answer(Verdict v) {
    return new FileAnswer(
        v.fileId(),
        v.path(),
        v.policy(),
        v.state(),
        v.reason(),
        v.heat(),
        v.hot(),
        v.lengthBytes(),
        v.storedBytes(),
        null,
        null,
        null,
        null);
  }
}
