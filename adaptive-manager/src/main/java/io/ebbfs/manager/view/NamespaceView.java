package io.ebbfs.manager.view;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.view.ViewStore.StripeIndex;
import io.ebbfs.protocol.proto.CodingProtos.DirectoryStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.ManagerProtos.ViewInodeRow;
import io.ebbfs.protocol.proto.ManagerProtos.ViewPositionRow;
import io.ebbfs.protocol.proto.ManagerProtos.ViewStripeRow;
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
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The manager's own copy of the namespace. It has the files, directories and stripes with their
 * policies, indexes in the order in which a run of the policies takes files and stripes, and the
 * sums over all files and stripes. A follower of the change stream puts each changed row into the
 * view. The view lies on disk, and its memory does not grow with the number of files. Thread-safe.
 *
 * <p>Whoever fills it puts the stripes of a page or an event before the files, so that the state of
 * a file is known at once; the other order costs more and gives the same.
 */
public final class NamespaceView implements AutoCloseable {
  /** Changes when there are other indexes: a view of an earlier release is sorted anew. */
  private static final String INDEXES = "due, fast, worn, other, pinned\n";

  private static final byte[] NO_NAME = {};

  private final ViewStore store;
  private final PathIndex paths;
  private final CodeRegistry codes;
  private final Map<String, PolicySums> sums = new HashMap<>();
  private final Map<String, NewFiles> newFiles = new HashMap<>();
  private PolicySet policies;
  private ViewPositionRow position;
  private long reading;
  private long files;
  // Where the spreading of pins goes on.
  private long spreadFrom;

  private NamespaceView(ViewStore store, CodeRegistry codes, PolicySet policies) {
    this.store = store;
    this.paths = new PathIndex(store);
    this.codes = codes;
    this.policies = policies;
    this.position = store.position();
  }

  /**
   * Opens the view, and sorts its rows by the policies.
   *
   * @throws IOException if the directory cannot be used
   */
  public static NamespaceView open(Path directory, PolicySet policies, CodeRegistry codes)
      throws IOException {
    NamespaceView view = new NamespaceView(ViewStore.open(directory), codes, policies);
    view.sort();
    return view;
  }

  // ---- position ---------------------------------------------------------------------------------

  /** How far the view follows the change stream; empty if it was never filled. */
  public synchronized Optional<ViewPositionRow> position() {
    return Optional.ofNullable(position);
  }

  /** All changes before this position are in the view. */
  public synchronized void setPosition(ViewPositionRow next) {
    position = next;
    store.putPosition(next);
    store.commit();
  }

  /** The number of files. */
  public synchronized long files() {
    return files;
  }

  // ---- policies ---------------------------------------------------------------------------------

  /** Sorts all rows by other policies, if they differ from those of now. */
  public synchronized void usePolicies(PolicySet next) {
    boolean sorted = sortedBy(next).equals(sortedBy(policies));
    policies = next;
    if (!sorted) {
      sort();
    }
  }

  public synchronized PolicySet policies() {
    return policies;
  }

  /** What of the policies tells where files and stripes belong. */
  private static String sortedBy(PolicySet policies) {
    StringBuilder text = new StringBuilder(INDEXES);
    for (PolicyRule rule : policies.rules()) {
      text.append(rule.name())
          .append(rule.files().show())
          .append(rule.showCodes())
          .append(rule.minFileBytes())
          .append('\n');
    }
    return text.toString();
  }

  /** Sorts all rows anew unless the policies are those of before; only counts them then. */
  private void sort() {
    boolean sorted = store.sortedBy().equals(sortedBy(policies));
    if (!sorted) {
      store.putSortedBy(""); // so that a sort that a crash ends is begun again
      store.clearIndexes();
    }
    sums.clear();
    newFiles.clear();
    files = 0;
    store.eachStripe(
        row -> {
          reading = Math.max(reading, row.getReading());
          StripeView stripe = ViewReader.stripe(row);
          if (sorted) {
            sumsOf(ruleOf(row)).add(stripe, ruleOf(row), codes, 1);
          } else {
            enter(stripe, row);
          }
          return true;
        });
    store.eachInode(
        -1,
        row -> {
          reading = Math.max(reading, row.getReading());
          if (row.hasFile()) {
            files++;
            if (sorted) {
              FileState state = FileState.valueOf(row.getState());
              sumsOf(ruleOf(row)).add(ViewReader.file(row), state, 1);
            } else {
              enter(row.getFile(), row.getReading(), Pin.of(row.hasPin(), row.getPin()));
            }
          }
          return true;
        });
    store.putSortedBy(sortedBy(policies));
    store.commit();
  }

  private PolicySums sumsOf(PolicyRule rule) {
    return PolicySums.of(sums, rule);
  }

  private PolicyRule ruleNamed(String name) {
    return policies.named(name).orElse(null);
  }

  private PolicyRule ruleOf(ViewInodeRow row) {
    return row.hasPolicy() ? ruleNamed(row.getPolicy()) : null;
  }

  private PolicyRule ruleOf(ViewStripeRow row) {
    return row.hasPolicy() ? ruleNamed(row.getPolicy()) : null;
  }

  // ---- files and directories --------------------------------------------------------------------

  /** Puts what the namenode has answered about these ids; an id without an answer is gone. */
  public synchronized void putInodes(Collection<Long> asked, ListFilesResponseProto answer) {
    Set<Long> gone = new HashSet<>(asked);
    for (DirectoryStatusProto directory : answer.getDirectoriesList()) {
      gone.remove(directory.getDirectoryId());
      put(directory, true);
    }
    for (FileStatusProto file : answer.getFilesList()) {
      gone.remove(file.getFileId());
      put(file);
    }
    gone.forEach(this::remove);
    store.commit();
  }

  /**
   * Puts the namenode's answer about directories whose pins have changed. Their paths are the same.
   * The entries of the directories are not visited here: {@link #spreadPins} does that.
   */
  public synchronized void putPins(Collection<Long> asked, ListFilesResponseProto answer) {
    Set<Long> gone = new HashSet<>(asked);
    for (DirectoryStatusProto directory : answer.getDirectoriesList()) {
      gone.remove(directory.getDirectoryId());
      put(directory, false);
    }
    gone.forEach(this::remove);
    store.commit();
  }

  /** Puts a page of a reading of everything. */
  public synchronized void putPage(ListFilesResponseProto page) {
    page.getDirectoriesList().forEach(directory -> put(directory, false));
    page.getFilesList().forEach(this::put);
    store.commit();
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
    store.putEntry(parent, name, id);
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
    } else {
      files++;
    }
    String policy = enter(file, rowReading, pin);
    if (!policy.equals(old == null ? "" : old.getPolicy())) {
      bindStripes(file.getStripeIdsList());
    }
  }

  private static long idOf(ViewInodeRow row) {
    return row.hasFile() ? row.getFile().getFileId() : row.getDirectory().getDirectoryId();
  }

  private static long parentOf(ViewInodeRow row) {
    return row.hasFile() ? row.getFile().getParentId() : row.getDirectory().getParentId();
  }

  /**
   * Adds a file to the sums and the index, and writes its row. Returns its policy, or "".
   *
   * @param before the pin that its stripes know
   */
  private String enter(FileStatusProto status, long rowReading, Pin before) {
    FileView file = ViewReader.file(status).withPin(pinOf(status));
    PolicyRule rule = file.policyOf(policies).orElse(null);
    FileState state = FileStates.of(file, rule, this::stripe);
    ViewInodeRow.Builder row =
        ViewInodeRow.newBuilder().setFile(status).setState(state.name()).setReading(rowReading);
    if (rule != null) {
      row.setPolicy(rule.name());
    }
    if (file.pin() != Pin.NONE) {
      row.setPin(file.pin().message());
    }
    store.putInode(file.id(), row.build());
    if (file.pin() != before) {
      pinStripes(file.stripeIds());
    }
    sumsOf(rule).add(file, state, 1);
    if (state == FileState.WAITING) {
      store.putDue(rule.name(), file.modifiedMillis(), file.id(), file.lengthBytes());
      newFilesOf(rule.name()).note(file.modifiedMillis(), file.lengthBytes(), 1);
    }
    return row.getPolicy();
  }

  /** Takes a file out of the sums and the index. */
  private void leave(ViewInodeRow row) {
    FileView file = ViewReader.file(row);
    FileState state = FileState.valueOf(row.getState());
    sumsOf(ruleOf(row)).add(file, state, -1);
    if (state == FileState.WAITING) {
      store.deleteDue(row.getPolicy(), file.modifiedMillis(), file.id());
      newFilesOf(row.getPolicy()).note(file.modifiedMillis(), file.lengthBytes(), -1);
    }
  }

  /** The code of a stripe of this file has changed. */
  private void enterAgain(long fileId) {
    ViewInodeRow row = store.inode(fileId);
    if (row != null && row.hasFile()) {
      leave(row);
      enter(row.getFile(), row.getReading(), Pin.of(row.hasPin(), row.getPin()));
    }
  }

  /**
   * @param walk whether the paths below may have changed, though the row of the directory does not
   *     tell
   */
  private void put(DirectoryStatusProto directory, boolean walk) {
    long id = directory.getDirectoryId();
    ViewInodeRow old = store.inode(id);
    if (old != null && old.hasFile()) {
      files--;
      leave(old);
    }
    enterDirectory(old, directory.getParentId(), directory.getPath(), id);
    store.putInode(
        id, ViewInodeRow.newBuilder().setDirectory(directory).setReading(reading).build());
    if (mayHoldOtherPin(old, directory)) {
      store.putSpread(id, NO_NAME);
    }
    if (walk || old != null && !old.getDirectory().getPath().equals(directory.getPath())) {
      for (long child : store.children(id)) {
        move(child, directory.getPath());
      }
    }
  }

  /** Gives an inode the path that it has in a directory, and all inodes below it. */
  private void move(long id, String directory) {
    Deque<Map.Entry<Long, String>> left = new ArrayDeque<>(List.of(Map.entry(id, directory)));
    while (!left.isEmpty()) {
      Map.Entry<Long, String> next = left.pop();
      ViewInodeRow row = store.inode(next.getKey());
      if (row == null) {
        continue;
      }
      String old = row.hasFile() ? row.getFile().getPath() : row.getDirectory().getPath();
      String path = next.getValue() + old.substring(old.lastIndexOf('/'));
      if (row.hasFile()) {
        if (!path.equals(old)) {
          // Nobody has listed the file: a reading of everything under way has to find it yet.
          change(row, row.getFile().toBuilder().setPath(path).build(), row.getReading());
        }
      } else {
        store.putInode(
            next.getKey(),
            row.toBuilder().setDirectory(row.getDirectory().toBuilder().setPath(path)).build());
        store.children(next.getKey()).forEach(child -> left.push(Map.entry(child, path)));
      }
    }
  }

  /**
   * Removes one inode. The files below a deleted directory stay until the change stream tells of
   * their own deletion: some of them may have moved elsewhere before the directory was deleted.
   */
  private void remove(long id) {
    ViewInodeRow row = store.inode(id);
    if (row != null) {
      leaveDirectory(row, id);
      store.deleteInode(id);
      if (row.hasFile()) {
        files--;
        leave(row);
      }
    }
  }

  // ---- pins -------------------------------------------------------------------------------------

  /** The pin that holds for a file: its own, or that of the nearest directory that has one. */
  public synchronized Pin pinOf(FileStatusProto file) {
    return PinResolver.of(file, this::directory);
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
   * Gives files the pins of the directories above them that have changed: looks at so many entries
   * of directories, or at fewer if the time is over, and remembers on disk where to go on. Readers
   * of the view wait meanwhile.
   *
   * @return whether entries are left
   */
  public synchronized boolean spreadPins(int mostEntries, Duration most) {
    long end = System.nanoTime() + most.toNanos();
    int left = mostEntries;
    ViewStore.Spread next = nextSpread();
    boolean goesOn = true;
    while (next != null && left > 0 && goesOn) {
      left -= spread(next, left, end);
      next = nextSpread();
      goesOn = System.nanoTime() < end;
    }
    store.commit();
    return next != null;
  }

  /**
   * The next directory in the order of ids, from the directory of the call before. A search from
   * the first id would pass over the rows of all directories that are done: RocksDB keeps their
   * marks of deletion for a while.
   */
  private ViewStore.Spread nextSpread() {
    ViewStore.Spread next = store.nextSpread(spreadFrom);
    if (next == null && spreadFrom > 0) {
      next = store.nextSpread(0);
    }
    spreadFrom = next == null ? 0 : next.directory();
    return next;
  }

  /** Returns how many entries it has looked at, and at least 1. */
  private int spread(ViewStore.Spread from, int most, long endNanos) {
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
      spreadTo(entries.get(looked++));
    }
    if (looked == entries.size() && looked < most) {
      store.deleteSpread(from.directory());
    } else {
      store.putSpread(from.directory(), names.get(looked - 1));
    }
    return Math.max(1, looked);
  }

  private void spreadTo(long id) {
    ViewInodeRow row = store.inode(id);
    if (row == null) {
      return;
    }
    if (!row.hasFile()) {
      if (!row.getDirectory().hasPin()) {
        store.putSpread(id, NO_NAME);
      }
    } else if (pinOf(row.getFile()) != Pin.of(row.hasPin(), row.getPin())) {
      enterAgain(id);
    }
  }

  /** The pin of a file of these stripes has changed. */
  private void pinStripes(List<Long> stripeIds) {
    for (long id : stripeIds) {
      ViewStripeRow row = store.stripe(id);
      if (row != null) {
        StripeView stripe = ViewReader.stripe(row);
        StripeView pinned = withPin(stripe);
        if (pinned.pin() != stripe.pin()) {
          leave(stripe, row);
          ViewStripeRow.Builder changed = row.toBuilder().clearPin();
          if (pinned.pin() != Pin.NONE) {
            changed.setPin(pinned.pin().message());
          }
          store.putStripe(id, changed.build());
          enterIndex(pinned, ruleOf(row));
        }
      }
    }
  }

  /** The stripe with the pin that it has by the rows of its files. */
  private StripeView withPin(StripeView stripe) {
    List<Pin> pins = new ArrayList<>();
    for (long id : stripe.fileIds()) {
      ViewInodeRow row = store.inode(id);
      if (row != null) {
        pins.add(Pin.of(row.hasPin(), row.getPin()));
      }
    }
    return stripe.withPin(StripeView.pinOf(pins));
  }

  /** Whether a stripe is in the one code of its policy and pinned to the other one. */
  private static boolean isMisplaced(StripeView stripe, PolicyRule rule) {
    if (rule == null || rule.isSingle() || stripe.pin() == Pin.NONE) {
      return false;
    }
    return stripe
        .code()
        .equals(stripe.pin() == Pin.FAST ? rule.family().compact() : rule.family().fast());
  }

  /** Visits the stripes of a policy that are not in the code that they are pinned to. */
  synchronized void eachPinned(String policy, long afterId, Predicate<Long> visit) {
    store.eachPinned(policy, afterId, visit);
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
    store.commit();
  }

  private void put(StripeStatusProto status) {
    StripeView stripe = withPin(ViewReader.stripe(status));
    ViewStripeRow old = store.stripe(stripe.id());
    if (old != null) {
      leave(ViewReader.stripe(old), old);
    }
    PolicyRule rule = ruleOf(stripe);
    ViewStripeRow.Builder row = ViewStripeRow.newBuilder().setStatus(status).setReading(reading);
    if (rule != null) {
      row.setPolicy(rule.name());
    }
    if (stripe.pin() != Pin.NONE) {
      row.setPin(stripe.pin().message());
    }
    store.putStripe(stripe.id(), row.build());
    enterIndex(stripe, rule);
    if (old == null || !old.getStatus().getStripe().getCode().equals(stripe.code())) {
      stripe.fileIds().forEach(this::enterAgain);
    }
  }

  /** Enters a stripe whose row exists, as its policy is now. */
  private void enter(StripeView stripe, ViewStripeRow row) {
    PolicyRule rule = ruleOf(stripe);
    ViewStripeRow.Builder changed = row.toBuilder().clearPolicy();
    if (rule != null) {
      changed.setPolicy(rule.name());
    }
    if (!changed.getPolicy().equals(row.getPolicy())) {
      store.putStripe(stripe.id(), changed.build());
    }
    enterIndex(stripe, rule);
  }

  /** The policies of files follow from their rows, since a sort comes to their rows later. */
  private PolicyRule ruleOf(StripeView stripe) {
    return PolicyOfStripe.find(
            policies,
            stripe,
            id -> {
              FileView file = file(id);
              return file == null ? null : file.policyOf(policies).orElse(null);
            })
        .orElse(null);
  }

  private void enterIndex(StripeView stripe, PolicyRule rule) {
    sumsOf(rule).add(stripe, rule, codes, 1);
    indexOf(stripe, rule)
        .ifPresent(index -> store.putStripe(index, rule.name(), groupOf(stripe), stripe.id()));
    price(stripe, rule).ifPresent(price -> store.putWorn(rule.name(), price, stripe.id()));
    if (isMisplaced(stripe, rule)) {
      store.putPinned(rule.name(), stripe.id());
    }
  }

  private void leave(StripeView stripe, ViewStripeRow row) {
    PolicyRule rule = ruleOf(row);
    sumsOf(rule).add(stripe, rule, codes, -1);
    indexOf(stripe, rule)
        .ifPresent(index -> store.deleteStripe(index, rule.name(), groupOf(stripe), stripe.id()));
    price(stripe, rule).ifPresent(price -> store.deleteWorn(rule.name(), price, stripe.id()));
    if (isMisplaced(stripe, rule)) {
      store.deletePinned(rule.name(), stripe.id());
    }
  }

  /** What it costs to free space of a stripe, in thousandths; empty if none is to be freed. */
  private OptionalLong price(StripeView stripe, PolicyRule rule) {
    if (rule == null || rule.isSingle() || !rule.family().has(stripe.code())) {
      return OptionalLong.empty(); // without a bound, or on its way into another code
    }
    OptionalDouble price =
        codes
            .find(stripe.code())
            .map(code -> Wear.price(stripe, code))
            .orElse(OptionalDouble.empty());
    return price.isEmpty()
        ? OptionalLong.empty()
        : OptionalLong.of((long) (1_000 * price.getAsDouble()));
  }

  private static Optional<StripeIndex> indexOf(StripeView stripe, PolicyRule rule) {
    if (rule == null) {
      return Optional.empty();
    }
    if (!rule.family().has(stripe.code())) {
      return Optional.of(StripeIndex.OTHER_CODE);
    }
    boolean fast = !rule.isSingle() && stripe.code().equals(rule.family().fast());
    return fast ? Optional.of(StripeIndex.FAST) : Optional.empty();
  }

  private static long groupOf(StripeView stripe) {
    return stripe.groupId() != 0 ? stripe.groupId() : -stripe.id();
  }

  /** The policy of a file has changed: stripes without a policy of their own follow their files. */
  private void bindStripes(List<Long> stripeIds) {
    for (long id : stripeIds) {
      ViewStripeRow row = store.stripe(id);
      if (row != null && ruleNamed(row.getStatus().getStripe().getPolicy()) == null) {
        StripeView stripe = ViewReader.stripe(row);
        leave(stripe, row);
        enter(stripe, row);
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
    reading++;
  }

  /** Ends a reading: removes the rows that the reading has not put. */
  public synchronized void endReading() {
    List<Long> gone = new ArrayList<>();
    store.eachInode(
        -1,
        row -> {
          if (row.getReading() != reading) {
            gone.add(idOf(row));
          }
          return true;
        });
    gone.forEach(this::remove);
    gone.clear();
    store.eachStripe(
        row -> {
          if (row.getReading() != reading) {
            gone.add(row.getStatus().getStripe().getId());
          }
          return true;
        });
    gone.forEach(this::removeStripe);
    store.commit();
  }

  // ---- reads ------------------------------------------------------------------------------------

  public synchronized boolean hasFile(long id) {
    ViewInodeRow row = store.inode(id);
    return row != null && row.hasFile();
  }

  /** Null if there is no such file. */
  public synchronized FileView file(long id) {
    ViewInodeRow row = store.inode(id);
    return row == null || !row.hasFile() ? null : ViewReader.file(row);
  }

  /** Null if there is no such stripe. */
  public synchronized StripeView stripe(long id) {
    ViewStripeRow row = store.stripe(id);
    return row == null ? null : ViewReader.stripe(row);
  }

  /** The file or directory at a path; empty if there is none. "/" is a directory without an id. */
  public synchronized Optional<InodeView> at(String path) {
    return paths.at(path).map(InodeView::of).or(() -> InodeView.rootAt(path));
  }

  /**
   * A page of the entries of a directory, by name.
   *
   * @param begin only entries whose names begin so
   * @param after where the page before has ended; null for the first page
   */
  public synchronized InodePage entries(String path, String begin, byte[] after, int limit) {
    Optional<ViewInodeRow> directory = paths.at(path);
    boolean exists = directory.isPresent() || InodeView.rootAt(path).isPresent();
    return exists && directory.filter(ViewInodeRow::hasFile).isEmpty()
        ? paths.entries(directory, begin, after == null ? ViewStore.FROM_START : after, limit)
        : new InodePage(List.of(), null);
  }

  /** A page of the files and directories anywhere whose names begin so, by name. */
  public synchronized InodePage named(String begin, byte[] after, int limit) {
    return paths.named(begin, after == null ? ViewStore.FROM_START : after, limit);
  }

  /** Visits the files at and below a path; return false to stop. */
  public synchronized void eachFileBelow(String path, Predicate<FileView> visitor) {
    paths.eachFileBelow(path, visitor);
  }

  /** The sums by policy. */
  public synchronized Map<String, PolicySums> sums() {
    Map<String, PolicySums> copies = new HashMap<>();
    sums.forEach((policy, of) -> copies.put(policy, of.copy()));
    return copies;
  }

  /** Visits the files among so many inodes, by id. Returns the id to go on after; -1 at the end. */
  public synchronized long eachFile(long afterId, int mostInodes, Consumer<FileView> visitor) {
    long[] last = {-1, 0};
    store.eachInode(
        afterId,
        row -> {
          if (last[1] == mostInodes) {
            return false;
          }
          last[1]++;
          last[0] = idOf(row);
          if (row.hasFile()) {
            visitor.accept(ViewReader.file(row));
          }
          return true;
        });
    return last[1] < mostInodes ? -1 : last[0];
  }

  /** All files and stripes at once: for small clusters. */
  public synchronized void all(Collection<FileView> allFiles, Map<Long, StripeView> allStripes) {
    store.eachInode(
        -1,
        row -> {
          if (row.hasFile()) {
            allFiles.add(ViewReader.file(row));
          }
          return true;
        });
    store.eachStripe(
        row -> {
          StripeView stripe = ViewReader.stripe(row);
          allStripes.put(stripe.id(), stripe);
          return true;
        });
  }

  /** Visits the files of a policy that have to be encoded, the one that was written first first. */
  synchronized void eachDue(String policy, ViewStore.DueVisitor visitor) {
    store.eachDue(policy, -1, visitor);
  }

  /** The stripes in the group of a stripe; empty if it cannot merge with them. */
  public synchronized List<Long> groupOf(long stripeId) {
    ViewStripeRow row = store.stripe(stripeId);
    List<Long> ids = new ArrayList<>();
    if (row != null && row.hasPolicy()) {
      StripeView stripe = ViewReader.stripe(row);
      long group = groupOf(stripe);
      indexOf(stripe, ruleOf(row))
          .ifPresent(
              index ->
                  store.eachStripe(
                      index, row.getPolicy(), group, (of, id) -> of == group && ids.add(id)));
    }
    return ids;
  }

  /** Visits stripes of a policy from a group on. */
  synchronized void eachStripe(
      StripeIndex index, String policy, long fromGroup, ViewStore.StripeVisitor visitor) {
    store.eachStripe(index, policy, fromGroup, visitor);
  }

  /** The first stripes of a policy with space to free, the cheapest first. */
  synchronized List<Long> worn(String policy, int most) {
    return store.worn(policy, most);
  }

  /** Counts the files that have to be encoded and were written after a time. */
  public synchronized PolicySums.Count newerThan(String policy, long millis) {
    return newFilesOf(policy).newerThan(millis);
  }

  private NewFiles newFilesOf(String policy) {
    return newFiles.computeIfAbsent(policy, NewFiles::new);
  }

  /** Counts files that were written after a time that moves on; so each file is visited once. */
  private final class NewFiles {
    private final String policy;
    private long sinceMillis = Long.MAX_VALUE;
    private PolicySums.Count count = PolicySums.Count.NONE;

    NewFiles(String policy) {
      this.policy = policy;
    }

    void note(long modifiedMillis, long bytes, int sign) {
      if (modifiedMillis > sinceMillis) {
        count = count.plus(new PolicySums.Count(sign, sign * bytes));
      }
    }

    PolicySums.Count newerThan(long millis) {
      boolean onwards = millis >= sinceMillis;
      PolicySums.Count[] sum = {onwards ? count : PolicySums.Count.NONE};
      store.eachDue(
          policy,
          onwards ? sinceMillis : millis,
          (modified, id, bytes) -> {
            if (onwards && modified > millis) {
              return false;
            }
            int sign = onwards ? -1 : 1;
            sum[0] = sum[0].plus(new PolicySums.Count(sign, sign * bytes));
            return true;
          });
      sinceMillis = millis;
      count = sum[0];
      return count;
    }
  }

  @Override
  public synchronized void close() {
    store.close();
  }
}
