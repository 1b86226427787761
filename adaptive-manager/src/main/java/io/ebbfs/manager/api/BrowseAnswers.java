package io.ebbfs.manager.api;

import io.ebbfs.manager.heat.DirectoryReads;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.InodePage;
import io.ebbfs.manager.view.InodeView;
import io.ebbfs.manager.view.StripeView;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The answers of /directory, /search and /file. They come from the view and its indexes, so they
 * cost what they show, whatever the namespace holds.
 */
final class BrowseAnswers {
  private static final int PAGE = 100;

  /** Stripes of one file that are shown. */
  private static final int MOST_STRIPES = 100;

  private final ManagerState manager;
  private final FileAnswers files;
  private final ReadAnswers reads;

  BrowseAnswers(ManagerState manager, FileAnswers files) {
    this.manager = manager;
    this.files = files;
    this.reads = new ReadAnswers(manager);
  }

  /**
   * A file or directory. A file is null for a directory.
   *
   * @param reads of the file, or of all files below the directory, now; null while they are not
   *     known
   */
  record Entry(
      String name,
      String path,
      boolean directory,
      DirectoryReads.Sum reads,
      FileAnswers.FileAnswer file) {}

  /**
   * nextCursor is null on the last page.
   *
   * @param reads of all files below the path; null in a search, and while they are not known
   */
  record Entries(String path, DirectoryReads.Sum reads, List<Entry> entries, String nextCursor) {}

  Entries directory(Query query) {
    String path = path(query, "/");
    InodeView found = find(path);
    if (!found.isDirectory()) {
      throw new ApiException(400, path + " is a file", "see /api/v1/file?path=" + path);
    }
    return entries(
        found.path(),
        reads.of(found),
        manager.view().entries(path, "", query.cursor(), limit(query)));
  }

  private static int limit(Query query) {
    return (int) query.number("limit", PAGE, 1, 1_000);
  }

  private InodeView find(String path) {
    return manager
        .view()
        .at(path)
        .orElseThrow(
            () ->
                new ApiException(
                    404,
                    "the manager knows no file or directory " + path,
                    "search it; a new one is known within seconds"));
  }

  private static String path(Query query, String otherwise) {
    String path = query.text("path").orElse(otherwise);
    if (!path.startsWith("/")) {
      throw new ApiException(400, "'" + path + "' is no absolute path", "write path=/...");
    }
    return path;
  }

  private Entries entries(String path, DirectoryReads.Sum sum, InodePage page) {
    Map<Long, DirectoryReads.Sum> sums = reads.of(page.inodes());
    Iterator<FileAnswers.FileAnswer> described =
        files
            .describe(
                page.inodes().stream()
                    .filter(inode -> !inode.isDirectory())
                    .map(InodeView::file)
                    .toList())
            .iterator();
    return new Entries(
        path,
        sum,
        page.inodes().stream()
            .map(
                inode ->
                    entry(
                        inode, sums.get(inode.id()), inode.isDirectory() ? null : described.next()))
            .toList(),
        page.end() == null ? null : Query.encode(page.end()));
  }

  private static Entry entry(InodeView inode, DirectoryReads.Sum sum, FileAnswers.FileAnswer file) {
    return new Entry(
        inode.path().substring(inode.path().lastIndexOf('/') + 1),
        inode.path(),
        inode.isDirectory(),
        sum,
        file);
  }

  /** A text that begins with a slash is the begin of a path, any other one that of a name. */
  Entries search(Query query) {
    String text =
        query
            .text("text")
            .orElseThrow(
                () -> new ApiException(400, "no text is given", "add text=NAME or text=/PATH"));
    int slash = text.lastIndexOf('/');
    String begin = text.substring(slash + 1);
    InodePage page =
        text.startsWith("/")
            ? manager
                .view()
                .entries(text.substring(0, slash + 1), begin, query.cursor(), limit(query))
            : manager.view().named(begin, query.cursor(), limit(query));
    return entries(text, null, page);
  }

  /**
   * A stripe with a block of the file.
   *
   * @param lostPositions positions of the code without a live replica
   * @param transitionId that converts or repairs the stripe; null for none
   */
  record Stripe(
      long id,
      String code,
      long liveBytes,
      long deadBytes,
      long parityBytes,
      long createdMillis,
      Set<Integer> lostPositions,
      Long transitionId) {
    static Stripe of(StripeView stripe) {
      return new Stripe(
          stripe.id(),
          stripe.code(),
          stripe.liveBytes(),
          stripe.deadBytes(),
          stripe.parityBytes(),
          stripe.createdMillis(),
          stripe.lostPositions(),
          stripe.transitionId() == 0 ? null : stripe.transitionId());
    }
  }

  /**
   * A file and why it is as it is.
   *
   * @param reads of the file now
   * @param directories above the file, the root first, with the reads of all files below each
   * @param stripes the first 100
   * @param transitions of the file and its stripes: under way, and recently ended
   */
  record Explanation(
      FileAnswers.FileAnswer file,
      DirectoryReads.Sum reads,
      List<Entry> directories,
      long modifiedMillis,
      List<Stripe> stripes,
      List<TransitionAnswers.TransitionAnswer> transitions) {}

  Explanation file(Query query) {
    String path = path(query, "");
    InodeView found = find(path);
    if (found.isDirectory()) {
      throw new ApiException(400, path + " is a directory", "see /api/v1/directory?path=" + path);
    }
    FileView file = found.file();
    List<Long> stripeIds = file.stripeIds().stream().limit(MOST_STRIPES).toList();
    files.refreshLost(stripeIds);
    return new Explanation(
        files.describe(file),
        reads.of(found),
        directoriesAbove(found.path()),
        file.modifiedMillis(),
        stripeIds.stream()
            .map(manager.view()::stripe)
            .filter(Objects::nonNull)
            .map(Stripe::of)
            .toList(),
        transitionsOf(file));
  }

  private List<Entry> directoriesAbove(String path) {
    List<InodeView> above = manager.view().directoriesAbove(path);
    Map<Long, DirectoryReads.Sum> sums = reads.of(above);
    return above.stream().map(inode -> entry(inode, sums.get(inode.id()), null)).toList();
  }

  private List<TransitionAnswers.TransitionAnswer> transitionsOf(FileView file) {
    Set<Long> stripes = new HashSet<>(file.stripeIds());
    return Stream.concat(
            manager.transitions().active().stream(), manager.transitions().ended().stream())
        .filter(row -> concerns(row, file.id(), stripes))
        .map(TransitionAnswers.TransitionAnswer::of)
        .toList();
  }

  private static boolean concerns(TransitionRow row, long fileId, Set<Long> stripes) {
    return row.getBlocksList().stream().anyMatch(block -> block.getOwnerId() == fileId)
        || row.getStripesList().stream().anyMatch(s -> stripes.contains(s.getStripeId()));
  }
}
