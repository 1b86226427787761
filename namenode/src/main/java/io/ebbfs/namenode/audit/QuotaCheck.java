package io.ebbfs.namenode.audit;

import io.ebbfs.namenode.audit.QuotaFinding.Damage;
import io.ebbfs.namenode.audit.QuotaFinding.UncountedTypes;
import io.ebbfs.namenode.audit.QuotaFinding.UnknownDeletions;
import io.ebbfs.namenode.audit.QuotaFinding.WrongBytes;
import io.ebbfs.namenode.audit.QuotaFinding.WrongMark;
import io.ebbfs.namenode.audit.QuotaFinding.WrongPolicy;
import io.ebbfs.namenode.audit.QuotaFinding.WrongSums;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.QuotaMarks;
import io.ebbfs.namenode.store.BytesByPolicy;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.QuotaCorrection.Difference;
import io.ebbfs.namenode.store.QuotaRows;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.QuotaLimitsProto;
import io.ebbfs.protocol.proto.StoreProtos.QuotaRow;
import io.ebbfs.protocol.proto.StoreProtos.TypeLimitProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * Compares the sums of counted directories with the inodes that count in them, and the mark of each
 * inode with its place. It is exact only if nobody changes the rows meanwhile. The sums of a
 * directory are compared without what counts in counted directories below it. Its memory is
 * bounded: with more than {@link #MOST_DIRECTORIES} counted directories it reads the inodes more
 * than once. Used by one thread; another thread may ask for the progress.
 */
public final class QuotaCheck {
  /** Counted directories whose sums are compared at once. */
  static final int MOST_DIRECTORIES = 50_000;

  /** Hears of each finding. */
  @FunctionalInterface
  interface Listener {
    void found(QuotaFinding finding) throws IOException;
  }

  /** The sums of one counted directory, without those of counted directories below it. */
  private static final class Sums {
    private long names;
    private long bytes;
    private long deleted;
    private final BytesByPolicy policies = new BytesByPolicy();
    private long ownNames;
    private long ownBytes;
    private long ownDeleted;
    private final BytesByPolicy ownPolicies = new BytesByPolicy();
    private int shards;
    private int shardsOfOldVersion;
    private long keptNames;
    private long keptBytes;
    private final BytesByPolicy keptPolicies = new BytesByPolicy();
    private long nameCredit;
    private long byteCredit;
    private final Map<StorageType, Long> typeCredits = new EnumMap<>(StorageType.class);
    private int creditPolicy;
    private boolean typesComplete;
    private long parent;
    private long corrections;
    private QuotaLimitsProto limits = QuotaLimitsProto.getDefaultInstance();
  }

  private final MetadataStore store;
  private final int mostDirectories;
  private final Listener listener;
  private final Map<Long, Sums> directories = new HashMap<>();
  private boolean comparesRows = true;
  // The directory of the last inode, because the entries of a directory follow each other.
  private long directoryId = Inode.NOWHERE_ID;
  private Optional<InodeRow> directory = Optional.empty();
  private volatile long inodesRead;
  private volatile boolean stopped;

  QuotaCheck(MetadataStore store, Listener listener) {
    this(store, MOST_DIRECTORIES, listener);
  }

  /** For tests: with another bound of what is compared at once. */
  QuotaCheck(MetadataStore store, int mostDirectories, Listener listener) {
    this.store = store;
    this.mostDirectories = mostDirectories;
    this.listener = listener;
  }

  /** How many rows of inodes were read up to now. */
  long inodesRead() {
    return inodesRead;
  }

  /** What does not fit, in a sentence each; rows of an older version fit. */
  public static List<String> run(MetadataStore store) throws IOException {
    List<String> texts = new ArrayList<>();
    new QuotaCheck(
            store,
            finding -> {
              boolean isOfOldVersion =
                  finding instanceof UnknownDeletions || finding instanceof UncountedTypes;
              if (!isOfOldVersion) {
                texts.add(finding.text());
              }
            })
        .compare();
    return texts;
  }

  /** Has {@link #compare} fail soon. Thread-safe. */
  void stop() {
    stopped = true;
  }

  /** Compares everything. Of a store without quotas, no inode is read. */
  void compare() throws IOException {
    store.eachRow(Tables.QUOTA, this::shard);
    compareAll();
  }

  // ---- what the rows say ------------------------------------------------------------------------

  private void shard(Key key, QuotaRow row) throws IOException {
    if (!directories.containsKey(key.partition()) && directories.size() == mostDirectories) {
      compareAll();
    }
    Sums sums = directories.computeIfAbsent(key.partition(), id -> new Sums());
    if (sums.shards > 0 && sums.parent != row.getCountedIn()) {
      damage(
          "shards of directory %d count in %d and %d",
          key.partition(), sums.parent, row.getCountedIn());
    }
    sums.shards++;
    sums.shardsOfOldVersion += row.hasDeleted() ? 0 : 1;
    sums.parent = row.getCountedIn();
    sums.keptNames += row.getNames();
    sums.keptBytes += row.getBytes();
    sums.nameCredit += row.getNameCredit();
    sums.byteCredit += row.getByteCredit();
    sums.keptPolicies.add(row.getByPolicyList());
    for (TypeLimitProto credit : row.getTypeCreditsList()) {
      sums.typeCredits.merge(StorageType.valueOf(credit.getType()), credit.getBytes(), Long::sum);
    }
    add(sums, row, BytesByPolicy.FROM_ABOVE, 1);
    if (key.firstLong() == 0) {
      sums.limits = row.getLimits();
      sums.corrections = row.getCorrections();
      sums.creditPolicy = row.getCreditPolicy();
      sums.typesComplete = row.getTypesComplete();
    }
  }

  /**
   * @param policy of the directory of the row, if these are the sums of a directory above
   */
  private static void add(Sums sums, QuotaRow row, int policy, int sign) {
    BytesByPolicy policies = new BytesByPolicy();
    policies.add(row.getByPolicyList());
    sums.ownPolicies.add(policies, policy, sign);
    sums.ownNames += sign * row.getNames();
    sums.ownBytes += sign * row.getBytes();
    sums.ownDeleted += sign * row.getDeleted();
  }

  private void takeFromParent(QuotaRow row) {
    Sums parent = directories.get(row.getCountedIn());
    if (parent != null) {
      add(parent, row, row.getPolicy(), -1);
    }
  }

  private void inode(Key key, InodeRow row) throws IOException {
    if (stopped) {
      throw new IOException("the check of the quotas was broken off");
    }
    inodesRead++;
    Sums home = directories.get(QuotaMarks.homeOfInode(row));
    if (home != null) {
      home.names++;
      home.bytes += row.getCountedBytes();
      home.policies.add(row, row.getStoragePolicy(), 1);
      home.deleted += isPendingDeletion(key) && !row.getCounted() ? 1 : 0;
    }
    if (comparesRows) {
      compareBytes(row);
      compareShards(row);
      if (key.partition() != Inode.NOWHERE_ID && !isPendingDeletion(key)) {
        comparePlace(key.partition(), row);
      }
    }
  }

  private static boolean isPendingDeletion(Key key) {
    return key.partition() == Inode.PENDING_DELETION_ID;
  }

  // ---- one inode --------------------------------------------------------------------------------

  private void compareBytes(InodeRow row) throws IOException {
    if (!row.hasCountedIn() || row.getBlocks() == 0) {
      return;
    }
    long bytes =
        store.transact(
            row.getId(), Durability.RELAXED, transaction -> QuotaMarks.bytes(transaction, row));
    if (bytes != row.getCountedBytes()) {
      listener.found(
          new WrongBytes(
              row.getId(),
              "file %d counts with %d bytes instead of %d"
                  .formatted(row.getId(), row.getCountedBytes(), bytes)));
    }
  }

  private void compareShards(InodeRow row) throws IOException {
    if (row.getCounted()) {
      Optional<QuotaRow> first = get(Tables.QUOTA, Tables.quota(row.getId(), 0));
      if (first.isEmpty() || first.get().getCountedIn() != row.getCountedIn()) {
        damage(
            "directory %d counts in %d, but its shards say %s",
            row.getId(),
            row.getCountedIn(),
            first.isEmpty() ? "nothing" : first.get().getCountedIn());
      } else if (row.getCountedTypes()) {
        compareTypes(row, first.get());
      }
    }
  }

  /** Of a directory whose row says that bytes in it count by type of storage. */
  private void compareTypes(InodeRow row, QuotaRow first) throws IOException {
    if (first.getPolicy() != row.getStoragePolicy()) {
      listener.found(
          new WrongPolicy(
              row.getId(),
              "%s has the storage policy %d, but its shards say %d: set another policy on it, and the old one again"
                  .formatted(named(row.getId()), row.getStoragePolicy(), first.getPolicy())));
    }
    boolean isLimited = first.getLimits().getTypesCount() > 0; // that is told with the sums
    if (first.getComplete() && !first.getTypesComplete() && !isLimited) {
      listener.found(
          new UncountedTypes(
              row.getId(),
              "%s is to count by type of storage, and not all that lies in it is known to do so: --mend counts it"
                  .formatted(named(row.getId()))));
    }
  }

  /**
   * Below a directory that is being removed, or is not counted as a whole yet, marks may differ.
   */
  private void comparePlace(long parentId, InodeRow row) throws IOException {
    if (directoryId != parentId) {
      directoryId = parentId;
      directory = directory(parentId);
    }
    if (directory.isEmpty()) {
      return;
    }
    long home = QuotaMarks.homeOfEntries(directory.get());
    if (row.getCountedIn() != home && isWhole(home, false)) {
      listener.found(
          new WrongMark(
              home,
              "inode %d counts in %d, but its directory %d counts in %d"
                  .formatted(row.getId(), row.getCountedIn(), parentId, home)));
    } else if (!hasTypesOf(directory.get(), row) && isWhole(home, true)) {
      listener.found(
          new WrongMark(
              home,
              "inode %d does not count by type of storage as its directory %d says"
                  .formatted(row.getId(), parentId)));
    }
  }

  /** A directory that is counted by itself may count by type where the one above does not. */
  private static boolean hasTypesOf(InodeRow directory, InodeRow row) {
    if (row.getCounted()) {
      return row.getCountedTypes() || !directory.getCountedTypes();
    }
    boolean needsSums =
        row.getKind() == InodeKindProto.DIRECTORY
            && row.getCountedTypes()
            && row.hasStoragePolicy();
    return row.getCountedTypes() == directory.getCountedTypes() && !needsSums;
  }

  private Optional<InodeRow> directory(long id) throws IOException {
    Optional<InodeNameRow> name = get(Tables.INODE_NAME, Tables.inodeName(id));
    if (name.isEmpty() || name.get().getParentId() == Inode.PENDING_DELETION_ID) {
      return Optional.empty();
    }
    return get(
        Tables.INODE, Tables.inode(name.get().getParentId(), name.get().getName().toByteArray()));
  }

  /** A directory for an operator who is to do something about it. */
  private String named(long id) throws IOException {
    return store
        .transact(id, Durability.RELAXED, transaction -> PathResolver.pathOf(transaction, id))
        .map(path -> "directory %d (%s)".formatted(id, path))
        .orElse("directory " + id);
  }

  private boolean isWhole(long home, boolean types) throws IOException {
    Optional<QuotaRow> first = get(Tables.QUOTA, Tables.quota(home, 0));
    return first.isEmpty()
        || first.get().getComplete() && (!types || first.get().getTypesComplete());
  }

  private <V extends MessageLite> Optional<V> get(Table<V> table, Key key) throws IOException {
    return store.transact(
        key.partition(), Durability.RELAXED, transaction -> transaction.get(table, key));
  }

  // ---- the sums ---------------------------------------------------------------------------------

  private void compareAll() throws IOException {
    if (directories.isEmpty()) {
      return;
    }
    store.eachRow(Tables.QUOTA, (key, row) -> takeFromParent(row));
    store.eachRow(Tables.INODE, this::inode);
    comparesRows = false;
    for (Map.Entry<Long, Sums> one : directories.entrySet()) {
      compare(one.getKey(), one.getValue());
    }
    directories.clear();
  }

  private void compare(long id, Sums sums) throws IOException {
    if (sums.shards != QuotaRows.SHARDS) {
      damage("directory %d has %d shards instead of %d", id, sums.shards, QuotaRows.SHARDS);
      return;
    }
    List<String> wrong = new ArrayList<>();
    if (sums.names != sums.ownNames || sums.bytes != sums.ownBytes) {
      wrong.add(
          "is said to hold %d names and %d bytes, but holds %d and %d"
              .formatted(sums.ownNames, sums.ownBytes, sums.names, sums.bytes));
    }
    if (sums.deleted != sums.ownDeleted) {
      wrong.add(
          "is said to hold %d pending deletions, but holds %d"
              .formatted(sums.ownDeleted, sums.deleted));
    }
    if (!sums.policies.equals(sums.ownPolicies)) {
      wrong.add(
          "is said to hold %s, but holds %s by storage policy"
              .formatted(sums.ownPolicies, sums.policies));
    }
    QuotaLimitsProto limits = sums.limits;
    if (limits.hasNames() && sums.nameCredit > left(limits.getNames(), sums.keptNames)) {
      wrong.add(
          "has a credit of %d names, and its sums say %d of %d"
              .formatted(sums.nameCredit, sums.keptNames, limits.getNames()));
    }
    if (limits.hasBytes() && sums.byteCredit > left(limits.getBytes(), sums.keptBytes)) {
      wrong.add(
          "has a credit of %d bytes, and its sums say %d of %d"
              .formatted(sums.byteCredit, sums.keptBytes, limits.getBytes()));
    }
    for (TypeLimitProto limit : limits.getTypesList()) {
      wrongTypeCredit(limit, sums).ifPresent(wrong::add);
    }
    if (!wrong.isEmpty()) {
      String text = "directory %d, without counted directories in it, ".formatted(id);
      listener.found(new WrongSums(difference(id, sums), text + String.join("; ", wrong)));
    } else if (sums.shardsOfOldVersion > 0) {
      listener.found(
          new UnknownDeletions(
              difference(id, sums),
              "directory %d does not know how many pending deletions it holds".formatted(id)));
    }
    if (limits.getTypesCount() > 0 && !sums.typesComplete) {
      listener.found(
          new UncountedTypes(
              id,
              "%s has limits of types of storage, and counts all bytes as bytes on DISK until --mend counts them by type. Afterwards a file without a storage policy counts on no type. Set the policy HOT on the directory first if its DISK limit shall go on to hold"
                  .formatted(named(id))));
    }
  }

  private static Optional<String> wrongTypeCredit(TypeLimitProto limit, Sums sums) {
    StorageType type = StorageType.valueOf(limit.getType());
    long credit = sums.typeCredits.getOrDefault(type, 0L);
    long used = sums.keptPolicies.types(sums.creditPolicy).getOrDefault(type, 0L);
    return credit > left(limit.getBytes(), used)
        ? Optional.of(
            "has a credit of %d bytes on %s, and its sums say %d of %d"
                .formatted(credit, type, used, limit.getBytes()))
        : Optional.empty();
  }

  private static long left(long limit, long sum) {
    return Math.max(0, limit - sum);
  }

  private static Difference difference(long id, Sums sums) {
    BytesByPolicy policies = new BytesByPolicy();
    policies.add(sums.ownPolicies, BytesByPolicy.FROM_ABOVE, 1);
    policies.add(sums.policies, BytesByPolicy.FROM_ABOVE, -1);
    return new Difference(
        id,
        sums.ownNames - sums.names,
        sums.ownBytes - sums.bytes,
        sums.ownDeleted - sums.deleted,
        policies,
        sums.corrections);
  }

  private void damage(String format, Object... arguments) throws IOException {
    listener.found(new Damage(format.formatted(arguments)));
  }
}
