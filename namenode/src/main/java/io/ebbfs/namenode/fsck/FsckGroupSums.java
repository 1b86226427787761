package io.ebbfs.namenode.fsck;

import io.ebbfs.namenode.datanodes.ClusterView.DrainState;
import io.ebbfs.namenode.replicas.BlockHealth;
import io.ebbfs.namenode.replicas.BlockHealth.State;

/**
 * What fsck has counted of the files whose clients encode them, and the summary of it, with the
 * words of HDFS. Used by one thread.
 */
final class FsckGroupSums {
  private static final String STARS = "\n  ********************************";

  private long files;
  private long bytes;
  private long groups;
  private long openFiles;
  private long openBytes;
  private long openGroups;
  private long wanted;
  private long found;
  private long readable;
  private long over;
  private long under;
  private long lacking;
  private long damagedFiles;
  private long missing;
  private long missingBytes;
  private long corrupt;
  private long corruptBytes;

  void addFile(long lengthBytes) {
    files++;
    bytes += lengthBytes;
  }

  void addOpenFile(long lengthBytes, long groupCount) {
    openFiles++;
    openBytes += lengthBytes;
    openGroups += groupCount;
  }

  void addDamagedFile() {
    damagedFiles++;
  }

  void add(BlockHealth health) {
    int live = health.live(DrainState.NONE);
    long length = health.block().getLengthBytes();
    groups++;
    wanted += health.wanted();
    found += health.count(State.LIVE);
    over += health.count(State.EXCESS) > 0 ? 1 : 0;
    if (health.isMissing()) {
      missing++;
      missingBytes += length;
    } else {
      readable++;
      under += live < health.wanted() ? 1 : 0;
      lacking += Math.max(0, health.wanted() - live);
    }
    if (health.isCorrupt()) {
      corrupt++;
      corruptBytes += length;
    }
  }

  long files() {
    return files;
  }

  boolean healthy() {
    return missing == 0;
  }

  String text() {
    StringBuilder text = new StringBuilder();
    text.append(" Total size:\t" + bytes + " B");
    text.append(openBytes > 0 ? " (Total open files size: " + openBytes + " B)" : "");
    text.append("\n Total files:\t" + files);
    text.append(openFiles > 0 ? " (Files currently being written: " + openFiles + ")" : "");
    text.append("\n Total block groups (validated):\t" + groups);
    text.append(groups > 0 ? " (avg. block group size " + bytes / groups + " B)" : "");
    text.append(
        openGroups > 0
            ? " (Total open file block groups (not validated): " + openGroups + ")"
            : "");
    if (damagedFiles > 0) {
      damage(text);
    }
    text.append("\n Minimally erasure-coded block groups:\t" + FsckSums.share(readable, groups));
    text.append("\n Over-erasure-coded block groups:\t" + FsckSums.share(over, groups));
    text.append("\n Under-erasure-coded block groups:\t" + FsckSums.share(under, groups));
    text.append("\n Unsatisfactory placement block groups:\t" + FsckSums.share(0, groups));
    text.append("\n Average block group size:\t" + (groups > 0 ? (float) found / groups : 0f));
    text.append("\n Missing block groups:\t\t" + missing);
    text.append("\n Corrupt block groups:\t\t" + corrupt);
    text.append("\n Missing internal blocks:\t" + FsckSums.share(lacking, wanted));
    return text.append("\n Blocks queued for replication:\t0").toString();
  }

  private void damage(StringBuilder text) {
    text.append(STARS);
    text.append("\n  UNRECOVERABLE BLOCK GROUPS:\t" + FsckSums.share(missing, groups));
    text.append("\n  CORRUPT FILES:\t" + damagedFiles);
    if (missing > 0) {
      text.append("\n  MISSING BLOCK GROUPS:\t" + missing);
      text.append("\n  MISSING SIZE:\t\t" + missingBytes + " B");
    }
    if (corrupt > 0) {
      text.append("\n  CORRUPT BLOCK GROUPS: \t" + corrupt);
      text.append("\n  CORRUPT SIZE:\t\t" + corruptBytes + " B");
    }
    text.append(STARS);
  }
}
