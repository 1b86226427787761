package io.ebbfs.manager.api;

import io.ebbfs.manager.heat.DirectoryReads;
import io.ebbfs.manager.policy.Verdict;
import io.ebbfs.manager.schedule.Evaluator;
import io.ebbfs.manager.view.FileState;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.Pin;
import io.ebbfs.manager.view.StripeView;
import io.ebbfs.manager.view.ViewReader;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesResponseProto;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongFunction;

/** The answers of /files. */
final class FileAnswers {
  private static final int PAGE = 100;

  /** Inodes that one answer looks at: more would take longer than a reader likes to wait. */
  private static final int MOST_LOOKED_AT = 4_000;

  private static final int MOST_REFRESHED = 1_000;

  private final ManagerState manager;
  private final ReadAnswers reads;

  FileAnswers(ManagerState manager) {
    this.manager = manager;
    this.reads = new ReadAnswers(manager);
  }

  /**
   * State and policy are null for a file that was not evaluated yet. The pin is that of the file or
   * of the nearest directory above it that has one.
   */
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
      Long transitionId,
      Pin pin) {}

  /**
   * evaluatedMillis is null before the first evaluation; nextCursor is null on the last page.
   *
   * @param reads of the file at the path, or of all files below the path, now; null if they are not
   *     known
   */
  record FilePage(
      List<FileAnswer> files, String nextCursor, Long evaluatedMillis, DirectoryReads.Sum reads) {}

  private DirectoryReads.Sum readsAt(Query query) {
    return manager.view().at(query.text("path").orElse("/")).map(reads::of).orElse(null);
  }

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
    refreshLost(page.getFilesList().stream().flatMap(f -> f.getStripeIdsList().stream()).toList());
    LongFunction<StripeView> stripes = readOnce();
    return new FilePage(
        page.getFilesList().stream()
            .map(file -> ViewReader.file(file).withPin(manager.view().pinOf(file)))
            .map(file -> answer(file, last, stripes))
            .toList(),
        page.hasCursor() ? Query.encode(page.getCursor().toByteArray()) : null,
        last == null ? null : last.evaluation().atMillis(),
        readsAt(query));
  }

  /** Stripes that had lost a block when they were read may be whole again. */
  void refreshLost(Collection<Long> stripeIds) {
    List<Long> lost =
        stripeIds.stream()
            .distinct()
            .limit(MOST_REFRESHED)
            .map(manager.view()::stripe)
            .filter(stripe -> stripe != null && !stripe.lostPositions().isEmpty())
            .map(StripeView::id)
            .toList();
    manager.follower().refreshStripes(lost);
  }

  /** A file of the view by the last evaluation. */
  FileAnswer describe(FileView file) {
    return describe(List.of(file)).get(0);
  }

  /** Files of the view by the last evaluation. A stripe that several files share is read once. */
  List<FileAnswer> describe(List<FileView> files) {
    Evaluator.Result last = manager.evaluator().last();
    LongFunction<StripeView> stripes = readOnce();
    return files.stream().map(file -> answer(file, last, stripes)).toList();
  }

  private LongFunction<StripeView> readOnce() {
    Map<Long, Optional<StripeView>> known = new HashMap<>();
    return id ->
        known
            .computeIfAbsent(id, key -> Optional.ofNullable(manager.view().stripe(key)))
            .orElse(null);
  }

  private static FileAnswer answer(
      FileView file, Evaluator.Result last, LongFunction<StripeView> stripes) {
    Verdict verdict = last == null ? null : last.evaluation().verdicts().of(file, stripes);
    return new FileAnswer(
        file.id(),
        file.path(),
        verdict == null ? null : verdict.policy(),
        verdict == null ? null : verdict.state(),
        verdict == null ? "not evaluated yet" : verdict.reason(),
        verdict == null ? 0 : verdict.heat(),
        verdict != null && verdict.hot(),
        file.lengthBytes(),
        file.storedBytes(),
        file.blocks(),
        file.stripedBlocks(),
        file.stripeIds(),
        file.transitionId() == 0 ? null : file.transitionId(),
        file.pin());
  }

  /**
   * Answers from the view, by file id; the cursor holds the last id that was looked at. A page of a
   * rare state may have fewer files than the limit, or none, and yet a cursor.
   */
  private FilePage filtered(
      Query query, Optional<FileState> state, boolean hot, int limit, Evaluator.Result last) {
    if (last == null) {
      return new FilePage(List.of(), null, null, readsAt(query));
    }
    String path = query.text("path").orElse("/");
    String below = path.endsWith("/") ? path : path + "/";
    byte[] cursor = query.cursor();
    if (cursor != null && cursor.length != 8) {
      throw new ApiException(
          400, "the cursor belongs to another query", "keep all parameters as they were");
    }
    long after = cursor == null ? -1 : ByteBuffer.wrap(cursor).getLong();
    if (hot) {
      return hotFiles(state, path, below, after, limit, last, readsAt(query));
    }
    List<FileView> files = new ArrayList<>();
    long end =
        manager
            .view()
            .eachFile(
                after,
                MOST_LOOKED_AT,
                file -> {
                  if (file.path().equals(path) || file.path().startsWith(below)) {
                    files.add(file);
                  }
                });
    List<FileAnswer> found = new ArrayList<>();
    LongFunction<StripeView> stripes = readOnce();
    for (FileView file : files) {
      Verdict verdict = last.evaluation().verdicts().of(file, stripes);
      if (verdict.state() == state.orElseThrow()) {
        found.add(answer(verdict));
        if (found.size() == limit) {
          end = file == files.get(files.size() - 1) ? end : file.id();
          break;
        }
      }
    }
    return new FilePage(
        found, end < 0 ? null : cursor(end), last.evaluation().atMillis(), readsAt(query));
  }

  /**
   * The files that were read most are in the snapshot of the evaluation, and no others are listed.
   */
  private FilePage hotFiles(
      Optional<FileState> state,
      String path,
      String below,
      long after,
      int limit,
      Evaluator.Result last,
      DirectoryReads.Sum sum) {
    List<Verdict> found =
        last.evaluation().verdicts().ofSnapshot().stream()
            .filter(v -> v.hot() && v.fileId() > after)
            .filter(v -> state.isEmpty() || v.state() == state.get())
            .filter(v -> v.path().equals(path) || v.path().startsWith(below))
            .sorted(Comparator.comparingLong(Verdict::fileId))
            .limit(limit + 1L)
            .toList();
    List<Verdict> page = found.subList(0, Math.min(limit, found.size()));
    return new FilePage(
        page.stream().map(FileAnswers::answer).toList(),
        found.size() <= limit ? null : cursor(page.get(page.size() - 1).fileId()),
        last.evaluation().atMillis(),
        sum);
  }

  private static String cursor(long lastId) {
    return Query.encode(ByteBuffer.allocate(8).putLong(lastId).array());
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
        null,
        v.pin());
  }
}
