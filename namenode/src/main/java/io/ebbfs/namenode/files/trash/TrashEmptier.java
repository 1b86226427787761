package io.ebbfs.namenode.files.trash;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.io.FileReadService;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import java.io.IOException;
import java.time.Clock;
import java.time.ZoneId;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Empties the trash of all users, {@code /user/NAME/.Trash}, as the emptier of HDFS's NameNode
 * does: whenever the time of day passes a multiple of the checkpoint interval, it deletes
 * checkpoints that are older than the interval of the trash, and renames {@code Current} to a new
 * checkpoint.
 *
 * <p>A row of the store tells when the last pass began. So a namenode that was down at the time of
 * a pass does it after its start, and another leader begins a pass anew that the last leader has
 * not ended. The first namenode with a trash waits for the next multiple. A clock that is set back
 * or forward to another multiple brings one pass. The names of checkpoints alone tell their age: a
 * clock that is ahead has them deleted too early. Used by one thread of the namenode that leads.
 */
public final class TrashEmptier {
  private static final Logger LOG = LoggerFactory.getLogger(TrashEmptier.class);
  private static final Key KEY = Tables.named("trashEmptied");

  /** How the trash is changed: by ordinary calls of the superuser. */
  public interface Calls {
    /**
     * Renames a file or directory. Nothing is replaced.
     *
     * @throws org.apache.hadoop.fs.FileAlreadyExistsException if the new path exists
     * @throws java.io.FileNotFoundException if the old path does not exist
     */
    void rename(String from, String to) throws IOException;

    /** Deletes a file, or a directory with all below it; false if the path does not exist. */
    boolean delete(String path) throws IOException;
  }

  private final MetadataStore store;
  private final FileReadService reads;
  private final Caller.Superuser superuser;
  private final Calls calls;
  private final TrashSettings settings;
  private final Clock clock;
  private final CheckpointNames names;
  private final Set<String> told = new HashSet<>();
  private OptionalLong lastBegan = OptionalLong.empty();
  private long began;
  private TrashPass pass;

  /**
   * @param settings of a trash that is on
   * @param clock tells the time of day
   * @param zone the time zone of the names of checkpoints
   */
  public TrashEmptier(
      MetadataStore store,
      FileReadService reads,
      Caller.Superuser superuser,
      Calls calls,
      TrashSettings settings,
      Clock clock,
      ZoneId zone) {
    this.store = store;
    this.reads = reads;
    this.superuser = superuser;
    this.calls = calls;
    this.settings = settings;
    this.clock = clock;
    this.names = new CheckpointNames(zone);
  }

  /**
   * Begins a pass if one is due, or does some more of the pass that is under way. To be called
   * about once a second, and as long as files may be changed.
   *
   * @throws IOException if files or the store cannot be read or changed now; the next call goes on
   */
  public void tick() throws IOException {
    if (pass == null) {
      long now = clock.millis();
      if (!isDue(now)) {
        return;
      }
      began = now;
      Caller caller = new Caller(superuser.user(), Set::of, superuser);
      pass = new TrashPass(reads, caller, calls, names, settings, clock, told);
    }
    if (pass.step()) {
      note(began);
      if (pass.made() + pass.deleted() > 0) {
        LOG.info("trash: made {} checkpoints, deleted {} old ones", pass.made(), pass.deleted());
      }
      pass = null;
    }
  }

  private boolean isDue(long now) throws IOException {
    if (lastBegan.isEmpty()) {
      lastBegan = read();
    }
    if (lastBegan.isEmpty()) {
      note(now);
    }
    return multiple(now) != multiple(lastBegan.getAsLong());
  }

  private long multiple(long millis) {
    return Math.floorDiv(millis, settings.everyMillis());
  }

  private OptionalLong read() throws IOException {
    Optional<SettingRow> row =
        store.transact(KEY.partition(), transaction -> transaction.get(Tables.SETTING, KEY));
    return row.map(found -> OptionalLong.of(Long.parseLong(found.getValue())))
        .orElse(OptionalLong.empty());
  }

  private void note(long millis) throws IOException {
    store.transact(
        KEY.partition(),
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.SETTING, KEY)));
          transaction.put(
              Tables.SETTING, KEY, SettingRow.newBuilder().setValue(Long.toString(millis)).build());
          return null;
        });
    lastBegan = OptionalLong.of(millis);
  }
}
