package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.QuotaLimitsProto;
import io.ebbfs.protocol.proto.StoreProtos.QuotaRow;
import io.ebbfs.protocol.proto.StoreProtos.TypeLimitProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.StorageType;

/**
 * The rows of the table quota. The sums of a counted directory are spread over {@link #SHARDS}
 * rows, its shards, so that many transactions add to them at once. Stateless.
 */
public final class QuotaRows {
  /** Shards of each counted directory. The number is part of the format of the store. */
  public static final int SHARDS = 16;

  /** The type on which all bytes are where they are not counted by type. */
  private static final String DISK = "DISK";

  /**
   * What a counted directory holds, and its limits.
   *
   * @param names files and directories, the directory itself too
   * @param bytes of all replicas, as {@link QuotaLedger} counts them
   * @param deleted pending deletions that count in the directory
   * @param deletedIsCounted whether each shard has a number of them
   * @param complete whether everything in the directory is counted
   * @param policies the bytes of the files that count by type of storage
   * @param typesComplete whether all files in the directory count by type
   */
  public record Totals(
      long names,
      long bytes,
      long deleted,
      boolean deletedIsCounted,
      boolean complete,
      BytesByPolicy policies,
      boolean typesComplete,
      QuotaLimitsProto limits) {
    /**
     * The bytes on each type of storage that has some. Nothing if they are not counted; with limits
     * of types that an older version has set, all bytes are on DISK.
     *
     * @param policy the id of the storage policy that holds for the directory
     */
    public Map<StorageType, Long> types(int policy) {
      if (typesComplete) {
        return policies.types(policy);
      }
      return limits.getTypesCount() > 0 ? Map.of(StorageType.valueOf(DISK), bytes) : Map.of();
    }

    static Totals of(List<QuotaRow> shards) {
      QuotaRow first = shards.get(0);
      return new Totals(
          shards.stream().mapToLong(QuotaRow::getNames).sum(),
          shards.stream().mapToLong(QuotaRow::getBytes).sum(),
          shards.stream().mapToLong(QuotaRow::getDeleted).sum(),
          shards.stream().allMatch(QuotaRow::hasDeleted),
          first.getComplete(),
          QuotaRows.policies(shards),
          first.getTypesComplete(),
          first.getLimits());
    }
  }

  /** The bytes in all shards by storage policy. */
  static BytesByPolicy policies(List<QuotaRow> shards) {
    BytesByPolicy sum = new BytesByPolicy();
    shards.forEach(shard -> sum.add(shard.getByPolicyList()));
    return sum;
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
   * Why a changed file does not fit into the counted directory where it counts, or into one above
   * it; empty if it fits now. No lock is taken: only a commit knows for sure.
   */
  public static Optional<String> lacking(Transaction transaction, InodeRow before, InodeRow after)
      throws IOException {
    long id = before.getCountedIn();
    long moreBytes = after.getCountedBytes() - before.getCountedBytes();
    int policy = before.getStoragePolicy();
    for (int depth = 0; id != 0 && depth < MOST_DIRECTORIES; depth++) {
      List<QuotaRow> shards = read(transaction, id);
      if (shards.isEmpty()) {
        return Optional.empty();
      }
      Totals totals = Totals.of(shards);
      OptionalLong limit = byteLimit(totals);
      if (moreBytes > 0 && limit.isPresent() && totals.bytes() + moreBytes > limit.getAsLong()) {
        return Optional.of(
            "directory %d holds %d of %d bytes".formatted(id, totals.bytes(), limit.getAsLong()));
      }
      BytesByPolicy more = new BytesByPolicy();
      more.add(before, policy, -1);
      more.add(after, policy, 1);
      Optional<String> lacks = lackingType(transaction, id, totals, more);
      if (lacks.isPresent()) {
        return lacks;
      }
      policy = policy == BytesByPolicy.FROM_ABOVE ? shards.get(0).getPolicy() : policy;
      id = shards.get(0).getCountedIn();
    }
    return Optional.empty();
  }

  private static Optional<String> lackingType(
      Transaction transaction, long directoryId, Totals totals, BytesByPolicy more)
      throws IOException {
    if (!hasTypeCredits(totals)) {
      return Optional.empty();
    }
    int policy = EffectivePolicy.idOf(transaction, directoryId);
    return exceeded(totals, more, policy)
        .map(
            type ->
                "directory %d holds %d of %d bytes on %s"
                    .formatted(
                        directoryId,
                        totals.types(policy).getOrDefault(type, 0L),
                        typeLimit(totals.limits(), type.name()).orElseThrow(),
                        type));
  }

  /** The first type, in HDFS's order, of which something is to be added and too much would be. */
  private static Optional<StorageType> exceeded(Totals totals, BytesByPolicy more, int policy) {
    Map<StorageType, Long> used = totals.types(policy);
    for (Map.Entry<StorageType, Long> added : more.types(policy).entrySet()) {
      OptionalLong limit = typeLimit(totals.limits(), added.getKey().name());
      long all = used.getOrDefault(added.getKey(), 0L) + added.getValue();
      if (added.getValue() > 0 && limit.isPresent() && all > limit.getAsLong()) {
        return Optional.of(added.getKey());
      }
    }
    return Optional.empty();
  }

  /**
   * Notes that everything in a directory is counted.
   *
   * @param types whether all files count by type of storage
   * @throws StaleReadException if the directory is not counted any more
   */
  public static void complete(Transaction transaction, long directoryId, boolean types)
      throws IOException {
    List<QuotaRow> shards = lockAll(transaction, directoryId);
    QuotaRow first = shards.get(0);
    boolean ofTypes = types || first.getTypesComplete();
    shards.set(0, first.toBuilder().setComplete(true).setTypesComplete(ofTypes).build());
    write(transaction, directoryId, shareCredit(transaction, directoryId, shards));
  }

  private static List<QuotaRow> lockAll(Transaction transaction, long directoryId)
      throws IOException {
    transaction.lock(locks(directoryId));
    List<QuotaRow> shards = new ArrayList<>(read(transaction, directoryId));
    if (shards.isEmpty()) {
      throw new StaleReadException("directory " + directoryId + " is gone");
    }
    return shards;
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
    List<QuotaRow> shards = lockAll(transaction, directoryId);
    QuotaLimitsProto limits = change.of(shards.get(0).getLimits());
    shards.set(0, shards.get(0).toBuilder().setLimits(limits).build());
    write(transaction, directoryId, shareCredit(transaction, directoryId, shards));
  }

  static void write(Transaction transaction, long directoryId, List<QuotaRow> shards) {
    for (int shard = 0; shard < SHARDS; shard++) {
      transaction.put(Tables.QUOTA, Tables.quota(directoryId, shard), shards.get(shard));
    }
  }

  /** Shares what is left of the limits among all shards. */
  static List<QuotaRow> shareCredit(
      Transaction transaction, long directoryId, List<QuotaRow> shards) throws IOException {
    boolean hasTypes = hasTypeCredits(Totals.of(shards));
    int policy = hasTypes ? EffectivePolicy.idOf(transaction, directoryId) : EffectivePolicy.NONE;
    return shareCredit(shards, policy);
  }

  /**
   * The same.
   *
   * @param policy the id of the storage policy that holds for the directory
   */
  static List<QuotaRow> shareCredit(List<QuotaRow> shards, int policy) {
    Totals totals = Totals.of(shards);
    QuotaLimitsProto limits = totals.limits();
    OptionalLong byteLimit = byteLimit(totals);
    Map<StorageType, Long> types = totals.types(policy);
    List<QuotaRow> shared = new ArrayList<>(SHARDS);
    for (int shard = 0; shard < SHARDS; shard++) {
      QuotaRow.Builder row =
          shards.get(shard).toBuilder()
              .clearNameCredit()
              .clearByteCredit()
              .clearTypeCredits()
              .clearCreditPolicy();
      if (limits.hasNames()) {
        row.setNameCredit(share(limits.getNames() - totals.names(), shard));
      }
      if (byteLimit.isPresent()) {
        row.setByteCredit(share(byteLimit.getAsLong() - totals.bytes(), shard));
      }
      if (hasTypeCredits(totals)) {
        row.setCreditPolicy(policy);
        for (TypeLimitProto limit : limits.getTypesList()) {
          long used = types.getOrDefault(StorageType.valueOf(limit.getType()), 0L);
          row.addTypeCredits(limit.toBuilder().setBytes(share(limit.getBytes() - used, shard)));
        }
      }
      shared.add(row.build());
    }
    return shared;
  }

  private static boolean hasTypeCredits(Totals totals) {
    return totals.typesComplete() && totals.limits().getTypesCount() > 0;
  }

  private static long share(long left, int shard) {
    return left <= 0 ? 0 : left / SHARDS + (shard < left % SHARDS ? 1 : 0);
  }

  /** The limit of all bytes. Of an older version, the limit of DISK is one, too. */
  private static OptionalLong byteLimit(Totals totals) {
    QuotaLimitsProto limits = totals.limits();
    OptionalLong ofDisks = totals.typesComplete() ? OptionalLong.empty() : typeLimit(limits, DISK);
    if (!limits.hasBytes()) {
      return ofDisks;
    }
    return OptionalLong.of(Math.min(limits.getBytes(), ofDisks.orElse(Long.MAX_VALUE)));
  }

  /** The limit of the bytes on a type of storage, by HDFS's name of the type. */
  static OptionalLong typeLimit(QuotaLimitsProto limits, String type) {
    return limits.getTypesList().stream()
        .filter(limit -> limit.getType().equals(type))
        .mapToLong(TypeLimitProto::getBytes)
        .findFirst();
  }
}
