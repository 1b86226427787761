package io.ebbfs.namenode.fsck;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * What a client of fsck asks.
 *
 * @param user who asks; without authentication, as of all calls, the client names the user
 * @param blockIds blocks to tell about instead of files; empty for files
 */
record FsckQuestion(
    String user,
    String path,
    boolean files,
    boolean blocks,
    Detail detail,
    boolean openFiles,
    boolean policies,
    boolean corruptFiles,
    boolean nextPage,
    List<String> blockIds,
    List<String> changes) {
  /** Who asks without a name, as on HDFS. */
  private static final String NOBODY = "dr.who";

  /** What is told about each replica. */
  enum Detail {
    NONE,
    LOCATIONS,
    RACKS,
    STATES,
    DOMAINS
  }

  static FsckQuestion of(Map<String, String> query) {
    Detail detail =
        query.containsKey("replicadetails")
            ? Detail.STATES
            : query.containsKey("upgradedomains")
                ? Detail.DOMAINS
                : query.containsKey("locations")
                    ? Detail.LOCATIONS
                    : query.containsKey("racks") ? Detail.RACKS : Detail.NONE;
    return new FsckQuestion(
        query.getOrDefault("user.name", query.getOrDefault("ugi", NOBODY)).replaceFirst(",.*", ""),
        query.getOrDefault("path", "/"),
        query.containsKey("files"),
        query.containsKey("blocks"),
        detail,
        query.containsKey("openforwrite"),
        query.containsKey("storagepolicies"),
        query.containsKey("listcorruptfileblocks"),
        query.containsKey("startblockafter"),
        Arrays.stream(query.getOrDefault("blockId", "").split(" "))
            .filter(word -> !word.isEmpty())
            .toList(),
        List.of("delete", "move", "replicate").stream().filter(query::containsKey).toList());
  }
}
