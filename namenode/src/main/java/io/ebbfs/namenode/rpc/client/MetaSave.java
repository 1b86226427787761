package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.MissingBlock;
import io.ebbfs.namenode.rpc.coding.BlockCounts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Writes what the namenode knows about servers and redundancy into a file of its data directory:
 * the first servers and blocks, and how many there are. Thread-safe.
 */
public final class MetaSave {
  private static final int SERVERS = 10_000;
  private static final int BLOCKS = 10_000;
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}");

  private final Path directory;
  private final DatanodeRegistry cluster;
  private final BlockService blocks;
  private final BlockCounts counts;
  private final Clock clock;

  /**
   * @param directory of the files; it is made with the first one
   */
  public MetaSave(
      Path directory,
      DatanodeRegistry cluster,
      BlockService blocks,
      BlockCounts counts,
      Clock clock) {
    this.directory = directory;
    this.cluster = cluster;
    this.blocks = blocks;
    this.counts = counts;
    this.clock = clock;
  }

  /** Of a namenode that does not lead, and so is not asked. */
  public static final MetaSave NONE = new MetaSave(null, null, null, null, null);

  /**
   * Writes a file, over the one of an earlier call with the same name.
   *
   * @throws IOException if the name is more than a name, or the file cannot be written
   */
  public synchronized Path write(String name) throws IOException {
    if (!NAME.matcher(name).matches()) {
      throw new IOException(
          "'%s' is no name of a file for metasave: give letters, digits, '_', '.' and '-', and no directory"
              .formatted(name));
    }
    if (directory == null) {
      throw new IOException("this namenode does not lead: ask the one that leads for a metasave");
    }
    Files.createDirectories(directory);
    Path unfinished = directory.resolve("." + name);
    Files.writeString(unfinished, text(), StandardCharsets.UTF_8);
    return Files.move(
        unfinished,
        directory.resolve(name),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  private String text() throws IOException {
    StringBuilder text = new StringBuilder();
    line(text, "time: %s", clock.instant());
    line(text, "safe mode: %s", cluster.inSafeMode() ? "on" : "off");
    line(text, "blocks with too few replicas: %d", counts.underReplicatedBlocks().getAsLong());
    line(text, "blocks without a live replica: %d", counts.missingBlocks().getAsLong());
    line(text, "replicas of unknown blocks: %d", counts.orphanReplicas().getAsLong());
    List<Server> servers = cluster.allServers();
    line(text, "chunk servers: %d, live: %d", servers.size(), cluster.liveServers().size());
    servers.stream().limit(SERVERS).forEach(server -> describe(text, server));
    List<MissingBlock> missing = blocks.missingAfter(0, BLOCKS);
    line(text, "ids of blocks without a live replica, %d at most:", BLOCKS);
    for (MissingBlock block : missing) {
      if (block.fileId().isPresent()) {
        line(text, "  %d of file %d", block.blockId(), block.fileId().getAsLong());
      }
    }
    return text.toString();
  }

  private static void describe(StringBuilder text, Server server) {
    line(
        text,
        "  %s %s:%d %s, %s, %d disks",
        server.uuid(),
        server.hostName(),
        server.transferPort(),
        server.live() ? "live" : "dead",
        server.drain(),
        server.disks().size());
  }

  private static void line(StringBuilder text, String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values)).append('\n');
  }
}
