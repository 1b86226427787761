package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.io.TruncateService;
import io.ebbfs.namenode.rpc.client.FileServices;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.HadoopIllegalArgumentException;

/**
 * The clients: they write, append, rename and delete files by the namenode's own services. Some
 * write a whole file at once, and some are in the middle of a file while other events happen. A
 * writer that dies leaves its file to the namenode's lease recovery.
 */
final class SimClient {
  private static final int MOST_WRITERS = 3;
  private static final int MOST_STEPS = 200;

  private final SimCluster cluster;
  private final Oracle oracle;
  private final Random random;
  private final EventCounts events;
  private final List<SimWriter> writers = new ArrayList<>();
  // Where clients know their files. Of others, a call without an answer has perhaps moved the file.
  private final Map<Long, String> paths = new TreeMap<>();
  // Files whose names a call is about to change.
  private final Set<Long> inCall = new TreeSet<>();
  // Files that are gone or may be, though a writer may not have noticed it. Another file may have
  // the name of such a file.
  private final Set<Long> deleted = new HashSet<>();
  // Names that were free when the last call that concerned them was answered.
  private final List<String> free = new ArrayList<>();
  private final boolean reusesNames;
  private int named;

  /**
   * @param reusesNames whether new files get the names of files that are gone
   */
  SimClient(
      SimCluster cluster, Oracle oracle, Random random, EventCounts events, boolean reusesNames) {
    this.reusesNames = reusesNames;
    this.cluster = cluster;
    this.oracle = oracle;
    this.random = random;
    this.events = events;
  }

  /** Lets servers report what they have received. */
  interface Reports {
    void send() throws IOException;
  }

  /** A call of a client. It may run twice, and late: it holds everything that it needs. */
  @FunctionalInterface
  interface Call<R> {
    R run(FileServices files, Caller caller) throws IOException;
  }

  /** The namenode, or several, as clients reach them. */
  interface Namenode {
    <R> R call(Call<R> call) throws IOException;

    /** A writer lives. */
    void renewLease(String writer) throws IOException;

    /** Whether clients ask for blocks of one byte, so that disks become full. */
    boolean isTight();

    default long blockSize(int maxLength) {
      return isTight() ? 1 : maxLength;
    }
  }

  private String newName() {
    return reusesNames && !free.isEmpty() && random.nextInt(4) > 0
        ? free.remove(random.nextInt(free.size()))
        : "/file-" + named++;
  }

  private SimWriter writer(String path, int blocks, int maxLength) {
    return new SimWriter("client-" + named++, path, cluster, oracle, random, blocks, maxLength);
  }

  // ---- write ------------------------------------------------------------------------------------

  /** Writes a whole file. No other event happens meanwhile, but the heartbeats of servers. */
  void write(Namenode namenode, Reports reports, int blocks, int maxLength) throws IOException {
    SimWriter writer = create(namenode, blocks, maxLength);
    for (int step = 0; step < MOST_STEPS && !writer.isOver(); step++) {
      writer.step(namenode);
      reports.send();
    }
    writer.die();
  }

  /** Begins a file, or begins to append to one. */
  void open(Namenode namenode, int blocks, int maxLength) throws IOException {
    if (writers.size() >= MOST_WRITERS) {
      return;
    }
    List<Long> closed = new ArrayList<>(oracle.acknowledgedFiles());
    if (closed.isEmpty() || random.nextBoolean()) {
      events.add("client creates a file");
      writers.add(create(namenode, blocks, maxLength));
      return;
    }
    events.add("client appends to a file");
    long file = closed.get(random.nextInt(closed.size()));
    SimWriter writer = writer(pathOf(file), blocks, maxLength);
    writer.append(namenode, random.nextInt(4) == 0);
    writers.add(writer);
  }

  private SimWriter create(Namenode namenode, int blocks, int maxLength) throws IOException {
    String path = newName();
    SimWriter writer = writer(path, blocks, maxLength);
    writer.create(namenode, false);
    paths.put(writer.fileId(), path);
    return writer;
  }

  private String pathOf(long fileId) {
    return paths.getOrDefault(fileId, "/" + oracle.rows().names.get(fileId));
  }

  /** Some writers take some steps. */
  void step(Namenode namenode) throws IOException {
    for (SimWriter writer : List.copyOf(writers)) {
      for (int steps = random.nextInt(5); steps > 0 && !writer.isOver(); steps--) {
        writer.step(namenode);
      }
      forgetIfOver(writer);
    }
  }

  private void forgetIfOver(SimWriter writer) {
    if (writer.isOver()) {
      writers.remove(writer);
    }
  }

  boolean isWriting() {
    return !writers.isEmpty();
  }

  /** A writer dies, perhaps in the middle of the last packet of a block. */
  void oneDies() {
    if (!writers.isEmpty()) {
      SimWriter writer = writers.remove(random.nextInt(writers.size()));
      if (random.nextBoolean()) {
        writer.dieInFinish();
      } else {
        writer.die();
      }
    }
  }

  // ---- truncate and concat ----------------------------------------------------------------------

  /** Closed files with bytes, which no other call is about to change. */
  private List<Long> changeable() {
    List<Long> files = new ArrayList<>(oracle.acknowledgedFiles());
    files.removeAll(inCall);
    files.removeAll(deleted);
    files.removeIf(file -> oracle.rows().lengthsOf(file).isEmpty());
    return files;
  }

  /** A file may have been opened, cut or deleted since: the client hears an error. */
  private static <R> R callOnChangedFiles(Namenode namenode, Call<R> call) throws IOException {
    try {
      return namenode.call(call);
    } catch (HadoopIllegalArgumentException e) {
      throw new IOException(e);
    }
  }

  /** Truncates a file, mostly within a block. */
  void truncate(Namenode namenode) throws IOException {
    List<Long> files = changeable();
    if (files.isEmpty()) {
      return;
    }
    long file = files.get(random.nextInt(files.size()));
    long length = oracle.rows().lengthsOf(file).values().stream().mapToLong(l -> l).sum();
    long shorter = (long) (random.nextDouble() * length);
    String path = pathOf(file);
    String name = "client-" + named++;
    events.add("client truncates a file");
    expectTruncation(file, shorter);
    try {
      callOnChangedFiles(
          namenode,
          (called, caller) ->
              called
                  .truncation()
                  .truncate(caller, new TruncateService.Request(path, shorter, name, "")));
    } finally {
      expectTruncation(file, shorter);
      if (!reusesNames) {
        oracle.truncated(file);
      }
    }
  }

  /** If several namenodes may run the call, and late, nothing is promised of the file any more. */
  private void expectTruncation(long file, long lengthBytes) {
    if (reusesNames) {
      oracle.forget(file);
    } else {
      oracle.truncates(file, lengthBytes);
    }
  }

  /** Moves the blocks of one or two files to the end of another one. */
  void concat(Namenode namenode) throws IOException {
    List<Long> files = changeable();
    Collections.shuffle(files, random);
    List<Long> taken = files.subList(0, Math.min(files.size(), 2 + random.nextInt(2)));
    if (taken.size() < 2) {
      return;
    }
    events.add("client concatenates files");
    List<String> names = taken.stream().map(this::pathOf).toList();
    inCall.addAll(taken);
    callOnChangedFiles(
        namenode,
        (called, caller) -> {
          called.concat().concat(caller, names.get(0), names.subList(1, names.size()));
          return true;
        });
    // Without an answer, the files may vanish later: no other call names them.
    inCall.removeAll(taken);
    for (int i = 1; i < taken.size(); i++) {
      noteGone(taken.get(i), names.get(i));
    }
  }

  // ---- names ------------------------------------------------------------------------------------

  /** Deletes a file; the reaper removes its rows later. */
  void delete(Namenode namenode, long fileId) throws IOException {
    if (inCall.contains(fileId) || deleted.contains(fileId)) {
      return;
    }
    oracle.forget(fileId);
    String path = pathOf(fileId);
    inCall.add(fileId);
    try {
      if (namenode.call((files, caller) -> files.deletions().delete(caller, path, false))) {
        noteGone(fileId, path);
      }
    } finally {
      inCall.remove(fileId);
      // While the namenode was frozen, the file's writer may have been promised more.
      oracle.forget(fileId);
    }
  }

  private void noteGone(long fileId, String path) {
    free.add(path);
    if (reusesNames) {
      deleted.add(fileId);
    }
  }

  /** Deletes a file that is being written. */
  void deleteOpen(Namenode namenode) throws IOException {
    if (!writers.isEmpty()) {
      events.add("client deletes an open file");
      delete(namenode, writers.get(random.nextInt(writers.size())).fileId());
    }
  }

  /** Renames a file, perhaps over another one. */
  void rename(Namenode namenode) throws IOException {
    List<Long> files = new ArrayList<>(oracle.acknowledgedFiles());
    files.removeAll(inCall);
    if (files.isEmpty()) {
      return;
    }
    long file = files.get(random.nextInt(files.size()));
    long other = files.get(random.nextInt(files.size()));
    inCall.addAll(List.of(file, other));
    try {
      rename(namenode, file, other);
    } finally {
      inCall.removeAll(List.of(file, other));
    }
  }

  private void rename(Namenode namenode, long file, long other) throws IOException {
    String from = pathOf(file);
    paths.remove(file);
    if (file != other && random.nextInt(4) == 0) {
      events.add("client renames a file over another");
      String to = pathOf(other);
      oracle.forget(other);
      deleted.add(other);
      try {
        namenode.call(
            (called, caller) -> {
              called.renames().rename2(caller, from, to, true);
              return true;
            });
      } finally {
        oracle.forget(other);
      }
      paths.put(file, to);
      free.add(from);
      return;
    }
    events.add("client renames a file");
    String to = newName();
    if (!namenode.call((called, caller) -> called.renames().rename(caller, from, to))) {
      throw new Violation("file %d cannot be renamed from %s to %s".formatted(file, from, to));
    }
    paths.put(file, to);
    free.add(from);
  }

  /** Every acknowledged file is where its client has put it. */
  void checkPaths(Namenode namenode) throws IOException {
    for (long file : oracle.acknowledgedFiles()) {
      Optional<Inode> found =
          namenode.call((files, caller) -> files.inodes().find(caller, pathOf(file)));
      if (found.filter(inode -> inode.id() == file).isEmpty()) {
        throw new Violation(
            "file %d should be at %s, there is %s"
                .formatted(file, pathOf(file), found.map(Inode::id)));
      }
    }
  }
}
