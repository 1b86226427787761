package io.ebbfs.namenode.rpc.coding;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Lists all files with their paths, page by page. Thread-safe. */
final class FileListing {
  private static final int MOST_FILES = 2_000;
  private static final int MOST_ROWS = 20_000;
  private static final int PAGE = 1_000;
  private static final int MAX_DEPTH = 10_000;

  private final MetadataStore store;

  FileListing(MetadataStore store) {
    this.store = store;
  }

  ListFilesResponseProto list(ListFilesRequestProto request) throws IOException {
    int limit = Cursor.limit(request.getLimit(), MOST_FILES);
    Key after = Cursor.parse(request.hasCursor(), request.getCursor());
    String below = request.hasPath() ? withoutEndSlash(request.getPath()) : "";
    Map<Long, Optional<String>> paths = new HashMap<>();
    ListFilesResponseProto.Builder response = ListFilesResponseProto.newBuilder();
    int rows = 0;
    while (true) {
      List<Row<InodeRow>> page = store.scanAll(Tables.INODE, after, PAGE);
      for (Row<InodeRow> row : page) {
        after = row.key();
        rows++;
        if (row.value().getKind() == InodeKindProto.FILE) {
          add(row, below, paths, response);
        }
        if (response.getFilesCount() == limit || rows == MOST_ROWS) {
          return response.setCursor(Cursor.of(after)).build();
        }
      }
      if (page.size() < PAGE) {
        return response.build();
      }
    }
  }

  private static String withoutEndSlash(String path) {
    return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
  }

  private void add(
      Row<InodeRow> row,
      String below,
      Map<Long, Optional<String>> paths,
      ListFilesResponseProto.Builder response)
      throws IOException {
    Optional<String> parent = pathOf(row.key().partition(), paths, 0);
    if (parent.isEmpty()) {
      return; // moved or deleted while the page was read
    }
    String path =
        parent.get() + "/" + new String(row.key().rest(), java.nio.charset.StandardCharsets.UTF_8);
    if (path.equals(below) || path.startsWith(below + "/")) {
      FileStatusProto status =
          store.transact(
              row.value().getId(),
              Durability.RELAXED,
              transaction -> status(transaction, row.value(), path));
      response.addFiles(status);
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

  private static FileStatusProto status(Transaction transaction, InodeRow inode, String path)
      throws IOException {
    Map<Long, Long> storedByBlock = new HashMap<>();
    for (Row<ReplicaRow> replica : transaction.scan(Tables.REPLICA, inode.getId())) {
      if (replica.value().getState() == ReplicaStateProto.FINALIZED) {
        storedByBlock.merge(replica.key().firstLong(), replica.value().getLengthBytes(), Long::sum);
      }
    }
    FileStatusProto.Builder status =
        FileStatusProto.newBuilder()
            .setFileId(inode.getId())
            .setPath(path)
            .setModifiedMillis(inode.getModifiedMillis())
            .setUnderConstruction(inode.hasUnderConstruction());
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
      } else {
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
