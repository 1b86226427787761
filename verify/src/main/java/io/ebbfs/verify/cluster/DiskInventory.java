package io.ebbfs.verify.cluster;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.process.LiveFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The block files on the disks of a cluster at one moment, read without asking the servers.
 *
 * @param byStorage the data files of finalized blocks, by disk uuid and block id
 * @param serverOf the number of the server by disk uuid
 * @param strayFiles files that belong to no finalized block, relative to the cluster
 */
public record DiskInventory(
    Map<String, Map<Long, Path>> byStorage,
    Map<String, Integer> serverOf,
    List<String> strayFiles) {

  public static DiskInventory read(LocalCluster cluster) throws IOException, ClusterException {
    DiskInventory disks = new DiskInventory(new HashMap<>(), new HashMap<>(), new ArrayList<>());
    for (int server = 0; server < cluster.layout().servers(); server++) {
      for (int disk = 0; disk < cluster.layout().disks(); disk++) {
        disks.add(server, cluster.diskDirectory(server, disk));
      }
    }
    return disks;
  }

  private void add(int server, Path disk) throws IOException {
    String uuid = "";
    for (String line : Files.readAllLines(disk.resolve("VERSION"))) {
      if (line.startsWith("storageUuid=")) {
        uuid = line.substring("storageUuid=".length()).strip();
      }
    }
    serverOf.put(uuid, server);
    Map<Long, Path> blocks = new TreeMap<>();
    byStorage.put(uuid, blocks);
    Map<Long, Path> sums = new TreeMap<>();
    for (Path file : LiveFiles.below(disk)) {
      String name = file.getFileName().toString();
      // What a start has set aside belongs to nobody.
      if (!name.startsWith("blk_") || file.startsWith(disk.resolve("corrupt"))) {
        continue;
      }
      if (!file.startsWith(disk.resolve("finalized"))) {
        strayFiles.add(disk.getParent().getParent().relativize(file).toString());
      } else if (name.endsWith(".meta")) {
        sums.put(Long.parseLong(name.split("_")[1]), file);
      } else {
        blocks.put(Long.parseLong(name.split("_")[1]), file);
      }
    }
    for (Map.Entry<Long, Path> sum : sums.entrySet()) {
      if (!blocks.containsKey(sum.getKey())) {
        strayFiles.add(disk.getParent().getParent().relativize(sum.getValue()).toString());
      }
    }
  }

  /** The numbers of the servers that hold a finalized replica of a block. */
  public List<Integer> serversOf(long blockId) {
    List<Integer> servers = new ArrayList<>();
    byStorage.forEach(
        (storage, blocks) -> {
          if (blocks.containsKey(blockId)) {
            servers.add(serverOf.get(storage));
          }
        });
    return servers;
  }
}
