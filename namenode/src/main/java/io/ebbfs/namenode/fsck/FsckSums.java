package io.ebbfs.namenode.fsck;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ClusterView.DrainState;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.replicas.BlockHealth;
import io.ebbfs.namenode.replicas.BlockHealth.State;
import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * What fsck has counted, and the summary of it. Programs read the summary of HDFS: its lines have
 * the same words. Used by one thread.
 */
final class FsckSums {
  private static final String STARS = "\n  ********************************";

  private final int replication;
  private final FsckGroupSums groups = new FsckGroupSums();
  private final Map<Integer, Long> byReplicas = new TreeMap<>();
  private long directories;
  private long files;
  private long bytes;
  private long blocks;
  private long openFiles;
  private long openBytes;
  private long openBlocks;
  private long wanted;
  private long found;
  private long enough;
  private long over;
  private long under;
  private long lacking;
  private long corruptFiles;
  private long missing;
  private long missingBytes;
  private long corrupt;
  private long corruptBytes;
  private long decommissioned;
  private long decommissioning;
  private long encoded;
  private long decodable;

  /**
   * @param replication the default of new files
   */
  FsckSums(int replication) {
    this.replication = replication;
  }

  /** The sums of the files whose clients encode them; the others are those of replicated files. */
  FsckGroupSums groups() {
    return groups;
  }

  void addDirectory() {
    directories++;
  }

  void addFile(long lengthBytes) {
    files++;
    bytes += lengthBytes;
  }

  void addOpenFile(long lengthBytes, long blockCount) {
    openFiles++;
    openBytes += lengthBytes;
    openBlocks += blockCount;
  }

  void addDamagedFile() {
    corruptFiles++;
  }

  long files() {
    return files + groups.files();
  }

  long blocks() {
    return blocks;
  }

  void add(BlockHealth health) {
    if (health.isGroup()) {
      groups.add(health);
      return;
    }
    int live = health.live(DrainState.NONE);
    int held = health.count(State.LIVE);
    long length = health.block().getLengthBytes();
    blocks++;
    byReplicas.merge(held, 1L, Long::sum);
    wanted += health.wanted();
    found += held;
    decommissioned += health.live(DrainState.DRAINED);
    decommissioning += health.live(DrainState.DRAINING);
    encoded += health.isEncoded() ? 1 : 0;
    decodable += health.decodes() ? 1 : 0;
    enough += health.isMissing() ? 0 : 1;
    over += live > health.wanted() ? 1 : 0;
    if (live < health.wanted() && !health.isMissing()) {
      under++;
    }
    lacking += health.isMissing() ? 0 : Math.max(0, health.wanted() - live);
    if (health.isCorrupt()) {
      corrupt++;
      corruptBytes += length;
    }
    if (health.isMissing()) {
      missing++;
      missingBytes += length;
    }
  }

  boolean healthy() {
    return missing == 0 && corrupt == 0 && groups.healthy();
  }

  /** How many replicas the blocks have, by policy: all storage is of one type. */
  void printPolicies(Writer out) throws IOException {
    for (Map.Entry<Integer, Long> entry : byReplicas.entrySet()) {
      out.write(
          String.format(
              Locale.ROOT,
              "%-30s %5d %20.4f%%\n",
              "DISK:" + entry.getKey() + "(HOT)",
              entry.getValue(),
              100.0 * entry.getValue() / Math.max(1, blocks)));
    }
  }

  void print(ClusterView cluster, Writer out) throws IOException {
    List<Server> servers = cluster.liveServers();
    long racks = servers.stream().map(Server::rack).distinct().count();
    out.write("\nStatus: " + (healthy() ? "HEALTHY" : "CORRUPT") + "\n");
    out.write(" Number of data-nodes:\t" + servers.size() + "\n");
    out.write(" Number of racks:\t\t" + racks + "\n");
    out.write(" Total dirs:\t\t\t" + directories + "\n");
    out.write(" Total symlinks:\t\t0\n");
    out.write("\nReplicated Blocks:\n" + replicated() + "\n");
    out.write("\nErasure Coded Block Groups:\n" + groups.text() + "\n");
    if (encoded > 0) {
      out.write("\nBlocks in stripes, which are among the replicated blocks:\n");
      out.write(" Total blocks:\t" + encoded + "\n");
      out.write(" Blocks without a replica that decode:\t" + decodable + "\n");
    }
  }

  private String replicated() {
    StringBuilder text = new StringBuilder();
    text.append(" Total size:\t" + bytes + " B");
    text.append(openBytes > 0 ? " (Total open files size: " + openBytes + " B)" : "");
    text.append("\n Total files:\t" + files);
    text.append(openFiles > 0 ? " (Files currently being written: " + openFiles + ")" : "");
    text.append("\n Total blocks (validated):\t" + blocks);
    text.append(blocks > 0 ? " (avg. block size " + bytes / blocks + " B)" : "");
    text.append(
        openBlocks > 0 ? " (Total open file blocks (not validated): " + openBlocks + ")" : "");
    if (corruptFiles > 0) {
      damage(text);
    }
    text.append("\n Minimally replicated blocks:\t" + share(enough, blocks));
    text.append("\n Over-replicated blocks:\t" + share(over, blocks));
    text.append("\n Under-replicated blocks:\t" + share(under, blocks));
    text.append("\n Mis-replicated blocks:\t\t" + share(0, blocks));
    text.append("\n Default replication factor:\t" + replication);
    text.append("\n Average block replication:\t" + (blocks > 0 ? (float) found / blocks : 0f));
    text.append("\n Missing blocks:\t\t" + missing);
    text.append("\n Corrupt blocks:\t\t" + corrupt);
    text.append("\n Missing replicas:\t\t" + share(lacking, wanted));
    text.append(decommissioned > 0 ? "\n DecommissionedReplicas:\t" + decommissioned : "");
    text.append(decommissioning > 0 ? "\n DecommissioningReplicas:\t" + decommissioning : "");
    return text.append("\n Blocks queued for replication:\t0").toString();
  }

  private void damage(StringBuilder text) {
    text.append("\n  ").append(STARS);
    text.append("\n  UNDER MIN REPL'D BLOCKS:\t" + share(blocks - enough, blocks));
    text.append("\n  MINIMAL BLOCK REPLICATION:\t1");
    text.append("\n  CORRUPT FILES:\t" + corruptFiles);
    if (missing > 0) {
      text.append("\n  MISSING BLOCKS:\t" + missing);
      text.append("\n  MISSING SIZE:\t\t" + missingBytes + " B");
    }
    if (corrupt > 0) {
      text.append("\n  CORRUPT BLOCKS: \t" + corrupt);
      text.append("\n  CORRUPT SIZE:\t\t" + corruptBytes + " B");
    }
    text.append(STARS);
  }

  static String share(long part, long of) {
    return of > 0 ? part + " (" + (float) (part * 100) / of + " %)" : Long.toString(part);
  }
}
