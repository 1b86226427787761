package io.ebbfs.namenode.files.trash;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.io.FileReadService;
import io.ebbfs.namenode.files.io.FileReadService.Page;
import io.ebbfs.namenode.store.OutcomeUnknownException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Clock;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.hdfs.server.namenode.SafeModeException;
import org.apache.hadoop.ipc.RetriableException;
import org.apache.hadoop.ipc.StandbyException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One look at the trash of all users, in steps of bounded work. In the trash of a user, old
 * checkpoints are deleted, {@code Current} becomes a checkpoint, and all else is left alone. A pass
 * that is given up leaves nothing to mend: another one begins at the first user. Used by one
 * thread.
 */
final class TrashPass {
  private static final Logger LOG = LoggerFactory.getLogger(TrashPass.class);

  private static final String HOMES = "/user";
  private static final String TRASH = ".Trash";
  private static final String CURRENT = "Current";
  private static final byte[] START = {};

  /** Home directories and entries of the trash that a step looks at. */
  static final int LOOKS_PER_STEP = 1_000;

  /** Renames and deletes of a step. */
  static final int CHANGES_PER_STEP = 100;

  /** As many checkpoints of one second as HDFS makes, beside the first one. */
  private static final int MOST_OF_A_SECOND = 1_000;

  /** Names that are told; the log does not grow with what users put into their trash. */
  private static final int MOST_TOLD = 1_000;

  private final FileReadService reads;
  private final Caller superuser;
  private final TrashEmptier.Calls calls;
  private final CheckpointNames names;
  private final TrashSettings settings;
  private final Clock clock;
  private final Set<String> told;
  // The name of the last home directory that is done.
  private byte[] home = START;
  // The trash that the pass was in last, and the name of the last of its entries that is done.
  private String trash = "";
  private byte[] entry = START;
  private int looks;
  private int changes;
  private long made;
  private long deleted;

  /**
   * @param told the names that the log has told; grows
   */
  TrashPass(
      FileReadService reads,
      Caller superuser,
      TrashEmptier.Calls calls,
      CheckpointNames names,
      TrashSettings settings,
      Clock clock,
      Set<String> told) {
    this.reads = reads;
    this.superuser = superuser;
    this.calls = calls;
    this.names = names;
    this.settings = settings;
    this.clock = clock;
    this.told = told;
  }

  /**
   * Goes on where the last step has ended.
   *
   * @return whether the pass is over
   * @throws IOException if the namenode cannot read or change files now; the step may be repeated
   */
  boolean step() throws IOException {
    looks = 0;
    changes = 0;
    Page homes = reads.list(superuser, HOMES, home);
    if (homes == null || homes.listed().isFile()) {
      return true;
    }
    for (Inode next : homes.inodes()) {
      if (isUsedUp() || !isDone(next)) {
        return false;
      }
      home = next.name();
    }
    return homes.remaining() == 0;
  }

  /** Checkpoints that the pass has made so far. */
  long made() {
    return made;
  }

  /** Checkpoints that the pass has deleted so far. */
  long deleted() {
    return deleted;
  }

  private boolean isUsedUp() {
    return looks >= LOOKS_PER_STEP || changes >= CHANGES_PER_STEP;
  }

  /** Looks at the trash of a user, from the entry on that the last step has reached. */
  private boolean isDone(Inode owner) throws IOException {
    looks++;
    if (owner.isFile()) {
      return true;
    }
    enter(String.join("/", HOMES, owner.nameText(), TRASH));
    Page entries = listTrash();
    if (entries == null || entries.listed().isFile()) {
      return true;
    }
    for (Inode next : entries.inodes()) {
      if (isUsedUp()) {
        return false;
      }
      looks++;
      lookAt(next.nameText());
      entry = next.name();
    }
    return entries.remaining() == 0;
  }

  /** Null if there is no trash, or if its rows cannot be read: the other users have their turn. */
  private Page listTrash() throws IOException {
    try {
      return reads.list(superuser, trash, entry);
    } catch (RuntimeException e) {
      LOG.warn("{} cannot be listed, and stays as it is: {}", trash, e.toString());
      return null;
    }
  }

  private void enter(String next) {
    if (!next.equals(trash)) {
      trash = next;
      entry = START;
    }
  }

  /** A failure holds for one entry: the others have their turn, and the next pass tries again. */
  private void lookAt(String name) throws IOException {
    String path = trash + "/" + name;
    try {
      handle(name, path);
    } catch (FileNotFoundException e) {
      LOG.debug("{} was renamed or deleted meanwhile", path);
    } catch (StandbyException
        | SafeModeException
        | InterruptedIOException
        | RetriableException
        | OutcomeUnknownException e) {
      throw e; // these hold for all entries: the step is repeated
    } catch (IOException | RuntimeException e) {
      LOG.warn("{} stays as it is until the trash is emptied next: {}", path, e.toString());
    }
  }

  private void handle(String name, String path) throws IOException {
    if (name.equals(CURRENT)) {
      makeCheckpoint(path);
      return;
    }
    OptionalLong checkpoint = names.millisOf(name);
    if (checkpoint.isEmpty()) {
      tellOnce(path);
    } else if (clock.millis() - settings.intervalMillis() > checkpoint.getAsLong()) {
      changes++;
      if (calls.delete(path)) {
        deleted++;
        LOG.debug("deleted the checkpoint {}", path);
      }
    }
  }

  private void makeCheckpoint(String current) throws IOException {
    String first = trash + "/" + names.of(clock.millis());
    for (int other = 0; other <= MOST_OF_A_SECOND; other++) {
      String checkpoint = other == 0 ? first : first + "-" + other;
      changes++;
      try {
        calls.rename(current, checkpoint);
        made++;
        LOG.debug("made the checkpoint {}", checkpoint);
        return;
      } catch (FileAlreadyExistsException e) {
        LOG.debug("{} exists, and the checkpoint gets another name", checkpoint);
      }
    }
    throw new IOException(
        "%s and %d more names with a number behind it exist; delete some of these checkpoints"
            .formatted(first, MOST_OF_A_SECOND));
  }

  private void tellOnce(String path) {
    if (told.size() < MOST_TOLD && told.add(path)) {
      LOG.warn("{} is not the name of a checkpoint: it stays in the trash for ever", path);
    }
  }
}
