package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.QuotaLimitsProto;
import io.ebbfs.protocol.proto.StoreProtos.QuotaRow;
import io.ebbfs.protocol.proto.StoreProtos.TypeLimitProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/**
 * The rows of the table quota. The sums of a counted directory are spread over {@link #SHARDS}
 * rows, its shards, so that many transactions add to them at once. Stateless.
 */
public final class QuotaRows {
  /** Shards of each counted directory. The number is part of the format of the store. */
  public static final int SHARDS = 16;

  /** The only type of storage that there is. Its name is that of HDFS. */
  public static final String DISK = "DISK";

  /**
   * What a counted directory holds, and its limits.
   *
   * @param names files and directories, the directory itself too
   * @param bytes of all replicas, as {@link QuotaLedger} counts them
   * @param deleted pending deletions that count in the directory
   * @param deletedIsCounted whether each shard has a number of them
   * @param complete whether everything in the directory is counted
   */
  public record Totals(
      long names,
      long bytes,
      long deleted,
      boolean deletedIsCounted,
      boolean complete,
      QuotaLimitsProto limits) {
    static Totals of(List<QuotaRow> shards) {
      QuotaRow first = shards.get(0);
      return new Totals(
          shards.stream().mapToLong(QuotaRow::getNames).sum(),
          shards.stream().mapToLong(QuotaRow::getBytes).sum(),
          shards.stream().mapToLong(QuotaRow::getDeleted).sum(),
          shards.stream().allMatch(QuotaRow::hasDeleted),
          first.getComplete(),
          first.getLimits());
    }
  }

  /** Counted directories one below the other: the bound ends a search in damaged rows. */
  private static final int MOST_DIRECTORIES = 10_000;

  private QuotaRows() {}

  static List<Key> keys(long directoryId) {
    return IntStream.range(0, SHARDS).mapToObj(shard -> Tables.quota(directoryId, shard)).toList();
  }

  /** The locks of all shards: nobody adds to the sums while they are held. */
  public static List<RowLock> locks(long directoryId) {
    return keys(directoryId).stream().map(key -> RowLock.exclusive(Tables.QUOTA, key)).toList();
  }

  /** All shards, or nothing if the directory is not counted. */
  static List<QuotaRow> read(Transaction transaction, long directoryId) throws IOException {
    List<QuotaRow> rows = new ArrayList<>(SHARDS);
    for (Optional<QuotaRow> row : transaction.getAll(Tables.QUOTA, keys(directoryId))) {
      row.ifPresent(rows::add);
    }
    return rows.size() == SHARDS ? rows : List.of();
  }

  /**
   * The sums of a directory; empty if it is not counted. Without the locks of all shards, each
   * shard is read as it is at some moment of the call.
   */
  public static Optional<Totals> totals(Transaction transaction, long directoryId)
      throws IOException {
    List<QuotaRow> shards = read(transaction, directoryId);
    return shards.isEmpty() ? Optional.empty() : Optional.of(Totals.of(shards));
  }

  /**
   * Why no more bytes fit into a counted directory, or into one above it; empty if they fit now. No
   * lock is taken: only a commit knows for sure.
   *
   * @param directoryId 0 for none
   */
  public static Optional<String> lacking(Transaction transaction, long directoryId, long moreBytes)
      throws IOException {
    long id = directoryId;
    for (int depth = 0; id != 0 && moreBytes > 0 && depth < MOST_DIRECTORIES; depth++) {
      List<QuotaRow> shards = read(transaction, id);
      if (shards.isEmpty()) {
        return Optional.empty();
      }
      Totals totals = Totals.of(shards);
      OptionalLong limit = byteLimit(totals.limits());
      if (limit.isPresent() && totals.bytes() + moreBytes > limit.getAsLong()) {
        return Optional.of(
            "directory %d holds %d of %d bytes".formatted(id, totals.bytes(), limit.getAsLong()));
      }
      id = shards.get(0).getCountedIn();
    }
    return Optional.empty();
  }

  /**
   * Notes that everything in a directory is counted.
   *
   * @throws StaleReadException if the directory is not counted any more
   */
  public static void complete(Transaction transaction, long directoryId) throws IOException {
    Key key = Tables.quota(directoryId, 0);
    transaction.lock(List.of(RowLock.exclusive(Tables.QUOTA, key)));
    QuotaRow first =
        transaction
            .get(Tables.QUOTA, key)
            .orElseThrow(() -> new StaleReadException("directory " + directoryId + " is gone"));
    transaction.put(Tables.QUOTA, key, first.toBuilder().setComplete(true).build());
  }

  /** A change of limits, decided under the locks of all shards. */
  @FunctionalInterface
  public interface LimitsChange {
    QuotaLimitsProto of(QuotaLimitsProto before);
  }

  /**
   * Changes the limits of a counted directory. They may be lower than what it holds.
   *
   * @throws StaleReadException if the directory is not counted any more
   */
  public static void changeLimits(Transaction transaction, long directoryId, LimitsChange change)
      throws IOException {
    transaction.lock(locks(directoryId));
    List<QuotaRow> shards = new ArrayList<>(read(transaction, directoryId));
    if (shards.isEmpty()) {
      throw new StaleReadException("directory " + directoryId + " is gone");
    }
    QuotaLimitsProto limits = change.of(shards.get(0).getLimits());
    shards.set(0, shards.get(0).toBuilder().setLimits(limits).build());
    write(transaction, directoryId, shareCredit(shards, limits));
  }

  static void write(Transaction transaction, long directoryId, List<QuotaRow> shards) {
    for (int shard = 0; shard < SHARDS; shard++) {
      transaction.put(Tables.QUOTA, Tables.quota(directoryId, shard), shards.get(shard));
    }
  }

  /** Shares what is left of the limits among all shards. */
  static List<QuotaRow> shareCredit(List<QuotaRow> shards, QuotaLimitsProto limits) {
    Totals totals = Totals.of(shards);
    OptionalLong byteLimit = byteLimit(limits);
    List<QuotaRow> shared = new ArrayList<>(SHARDS);
    for (int shard = 0; shard < SHARDS; shard++) {
      QuotaRow.Builder row = shards.get(shard).toBuilder().clearNameCredit().clearByteCredit();
      if (limits.hasNames()) {
        row.setNameCredit(share(limits.getNames() - totals.names(), shard));
      }
      if (byteLimit.isPresent()) {
        row.setByteCredit(share(byteLimit.getAsLong() - totals.bytes(), shard));
      }
      shared.add(row.build());
    }
    return shared;
  }

  private static long share(long left, int shard) {
    return left <= 0 ? 0 : left / SHARDS + (shard < left % SHARDS ? 1 : 0);
  }

  /** The lowest limit of bytes: all bytes are on disks. */
  private static OptionalLong byteLimit(QuotaLimitsProto limits) {
    OptionalLong ofDisks = typeLimit(limits, DISK);
    if (!limits.hasBytes()) {
      return ofDisks;
    }
    return OptionalLong.of(Math.min(limits.getBytes(), ofDisks.orElse(Long.MAX_VALUE)));
  }

  /** The limit of the bytes on a type of storage, by HDFS's name of the type. */
  public static OptionalLong typeLimit(QuotaLimitsProto limits, String type) {
    return limits.getTypesList().stream()
        .filter(limit -> limit.getType().equals(type))
        .mapToLong(TypeLimitProto::getBytes)
        .findFirst();
  }
}
