package io.ebbfs.manager.view;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.view.ViewStore.StripeIndex;
import io.ebbfs.protocol.proto.CodingProtos.DirectoryStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.ManagerProtos.ViewInodeRow;
import io.ebbfs.protocol.proto.ManagerProtos.ViewPlacement;
import io.ebbfs.protocol.proto.ManagerProtos.ViewPositionRow;
import io.ebbfs.protocol.proto.ManagerProtos.ViewStripeRow;
import io.ebbfs.protocol.proto.ManagerProtos.ViewSumsRow;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The manager's own copy of the namespace. It has the files, directories and stripes with their
 * policies, indexes in the order in which a run of the policies takes files and stripes, and the
 * sums over all files and stripes. A follower of the change stream puts each changed row into the
 * view. The view lies on disk, and its memory does not grow with the number of files. Thread-safe.
 *
 * <p>Edited policies need another {@link Sorting}. It is made step by step, while the one before
 * serves, and is used from the call of {@link #usePolicies} on that finds it whole.
 *
 * <p>Whoever fills it puts the stripes of a page or an event before the files, so that the state of
 * a file is known at once; the other order costs more and gives the same.
 */
public final class NamespaceView implements AutoCloseable {
  /**
   * Rows that the view sorts at once before it lets the caller wait for steps in the background.
   */
  private static final int SORTED_AT_ONCE = 2_000;

  /** Inodes that get their new paths at once when a directory above them is renamed. */
  private static final int MOVED_AT_ONCE = 2_000;

  /** Longer than every path that the namenode allows. */
  private static final int MOST_PATH_CHARS = 16_000;

  /** Rows that the end of a reading looks at while readers wait. */
  private static final int DROP_STEP = 5_000;

  private static final byte[] NO_NAME = {};

  private final ViewStore store;
  private final PathIndex paths;
  private final CodeRegistry codes;
  private final InodeListener listener;
  // The sorting in use; null while the first one is made.
  private Sorting serving;
  // The sorting that is being made; null for none.
  private Sorting next;
  // How far the sorting that is being made has come.
  private long sortedStripes;
  private long sortedInodes;
  private boolean stripesAreSorted;
  private boolean nextIsWhole;
  // Stripes that the work under way has read; null if it reads them anew.
  private Map<Long, Optional<StripeView>> stripesReadOnce;
  // The pins below directories that the work under way has found; null if it finds them anew.
  private Map<Long, Pin> pinsFoundOnce;
  // Whether the view had no row when the reading of everything began.
  private boolean beganEmpty;
  private ViewPositionRow position;
  private long reading;
  // As of the end of the last change, for readers that do not wait for whoever writes.
  private volatile long fileCount;
  private volatile SortingProgress progress;
  private final LongAdder walked = new LongAdder();
  // Where the spreading of paths and pins goes on.
  private long spreadsAt;
  // False once no directory is left whose path or pin spreads.
  private boolean maySpread = true;
  // True at the start, too: nobody has noted then why a directory's path or pin spreads.
  private volatile boolean movesAreLeft = true;

  private NamespaceView(ViewStore store, CodeRegistry codes, InodeListener listener) {
    this.listener = listener;
    this.store = store;
    this.paths = new PathIndex(store.committed());
    this.codes = codes;
    this.position = store.position();
    this.reading = store.reading();
  }

  /**
   * Opens the view. If its rows are not sorted by these policies, or the process died in a change
   * that was very large, the rows are sorted by steps.
   *
   * @throws IOException if the directory cannot be used
   */
  public static NamespaceView open(Path directory, PolicySet policies, CodeRegistry codes)
      throws IOException {
    return open(directory, policies, codes, InodeListener.NONE);
  }

  /** The same, with a listener that hears where each inode is. */
  public static NamespaceView open(
      Path directory, PolicySet policies, CodeRegistry codes, InodeListener listener)
      throws IOException {
    NamespaceView view = new NamespaceView(ViewStore.open(directory), codes, listener);
    view.restore(policies);
    return view;
  }

  private synchronized void restore(PolicySet policies) {
    ViewSumsRow row = store.sums();
    if (row != null && row.getSortedBy().equals(Sorting.sortedBy(policies))) {
      serving = Sorting.restore(row, policies, store, codes);
    }
    long kept = serving == null ? -1 : serving.number();
    if (kept != store.lastSorting()) {
      store.dropSortingsBut(kept);
    }
    usePolicies(policies);
  }

  // ---- position ---------------------------------------------------------------------------------

  /** How far the view follows the change stream; empty if it was never filled. */
  public synchronized Optional<ViewPositionRow> position() {
    return Optional.ofNullable(position);
  }

  /** All changes before this position are in the view. */
  public synchronized void setPosition(ViewPositionRow newPosition) {
    position = newPosition;
    store.putPosition(newPosition);
    settle();
  }

  /** Ends a change: what it has changed is committed, with the sums. */
  private void settle() {
    store.settle(() -> serving == null ? null : serving.message());
    noteProgress();
  }

  private void noteProgress() {
    Sorting sorting = serving == null ? next : serving;
    fileCount = sorting == null ? 0 : sorting.files();
    progress =
        next == null
            ? null
            : new SortingProgress(next.files(), serving == null ? 0 : serving.files());
  }

  /** The number of files. While the first sorting is made, the number of files counted so far. */
  public long files() {
    return fileCount;
  }

  /** How many rows of the view were read since it was opened: what the work on it has cost. */
  public long visited() {
    return store.visited();
  }

  // ---- policies ---------------------------------------------------------------------------------

  /**
   * Wants the rows sorted by these policies. The policies are in use at once if the rows are sorted
   * by them, or if there are few rows. Else {@link #sortSome} sorts them, and a later call of this
   * method puts them in use; until then the policies before are in use.
   */
  public synchronized void usePolicies(PolicySet wanted) {
    if (serving != null && serving.takeOver(wanted)) {
      dropNext();
      return;
    }
    if (next == null || !next.takeOver(wanted)) {
      dropNext();
      store.putLastSorting(store.lastSorting() + 1);
      store.commit();
      next = new Sorting(store.lastSorting(), wanted, store, codes);
    }
    sortSome(SORTED_AT_ONCE, Duration.ofDays(1));
    if (nextIsWhole) {
      Sorting old = serving;
      serving = next;
      next = null;
      dropNext();
      if (old != null) {
        store.dropSorting(old.number());
      }
      settle();
    }
  }

  private void dropNext() {
    if (next != null) {
      store.dropSorting(next.number());
    }
    next = null;
    nextIsWhole = false;
    stripesAreSorted = false;
    sortedStripes = -1;
    sortedInodes = -1;
    noteProgress();
  }

  /** Whether there are policies in use. */
  public synchronized boolean isSorted() {
    return serving != null;
  }

  /** The policies in use, which may be older than those that are wanted; null for none. */
  public synchronized PolicySet policies() {
    return serving == null ? null : serving.policies();
  }

  /**
   * @throws NamenodeException if the rows are still being sorted by these policies
   */
  public synchronized void requireInUse(PolicySet wanted) {
    if (!wanted.equals(policies())) {
      throw new NamenodeException(
          "the files are still being sorted by the edited policies (%s): ask again later"
              .formatted(
                  next == null ? "they are next" : "%,d files are sorted".formatted(next.files())));
    }
  }

  /**
   * How far the view has come with sorting the rows by edited policies.
   *
   * @param files that are sorted
   * @param ofFiles how many files there are; 0 if that is not known yet
   */
  public record SortingProgress(long files, long ofFiles) {}

  /** Empty if the rows are sorted by the policies that are wanted. */
  public Optional<SortingProgress> sortingProgress() {
    return Optional.ofNullable(progress);
  }

  /**
   * Sorts some rows by the policies that are wanted: so many, or fewer if the time is over. Readers
   * of the view wait meanwhile.
   *
   * @return whether rows are left
   */
  public synchronized boolean sortSome(int mostRows, Duration most) {
    if (next == null || nextIsWhole) {
      return false;
    }
    long end = System.nanoTime() + most.toNanos();
    int[] left = {mostRows};
    BooleanSupplier goesOn = () -> left[0]-- > 0 && System.nanoTime() < end;
    if (!stripesAreSorted) {
      stripesAreSorted = sortStripes(goesOn);
    }
    if (stripesAreSorted) {
      withStripesReadOnce(() -> nextIsWhole = sortInodes(goesOn));
    }
    settle();
    return !nextIsWhole;
  }

  /** Returns whether all are sorted. */
  private boolean sortStripes(BooleanSupplier goesOn) {
    boolean[] all = {true};
    store.eachStripe(
        sortedStripes,
        row -> {
          all[0] = goesOn.getAsBoolean();
          if (all[0]) {
            sortedStripes = row.getStatus().getStripe().getId();
            sort(row);
          }
          return all[0];
        });
    return all[0];
  }

  private boolean sortInodes(BooleanSupplier goesOn) {
    boolean[] all = {true};
    store.eachInode(
        sortedInodes,
        row -> {
          all[0] = goesOn.getAsBoolean();
          if (all[0]) {
            sortedInodes = idOf(row);
            sort(row);
          }
          return all[0];
        });
    return all[0];
  }

  private void sort(ViewStripeRow row) {
    if (next.placementIn(row.getPlacementsList()) == null) {
      ViewStripeRow.Builder sorted = row.toBuilder();
      keepPlacements(row.getPlacementsList(), sorted.clearPlacements()::addPlacements);
      sorted.addPlacements(next.enter(ViewReader.stripe(row), this::fileInChange));
      store.putStripe(row.getStatus().getStripe().getId(), sorted.build());
    }
  }

  private void sort(ViewInodeRow row) {
    if (row.hasFile() && next.placementIn(row.getPlacementsList()) == null) {
      ViewInodeRow.Builder sorted = row.toBuilder();
      keepPlacements(row.getPlacementsList(), sorted.clearPlacements()::addPlacements);
      sorted.addPlacements(next.enter(ViewReader.file(row), this::stripeForState));
      store.putInode(idOf(row), sorted.build());
    }
  }

  /** Only the placement in use still means something. */
  private void keepPlacements(List<ViewPlacement> placements, Consumer<ViewPlacement> kept) {
    ViewPlacement placement = serving == null ? null : serving.placementIn(placements);
    if (placement != null) {
      kept.accept(placement);
    }
  }

  /** The sorting in use and the one that is being made. */
  private List<Sorting> sortings() {
    return Stream.of(serving, next).filter(Objects::nonNull).toList();
  }

  /** Visits the placements of a row that mean something. */
  private void eachPlacement(
      List<ViewPlacement> placements, BiConsumer<Sorting, ViewPlacement> visit) {
    for (Sorting sorting : sortings()) {
      ViewPlacement placement = sorting.placementIn(placements);
      if (placement != null) {
        visit.accept(sorting, placement);
      }
    }
  }

  // ---- files and directories --------------------------------------------------------------------

  /** Puts what the namenode has answered about these ids; an id without an answer is gone. */
  public synchronized void putInodes(Collection<Long> asked, ListFilesResponseProto answer) {
    Set<Long> gone = new HashSet<>(asked);
    Set<Long> directories = new HashSet<>();
    for (DirectoryStatusProto directory : answer.getDirectoriesList()) {
      gone.remove(directory.getDirectoryId());
      // The paths below may have changed, though the row of the directory does not tell.
      directories.add(directory.getDirectoryId());
      put(directory);
    }
    for (FileStatusProto file : answer.getFilesList()) {
      gone.remove(file.getFileId());
      put(file);
    }
    gone.forEach(this::remove);
    moveBelow(directories);
    settle();
  }

  /**
   * Puts the namenode's answer about directories whose pins have changed. Their paths are the same.
   * The entries of the directories are not visited here: {@link #spread} does that.
   */
  public synchronized void putPins(Collection<Long> asked, ListFilesResponseProto answer) {
    Set<Long> gone = new HashSet<>(asked);
    answer.getDirectoriesList().forEach(directory -> gone.remove(directory.getDirectoryId()));
    Set<Long> moved = putAll(answer.getDirectoriesList());
    gone.forEach(this::remove);
    moveBelow(moved);
    settle();
  }

  /** Puts a page of a reading of everything. */
  public synchronized void putPage(ListFilesResponseProto page) {
    withStripesReadOnce(
        () -> {
          Set<Long> moved = putAll(page.getDirectoriesList());
          putFiles(page.getFilesList());
          moveBelow(moved);
        });
    settle();
  }

  /** Files that follow each other are often in one directory, whose pin is found once. */
  private void putFiles(List<FileStatusProto> files) {
    pinsFoundOnce = new HashMap<>();
    try {
      files.forEach(this::put);
    } finally {
      pinsFoundOnce = null;
    }
  }

  /**
   * Does work on many files that changes no stripe but its pin. Files that follow each other often
   * share a stripe, which is read once for the states of all of them.
   */
  private void withStripesReadOnce(Runnable work) {
    stripesReadOnce = new HashMap<>();
    try {
      work.run();
    } finally {
      stripesReadOnce = null;
    }
  }

  /** A stripe as far as its code; null if there is none. */
  private StripeView stripeForState(long id) {
    return stripesReadOnce == null
        ? stripeInChange(id)
        : stripesReadOnce
            .computeIfAbsent(id, key -> Optional.ofNullable(stripeInChange(key)))
            .orElse(null);
  }

  private void put(FileStatusProto file) {
    long id = file.getFileId();
    ViewInodeRow old = store.inode(id);
    if (old != null && old.hasFile() && old.getFile().equals(file)) {
      if (old.getReading() != reading) {
        store.putInode(id, old.toBuilder().setReading(reading).build());
      }
      return;
    }
    enterDirectory(old, file.getParentId(), file.getPath(), id);
    change(old, file, reading);
  }

  /** Notes in which directory an inode is, and under which name. */
  private void enterDirectory(ViewInodeRow old, long parent, String path, long id) {
    String name = PathIndex.nameOf(path);
    if (old != null && (parentOf(old) != parent || !PathIndex.nameOf(old).equals(name))) {
      leaveDirectory(old, id);
    }
    if (old == null || parentOf(old) != parent) {
      listener.entered(id, parent, this::directoryOf);
    }
    store.putEntry(parent, name, id);
  }

  private long directoryOf(long id) {
    ViewInodeRow row = store.inode(id);
    return row == null ? InodeListener.NO_INODE : parentOf(row);
  }

  /**
   * Tells the listener the directories of inodes that it asks for: of so many at most.
   *
   * @return whether it asks for more
   */
  public synchronized boolean tellListener(int most) {
    return listener.catchUp(most, this::directoryOf);
  }

  private void leaveDirectory(ViewInodeRow row, long id) {
    store.deleteEntry(parentOf(row), PathIndex.nameOf(row), id);
  }

  /** Puts a file in the place of its old row, which may be null, or of a directory. */
  private void change(ViewInodeRow old, FileStatusProto file, long rowReading) {
    Pin pin = Pin.NONE;
    if (old != null && old.hasFile()) {
      leave(old);
      pin = Pin.of(old.hasPin(), old.getPin());
    }
    List<String> before = old == null ? List.of() : policiesOf(old.getPlacementsList());
    if (!policiesOf(enter(file, rowReading, pin)).equals(before)) {
      bindStripes(file.getStripeIdsList());
    }
  }

  /** The policies of a file, with the number of the sorting. */
  private List<String> policiesOf(List<ViewPlacement> placements) {
    List<String> names = new ArrayList<>();
    eachPlacement(
        placements,
        (sorting, placement) -> {
          if (placement.hasPolicy()) {
            names.add(sorting.number() + placement.getPolicy());
          }
        });
    return names;
  }

  private static long idOf(ViewInodeRow row) {
    return row.hasFile() ? row.getFile().getFileId() : row.getDirectory().getDirectoryId();
  }

  private static long parentOf(ViewInodeRow row) {
    return row.hasFile() ? row.getFile().getParentId() : row.getDirectory().getParentId();
  }

  /**
   * Adds a file to the sums and the indexes, and writes its row. Returns its placements.
   *
   * @param before the pin that its stripes know
   */
  private List<ViewPlacement> enter(FileStatusProto status, long rowReading, Pin before) {
    FileView file = ViewReader.file(status).withPin(pinOf(status));
    ViewInodeRow.Builder row = ViewInodeRow.newBuilder().setFile(status).setReading(rowReading);
    sortings().forEach(sorting -> row.addPlacements(sorting.enter(file, this::stripeForState)));
    if (file.pin() != Pin.NONE) {
      row.setPin(file.pin().message());
    }
    store.putInode(file.id(), row.build());
    // The stripes of a file that is pinned to replicas follow its replication, too.
    if (file.pin() != before || file.pin() == Pin.REPLICAS) {
      pinStripes(file.stripeIds());
    }
    return row.getPlacementsList();
  }

  /** Takes a file out of the sums and the indexes. */
  private void leave(ViewInodeRow row) {
    FileView file = ViewReader.file(row);
    eachPlacement(row.getPlacementsList(), (sorting, placement) -> sorting.leave(file, placement));
  }

  /** The code of a stripe of this file has changed. */
  private void enterAgain(long fileId) {
    ViewInodeRow row = store.inode(fileId);
    if (row != null && row.hasFile()) {
      leave(row);
      enter(row.getFile(), row.getReading(), Pin.of(row.hasPin(), row.getPin()));
    }
  }

  /** Puts directories. Returns the ids of those that have another path than before. */
  private Set<Long> putAll(List<DirectoryStatusProto> directories) {
    Set<Long> moved = new HashSet<>();
    for (DirectoryStatusProto directory : directories) {
      if (put(directory)) {
        moved.add(directory.getDirectoryId());
      }
    }
    return moved;
  }

  /** Returns whether the directory was known by another path. The rows below it stay. */
  private boolean put(DirectoryStatusProto directory) {
    long id = directory.getDirectoryId();
    ViewInodeRow old = store.inode(id);
    if (old != null && old.hasFile()) {
      leave(old);
    }
    enterDirectory(old, directory.getParentId(), directory.getPath(), id);
    store.putInode(
        id, ViewInodeRow.newBuilder().setDirectory(directory).setReading(reading).build());
    boolean moved = old != null && !old.getDirectory().getPath().equals(directory.getPath());
    if (mayHoldOtherPin(old, directory) || moved && directory.hasPin()) {
      spreadFrom(id, NO_NAME);
      movesAreLeft |= moved;
    }
    return moved;
  }

  /**
   * Gives the inodes below these directories the paths that they have there: so many inodes at
   * once. {@link #spread} gives the others their paths. Where one of the directories lies below
   * another one, the inodes are visited once.
   *
   * <p>While several renames become known one after the other, a directory may lie below itself for
   * a moment; the walk does not enter it again.
   */
  private void moveBelow(Set<Long> directories) {
    Set<Long> entered = TopDirectories.of(directories, this::directoryOf);
    Deque<Long> walk = new ArrayDeque<>(entered);
    int left = MOVED_AT_ONCE;
    while (!walk.isEmpty()) {
      long directory = walk.pop();
      byte[] after = NO_NAME;
      if (left > 0) {
        Looked looked =
            lookBelow(
                new ViewStore.Spread(directory, NO_NAME),
                left,
                Long.MAX_VALUE,
                child -> {
                  if (entered.add(child)) {
                    walk.push(child);
                  }
                });
        left -= looked.entries();
        after = looked.after();
      }
      if (after != null) {
        spreadFrom(directory, after);
        movesAreLeft = true;
      }
    }
  }

  /**
   * Whether inodes below renamed directories may still have their old paths. Waits for no writer.
   */
  public boolean movesAreLeft() {
    return movesAreLeft;
  }

  private void putPath(ViewInodeRow row, String path) {
    if (row.hasFile()) {
      // Nobody has listed the file: a reading of everything under way has to find it yet.
      change(row, row.getFile().toBuilder().setPath(path).build(), row.getReading());
    } else {
      store.putInode(
          idOf(row),
          row.toBuilder().setDirectory(row.getDirectory().toBuilder().setPath(path)).build());
      if (row.getDirectory().hasPin()) {
        spreadFrom(idOf(row), NO_NAME); // a later walk would not enter it, as its path is right now
      }
    }
  }

  /**
   * How many inodes were looked at, since the view was opened, because a directory above them may
   * have another path or pin. It grows while such a change is put, and waits for no writer.
   */
  public long walked() {
    return walked.sum();
  }

  /**
   * Removes one inode. The files below a deleted directory stay until the change stream tells of
   * their own deletion: some of them may have moved elsewhere before the directory was deleted.
   */
  private void remove(long id) {
    ViewInodeRow row = store.inode(id);
    if (row != null) {
      listener.left(id);
      leaveDirectory(row, id);
      store.deleteInode(id);
      if (row.hasFile()) {
        leave(row);
      }
    }
  }

  // ---- pins -------------------------------------------------------------------------------------

  /** The pin that holds for a file: its own, or that of the nearest directory that has one. */
  public synchronized Pin pinOf(FileStatusProto file) {
    return pinsFoundOnce == null
        ? PinResolver.of(file, this::directory)
        : PinResolver.of(file, this::directory, pinsFoundOnce);
  }

  private DirectoryStatusProto directory(long id) {
    ViewInodeRow row = store.inode(id);
    return row == null || row.hasFile() ? null : row.getDirectory();
  }

  /** Whether the entries of a directory may have another pin than by its old row, if any. */
  private boolean mayHoldOtherPin(ViewInodeRow old, DirectoryStatusProto now) {
    if (old == null || old.hasFile()) {
      // Its entries may have been put before it.
      return PinResolver.below(now.getDirectoryId(), this::directory) != Pin.NONE;
    }
    DirectoryStatusProto before = old.getDirectory();
    return before.hasPin() != now.hasPin()
        || before.getPin() != now.getPin()
        || before.getParentId() != now.getParentId();
  }

  /**
   * Gives inodes the paths and the pins that they have by the directories above them, which have
   * changed: looks at so many entries of directories, or at fewer if the time is over, and
   * remembers on disk where to go on. Readers of the view wait meanwhile.
   *
   * @return whether entries are left
   */
  public synchronized boolean spread(int mostEntries, Duration most) {
    if (!maySpread) {
      return false;
    }
    long end = System.nanoTime() + most.toNanos();
    int left = mostEntries;
    ViewStore.Spread next = nextSpread();
    boolean goesOn = true;
    while (next != null && left > 0 && goesOn) {
      Looked looked = lookBelow(next, left, end, child -> spreadFrom(child, NO_NAME));
      if (looked.after() == null) {
        store.deleteSpread(next.directory());
      } else {
        spreadFrom(next.directory(), looked.after());
      }
      left -= looked.entries();
      next = nextSpread();
      goesOn = System.nanoTime() < end;
    }
    settle();
    maySpread = next != null;
    movesAreLeft &= maySpread;
    return maySpread;
  }

  private void spreadFrom(long directory, byte[] after) {
    store.putSpread(directory, after);
    maySpread = true;
  }

  /**
   * The next directory in the order of ids, from the directory of the call before. A search from
   * the first id would pass over the rows of all directories that are done: RocksDB keeps their
   * marks of deletion for a while.
   */
  private ViewStore.Spread nextSpread() {
    ViewStore.Spread next = store.nextSpread(spreadsAt);
    if (next == null && spreadsAt > 0) {
      next = store.nextSpread(0);
    }
    spreadsAt = next == null ? 0 : next.directory();
    return next;
  }

  /**
   * What a step has done at a directory.
   *
   * @param entries how many it has looked at, and at least 1
   * @param after where the next step goes on; null if no entry is left
   */
  private record Looked(int entries, byte[] after) {}

  /**
   * Gives the entries of a directory the paths and the pins that they have there.
   *
   * @param below is told the directories among them whose own entries may have to follow
   */
  private Looked lookBelow(ViewStore.Spread from, int most, long endNanos, LongConsumer below) {
    DirectoryStatusProto directory = directory(from.directory());
    if (directory == null) {
      return new Looked(1, null);
    }
    List<Long> entries = new ArrayList<>();
    List<byte[]> names = new ArrayList<>();
    store.eachEntry(
        from.directory(),
        NO_NAME,
        from.after(),
        (name, id) -> {
          names.add(name);
          return entries.add(id) && entries.size() < most;
        });
    int looked = 0;
    while (looked < entries.size() && (looked == 0 || System.nanoTime() < endNanos)) {
      spreadTo(entries.get(looked++), directory.getPath(), below);
    }
    boolean all = looked == entries.size() && looked < most;
    return new Looked(Math.max(1, looked), all ? null : names.get(looked - 1));
  }

  private void spreadTo(long id, String directory, LongConsumer below) {
    walked.increment();
    ViewInodeRow row = store.inode(id);
    if (row == null) {
      return;
    }
    String path = (directory.equals("/") ? "" : directory) + "/" + PathIndex.nameOf(row);
    boolean moves = !path.equals(PathIndex.pathOf(row));
    if (moves && path.length() > MOST_PATH_CHARS) {
      return; // the directory lies below itself, until the rename of another one is known
    }
    if (moves) {
      putPath(row, path);
    } else if (row.hasFile() && pinOf(row.getFile()) != Pin.of(row.hasPin(), row.getPin())) {
      enterAgain(id);
    }
    if (!row.hasFile() && (moves || !row.getDirectory().hasPin())) {
      below.accept(id);
    }
  }

  /** The pin of a file of these stripes has changed. */
  private void pinStripes(List<Long> stripeIds) {
    for (long id : stripeIds) {
      ViewStripeRow row = store.stripe(id);
      if (row != null) {
        StripeView stripe = ViewReader.stripe(row);
        StripeView pinned = withPin(stripe);
        if (pinned.pin() != stripe.pin() || !pinned.leaving().equals(stripe.leaving())) {
          leave(stripe, row);
          enter(pinned, row.getStatus(), row.getReading());
        }
      }
    }
  }

  private static ViewStripeRow.Builder putPins(ViewStripeRow.Builder row, StripeView stripe) {
    row.clearPin().clearLeavingFileIds().addAllLeavingFileIds(stripe.leaving());
    return stripe.pin() == Pin.NONE ? row : row.setPin(stripe.pin().message());
  }

  /** The stripe with the pins that it has by the rows of its files. */
  private StripeView withPin(StripeView stripe) {
    return stripe.withPinsOf(
        stripe.fileIds().stream().map(this::file).filter(Objects::nonNull).toList());
  }

  /** Visits the stripes of a policy that are not as their files are pinned. */
  synchronized void eachPinned(String policy, long afterId, Predicate<Long> visit) {
    serving.eachPinned(policy, afterId, visit);
  }

  // ---- stripes ----------------------------------------------------------------------------------

  /** Puts what the namenode has answered about these ids; an id without an answer is gone. */
  public synchronized void putStripes(Collection<Long> asked, ListStripesResponseProto answer) {
    Set<Long> gone = new HashSet<>(asked);
    for (StripeStatusProto stripe : answer.getStripesList()) {
      gone.remove(stripe.getStripe().getId());
      put(stripe);
    }
    gone.forEach(this::removeStripe);
    settle();
  }

  private void put(StripeStatusProto status) {
    StripeView stripe = withPin(ViewReader.stripe(status));
    ViewStripeRow old = store.stripe(stripe.id());
    if (old != null) {
      leave(ViewReader.stripe(old), old);
    }
    enter(stripe, status, reading);
    if (old == null || !old.getStatus().getStripe().getCode().equals(stripe.code())) {
      stripe.fileIds().forEach(this::enterAgain);
    }
  }

  /** Adds a stripe to the sums and the indexes, and writes its row. */
  private void enter(StripeView stripe, StripeStatusProto status, long rowReading) {
    ViewStripeRow.Builder row = ViewStripeRow.newBuilder().setStatus(status).setReading(rowReading);
    sortings().forEach(sorting -> row.addPlacements(sorting.enter(stripe, this::fileInChange)));
    store.putStripe(stripe.id(), putPins(row, stripe).build());
  }

  /** Takes a stripe out of the sums and the indexes. */
  private void leave(StripeView stripe, ViewStripeRow row) {
    eachPlacement(
        row.getPlacementsList(), (sorting, placement) -> sorting.leave(stripe, placement));
  }

  /** The policy of a file has changed: stripes without a policy of their own follow their files. */
  private void bindStripes(List<Long> stripeIds) {
    for (long id : stripeIds) {
      StripeView known = stripeForState(id);
      if (known != null && sortings().stream().anyMatch(sorting -> sorting.followsFiles(known))) {
        ViewStripeRow row = store.stripe(id);
        StripeView stripe = ViewReader.stripe(row);
        leave(stripe, row);
        enter(stripe, row.getStatus(), row.getReading());
      }
    }
  }

  private void removeStripe(long id) {
    ViewStripeRow row = store.stripe(id);
    if (row != null) {
      StripeView stripe = ViewReader.stripe(row);
      leave(stripe, row);
      store.deleteStripe(id);
      stripe.fileIds().forEach(this::enterAgain);
    }
  }

  // ---- readings of everything -------------------------------------------------------------------

  /** Everything is going to be put, page by page; changes may be put meanwhile. */
  public synchronized void beginReading() {
    beganEmpty = store.isEmpty();
    reading++;
    store.putReading(reading);
    store.commit();
  }

  /**
   * Ends a reading: removes the rows that the reading has not put, step by step. Where there was no
   * row before the reading, it has put all of them.
   */
  public void endReading() {
    if (beganEmpty) {
      return;
    }
    long after = -1;
    do {
      after = dropInodes(after);
    } while (after >= 0);
    do {
      after = dropStripes(after);
    } while (after >= 0);
  }

  /** Returns the id to go on after; -1 at the end. */
  private synchronized long dropInodes(long after) {
    List<Long> gone = new ArrayList<>();
    long[] last = {-1, 0};
    store.eachInode(
        after,
        row -> {
          last[0] = idOf(row);
          if (row.getReading() != reading) {
            gone.add(last[0]);
          }
          return ++last[1] < DROP_STEP;
        });
    gone.forEach(this::remove);
    settle();
    return last[1] < DROP_STEP ? -1 : last[0];
  }

  private synchronized long dropStripes(long after) {
    List<Long> gone = new ArrayList<>();
    long[] last = {-1, 0};
    store.eachStripe(
        after,
        row -> {
          last[0] = row.getStatus().getStripe().getId();
          if (row.getReading() != reading) {
            gone.add(last[0]);
          }
          return ++last[1] < DROP_STEP;
        });
    gone.forEach(this::removeStripe);
    settle();
    return last[1] < DROP_STEP ? -1 : last[0];
  }

  // ---- reads ------------------------------------------------------------------------------------

  // These methods do not wait for whoever writes, and see the rows as they were written last.

  public boolean hasFile(long id) {
    ViewInodeRow row = store.committed().inode(id);
    return row != null && row.hasFile();
  }

  /** Null if there is no such file. */
  public FileView file(long id) {
    return file(store.committed().inode(id));
  }

  private static FileView file(ViewInodeRow row) {
    return row == null || !row.hasFile() ? null : ViewReader.file(row);
  }

  /**
   * A file with the pin that holds for it now, though the pin of a directory may not have spread to
   * its row yet. Null if there is no such file.
   *
   * @param pins what holds below the directories that were asked for before; receives more
   */
  synchronized FileView fileWithPin(long id, Map<Long, Pin> pins) {
    ViewInodeRow row = store.inode(id);
    if (row == null || !row.hasFile()) {
      return null;
    }
    return ViewReader.file(row.getFile())
        .withPin(PinResolver.of(row.getFile(), this::directory, pins));
  }

  /** Null if there is no such stripe. */
  public StripeView stripe(long id) {
    return stripe(store.committed().stripe(id));
  }

  private static StripeView stripe(ViewStripeRow row) {
    return row == null ? null : ViewReader.stripe(row);
  }

  private FileView fileInChange(long id) {
    return file(store.inode(id));
  }

  private StripeView stripeInChange(long id) {
    return stripe(store.stripe(id));
  }

  /** The file or directory at a path; empty if there is none. "/" is a directory without an id. */
  public Optional<InodeView> at(String path) {
    return paths.at(path).map(InodeView::of).or(() -> InodeView.rootAt(path));
  }

  /** The directories on the way to a path, "/" first, as far as they exist. */
  public List<InodeView> directoriesAbove(String path) {
    List<InodeView> found = new ArrayList<>(InodeView.rootAt("/").stream().toList());
    paths.along(path.substring(0, path.lastIndexOf('/') + 1)).stream()
        .map(InodeView::of)
        .filter(InodeView::isDirectory)
        .forEach(found::add);
    return found;
  }

  /**
   * A page of the entries of a directory, by name.
   *
   * @param begin only entries whose names begin so
   * @param after where the page before has ended; null for the first page
   */
  public InodePage entries(String path, String begin, byte[] after, int limit) {
    Optional<ViewInodeRow> directory = paths.at(path);
    boolean exists = directory.isPresent() || InodeView.rootAt(path).isPresent();
    return exists && directory.filter(ViewInodeRow::hasFile).isEmpty()
        ? paths.entries(directory, begin, after == null ? ViewStore.FROM_START : after, limit)
        : new InodePage(List.of(), null);
  }

  /** A page of the files and directories anywhere whose names begin so, by name. */
  public InodePage named(String begin, byte[] after, int limit) {
    return paths.named(begin, after == null ? ViewStore.FROM_START : after, limit);
  }

  /**
   * Visits the files at and below a path; return false to stop.
   *
   * @param most so many files and directories are looked at
   * @return whether all were looked at
   */
  public boolean eachFileBelow(String path, int most, Predicate<FileView> visitor) {
    return paths.eachFileBelow(path, most, visitor);
  }

  /** The sums by policy, as the policies in use sort; empty while there are none. */
  public synchronized Map<String, PolicySums> sums() {
    return serving == null ? Map.of() : serving.sums();
  }

  /** Visits the files among so many inodes, by id. Returns the id to go on after; -1 at the end. */
  public long eachFile(long afterId, int mostInodes, Consumer<FileView> visitor) {
    return eachFile(afterId, mostInodes, id -> true, visitor);
  }

  /**
   * Visits those files among so many inodes whose ids are wanted, by id. The rows of the others are
   * not read. Returns the id to go on after; -1 at the end.
   */
  long eachFile(long afterId, int mostInodes, LongPredicate wanted, Consumer<FileView> visitor) {
    long[] last = {-1, 0};
    store
        .committed()
        .eachInodeId(
            afterId,
            (id, row) -> {
              last[0] = id;
              ViewInodeRow inode = wanted.test(id) ? row.get() : null;
              if (inode != null && inode.hasFile()) {
                visitor.accept(ViewReader.file(inode));
              }
              return ++last[1] < mostInodes;
            });
    return last[1] < mostInodes ? -1 : last[0];
  }

  /** Visits so many stripes, by id. Returns the id to go on after; -1 at the end. */
  long eachStripe(long afterId, int most, Consumer<StripeView> visitor) {
    long[] last = {-1, 0};
    store
        .committed()
        .eachStripe(
            afterId,
            row -> {
              last[0] = row.getStatus().getStripe().getId();
              visitor.accept(ViewReader.stripe(row));
              return ++last[1] < most;
            });
    return last[1] < most ? -1 : last[0];
  }

  /** Visits the files of a policy that have to be encoded, the one that was written first first. */
  synchronized void eachDue(String policy, ViewStore.DueVisitor visitor) {
    serving.eachDue(policy, visitor);
  }

  /** The same from a file on; files of one time come by their ids. */
  synchronized void eachDueFrom(
      String policy, long modifiedMillis, long fileId, ViewStore.DueVisitor visitor) {
    serving.eachDueFrom(policy, modifiedMillis, fileId, visitor);
  }

  /** The stripes in the group of a stripe; empty if it cannot merge with them. */
  public synchronized List<Long> groupOf(long stripeId) {
    ViewStripeRow row = store.stripe(stripeId);
    ViewPlacement placement =
        row == null || serving == null ? null : serving.placementIn(row.getPlacementsList());
    return placement == null || !placement.hasPolicy()
        ? List.of()
        : serving.groupOf(ViewReader.stripe(row), placement);
  }

  /** Visits stripes of a policy from a group on. */
  synchronized void eachStripe(
      StripeIndex index, String policy, long fromGroup, ViewStore.StripeVisitor visitor) {
    serving.eachStripe(index, policy, fromGroup, visitor);
  }

  /** The first stripes of a policy with space to free, the cheapest first. */
  synchronized List<Long> worn(String policy, int most) {
    return serving.worn(policy, most);
  }

  /** Counts the files that have to be encoded and were written after a time. */
  public synchronized PolicySums.Count newerThan(String policy, long millis) {
    return serving == null ? PolicySums.Count.NONE : serving.newerThan(policy, millis);
  }

  @Override
  public synchronized void close() {
    if (!store.isClosed()) {
      settle();
    }
    store.close();
  }
}
