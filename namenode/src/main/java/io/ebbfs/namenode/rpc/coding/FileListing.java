package io.ebbfs.namenode.rpc.coding;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.QuotaMarks;
import io.ebbfs.namenode.replicas.GroupRows;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.CodingProtos.DirectoryStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.PinProto;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** Lists files and directories with their paths, page by page or by id. Thread-safe. */
final class FileListing {
  private static final int MOST_FILES = 2_000;
  private static final int MOST_ROWS = 20_000;
  private static final int PAGE = 1_000;
  private static final int MAX_DEPTH = 10_000;
  private static final int MOST_ATTEMPTS = 5;

  /** Few, so that changes of other files seldom have the work repeated. */
  private static final int LOCKED_AT_ONCE = 100;

  private static final int FILES_AT_ONCE = 100;

  private final MetadataStore store;
  private final int replication;

  /**
   * @param replication of files that leave their block groups
   */
  FileListing(MetadataStore store, int replication) {
    this.store = store;
    this.replication = replication;
  }

  ListFilesResponseProto list(ListFilesRequestProto request) throws IOException {
    return request.getInodeIdsCount() > 0 ? byId(request.getInodeIdsList()) : page(request);
  }

  private ListFilesResponseProto page(ListFilesRequestProto request) throws IOException {
    int limit = Cursor.limit(request.getLimit(), MOST_FILES);
    Key after = Cursor.parse(request.hasCursor(), request.getCursor());
    Answer answer =
        new Answer(
            request.hasPath() ? withoutEndSlash(request.getPath()) : "",
            request.getWithDirectories());
    int rows = 0;
    while (true) {
      List<Row<InodeRow>> page = store.scanAll(Tables.INODE, after, PAGE);
      for (int from = 0; from < page.size(); ) {
        int most = Math.min(FILES_AT_ONCE, Math.min(limit - answer.size(), MOST_ROWS - rows));
        int to = Math.min(from + most, page.size());
        answer.addAll(page.subList(from, to));
        rows += to - from;
        after = page.get(to - 1).key();
        from = to;
        if (answer.size() == limit || rows == MOST_ROWS) {
          return answer.message().setCursor(Cursor.of(after)).build();
        }
      }
      if (page.size() < PAGE) {
        return answer.message().build();
      }
    }
  }

  private static String withoutEndSlash(String path) {
    return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
  }

  // ---- by id ------------------------------------------------------------------------------------

  private ListFilesResponseProto byId(List<Long> ids) throws IOException {
    if (ids.size() > MOST_FILES) {
      throw new IOException(
          "%d files and directories were asked for at once, but the namenode lists %d at most: ask for them in several calls"
              .formatted(ids.size(), MOST_FILES));
    }
    Answer answer = new Answer("", true);
    List<Long> wanted = ids.stream().distinct().toList();
    for (int i = 0; i < MOST_ATTEMPTS && !wanted.isEmpty(); i++) {
      List<Long> moved = new ArrayList<>();
      for (int from = 0; from < wanted.size(); from += LOCKED_AT_ONCE) {
        Found found = find(wanted.subList(from, Math.min(from + LOCKED_AT_ONCE, wanted.size())));
        for (Row<InodeRow> row : found.inodes()) {
          answer.add(row);
        }
        moved.addAll(found.moved());
      }
      wanted = moved;
    }
    if (!wanted.isEmpty()) {
      // An answer without them would say that they are deleted.
      throw new IOException(
          "%d files and directories, among them inode %d, are being renamed all the time: ask for them again"
              .formatted(wanted.size(), wanted.get(0)));
    }
    return answer.message().build();
  }

  /**
   * The rows of inodes.
   *
   * @param moved the ids to look for again, because their inodes were moved between two reads
   */
  private record Found(List<Row<InodeRow>> inodes, List<Long> moved) {}

  private Found find(List<Long> ids) throws IOException {
    return store.transact(ids.get(0), Durability.RELAXED, transaction -> find(transaction, ids));
  }

  /**
   * Finds inodes under locks. Somebody has heard that they changed, and asks once: a change that a
   * store has applied in parts so far has to be seen whole, or not to be answered about.
   */
  private static Found find(Transaction transaction, List<Long> ids) throws IOException {
    Map<Long, Key> places = places(transaction, ids);
    List<RowLock> locks = new ArrayList<>();
    ids.forEach(id -> locks.add(RowLock.shared(Tables.INODE_NAME, Tables.inodeName(id))));
    Set.copyOf(places.values()).forEach(key -> locks.add(RowLock.shared(Tables.INODE, key)));
    transaction.lock(locks);
    Map<Long, Key> locked = places(transaction, ids);
    List<Long> named = List.copyOf(locked.keySet());
    List<Optional<InodeRow>> rows =
        transaction.getAll(Tables.INODE, named.stream().map(locked::get).toList());
    Found found = new Found(new ArrayList<>(), new ArrayList<>());
    for (int i = 0; i < named.size(); i++) {
      long id = named.get(i);
      Key place = locked.get(id);
      if (!place.equals(places.get(id))) {
        found.moved().add(id);
      } else {
        rows.get(i)
            .filter(inode -> inode.getId() == id)
            .ifPresent(inode -> found.inodes().add(new Row<>(place, inode)));
      }
    }
    return found;
  }

  /** The keys of inodes. Ids without an inode are left out. */
  private static Map<Long, Key> places(Transaction transaction, List<Long> ids) throws IOException {
    List<Optional<InodeNameRow>> names =
        transaction.getAll(Tables.INODE_NAME, ids.stream().map(Tables::inodeName).toList());
    Map<Long, Key> places = new LinkedHashMap<>();
    for (int i = 0; i < ids.size(); i++) {
      long id = ids.get(i);
      names
          .get(i)
          .ifPresent(
              name ->
                  places.put(id, Tables.inode(name.getParentId(), name.getName().toByteArray())));
    }
    return places;
  }

  // ---- one answer -------------------------------------------------------------------------------

  /** An answer that grows, with the paths of directories that it knows. Not thread-safe. */
  private final class Answer {
    private final String below;
    private final boolean withDirectories;
    private final Map<Long, Optional<String>> paths = new HashMap<>();
    private final ListFilesResponseProto.Builder message = ListFilesResponseProto.newBuilder();

    /**
     * @param below the path of what the answer has; empty for everything
     */
    Answer(String below, boolean withDirectories) {
      this.below = below;
      this.withDirectories = withDirectories;
    }

    /**
     * A directory without a path may have been moved while its ancestors were read, each by itself,
     * and its former parent deleted. So it is looked for once more.
     */
    private Optional<String> pathOfParent(long id) throws IOException {
      Optional<String> path = pathOf(id, paths, 0);
      if (path.isEmpty()) {
        Map<Long, Optional<String>> again = new HashMap<>();
        path = pathOf(id, again, 0);
        paths.putAll(again);
      }
      return path;
    }

    ListFilesResponseProto.Builder message() {
      return message;
    }

    int size() {
      return message.getFilesCount() + message.getDirectoriesCount();
    }

    /** Adds inodes of a page. */
    void addAll(List<Row<InodeRow>> rows) throws IOException {
      List<PlacedFile> files = new ArrayList<>();
      for (Row<InodeRow> row : rows) {
        place(row).ifPresent(files::add);
      }
      if (!files.isEmpty()) {
        message.addAllFiles(
            store.listInBackground(
                files.get(0).inode().getId(), transaction -> statuses(transaction, files)));
      }
    }

    /** Adds an inode of which somebody has heard that it changed. */
    void add(Row<InodeRow> row) throws IOException {
      Optional<PlacedFile> file = place(row);
      if (file.isPresent()) {
        message.addFiles(
            store.<FileStatusProto>transact(
                file.get().inode().getId(),
                Durability.RELAXED,
                transaction -> status(transaction, file.get())));
      }
    }

    /**
     * Adds a directory, and returns a file, unless it is deleted, lies elsewhere, or is the root.
     */
    private Optional<PlacedFile> place(Row<InodeRow> row) throws IOException {
      InodeRow inode = row.value();
      boolean isFile = inode.getKind() == InodeKindProto.FILE;
      if (inode.getId() == Inode.ROOT_ID || !isFile && !withDirectories) {
        return Optional.empty();
      }
      long parentId = row.key().partition();
      Optional<String> parent = pathOfParent(parentId);
      if (parent.isEmpty()) {
        return Optional.empty(); // deleted, or below a directory that is deleted
      }
      String path = parent.get() + "/" + new String(row.key().rest(), StandardCharsets.UTF_8);
      if (!path.equals(below) && !path.startsWith(below + "/")) {
        return Optional.empty();
      }
      if (isFile) {
        return Optional.of(new PlacedFile(inode, parentId, path));
      }
      DirectoryStatusProto.Builder directory =
          DirectoryStatusProto.newBuilder()
              .setDirectoryId(inode.getId())
              .setParentId(parentId)
              .setPath(path);
      if (inode.hasPin()) {
        directory.setPin(inode.getPin());
      }
      message.addDirectories(directory);
      return Optional.empty();
    }
  }

  /** The path of a directory, without a slash at the end. The root is the empty string. */
  private Optional<String> pathOf(long directoryId, Map<Long, Optional<String>> known, int depth)
      throws IOException {
    if (directoryId == Inode.ROOT_ID) {
      return Optional.of("");
    }
    if (known.containsKey(directoryId)) {
      return known.get(directoryId);
    }
    Optional<InodeNameRow> name =
        store.transact(
            directoryId,
            Durability.RELAXED,
            transaction -> transaction.get(Tables.INODE_NAME, Tables.inodeName(directoryId)));
    Optional<String> path = Optional.empty();
    if (name.isPresent() && depth < MAX_DEPTH) {
      path =
          pathOf(name.get().getParentId(), known, depth + 1)
              .map(parent -> parent + "/" + name.get().getName().toStringUtf8());
    }
    known.put(directoryId, path);
    return path;
  }

  /** A file and where it is. */
  private record PlacedFile(InodeRow inode, long parentId, String path) {}

  /**
   * The statuses of files, in the order of the files. The rows are read in the order of the ids:
   * each stretch of deleted rows between them is passed over once, and not for each file anew.
   */
  private List<FileStatusProto> statuses(Transaction transaction, List<PlacedFile> files)
      throws IOException {
    FileStatusProto[] statuses = new FileStatusProto[files.size()];
    for (int i :
        IntStream.range(0, statuses.length)
            .boxed()
            .sorted(Comparator.comparingLong(n -> files.get(n).inode().getId()))
            .toList()) {
      statuses[i] = status(transaction, files.get(i));
    }
    return List.of(statuses);
  }

  private FileStatusProto status(Transaction transaction, PlacedFile file) throws IOException {
    InodeRow inode = file.inode();
    Map<Long, Long> storedByBlock = new HashMap<>();
    for (Row<ReplicaRow> replica : transaction.scan(Tables.REPLICA, inode.getId())) {
      if (replica.value().getState() == ReplicaStateProto.FINALIZED) {
        storedByBlock.merge(replica.key().firstLong(), replica.value().getLengthBytes(), Long::sum);
      }
    }
    FileStatusProto.Builder status =
        FileStatusProto.newBuilder()
            .setFileId(inode.getId())
            .setParentId(file.parentId())
            .setPath(file.path())
            .setOwner(inode.getOwner())
            .setGroup(inode.getGroup())
            .setModifiedMillis(inode.getModifiedMillis())
            .setReplication(inode.getReplication())
            .setUnderConstruction(inode.hasUnderConstruction());
    if (inode.hasEcPolicyId()) {
      status
          .setPin(PinProto.REPLICAS) // its client has encoded it: no policy is to do so
          .setReplication(replication)
          .setGroupStoredBytes(QuotaMarks.bytes(transaction, inode));
    } else if (inode.hasPin()) {
      status.setPin(inode.getPin());
    }
    if (inode.hasReleasedMillis()) {
      status.setReleasedMillis(inode.getReleasedMillis());
    }
    Set<Long> stripes = new TreeSet<>();
    long length = 0;
    long stored = 0;
    long replicated = 0;
    long replicatedStored = 0;
    int blocks = 0;
    int striped = 0;
    for (Row<BlockRow> row : transaction.scan(Tables.BLOCK, inode.getId())) {
      BlockRow block = row.value();
      long onDisks = storedByBlock.getOrDefault(block.getBlockId(), 0L);
      blocks++;
      length += block.getLengthBytes();
      stored += onDisks;
      if (block.hasStripeId()) {
        striped++;
        stripes.add(block.getStripeId());
      } else if (!GroupRows.isGroup(block)) { // the bytes of a group count in its stripe
        replicated += block.getLengthBytes();
        replicatedStored += onDisks;
        if (block.hasTransitionId()) {
          status.setTransitionId(block.getTransitionId());
        }
      }
    }
    return status
        .setLengthBytes(length)
        .setBlocks(blocks)
        .setStripedBlocks(striped)
        .setStoredBytes(stored)
        .setReplicatedBytes(replicated)
        .setReplicatedStoredBytes(replicatedStored)
        .addAllStripeIds(stripes)
        .build();
  }
}
