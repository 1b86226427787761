package io.ebbfs.fault;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.LocalCluster;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.HdfsBlockLocation;
import org.apache.hadoop.fs.Path;

/** Lists the blocks of a file by a stock client's call. */
final class BlocksOfFile {
  private BlocksOfFile() {}

  static List<Long> list(LocalCluster cluster, String path) throws IOException, ClusterException {
    Configuration conf = new Configuration();
    conf.setInt("ipc.client.connect.max.retries", 0);
    List<Long> ids = new ArrayList<>();
    try (FileSystem files = FileSystem.newInstance(URI.create(cluster.stockClient().uri()), conf)) {
      for (BlockLocation location :
          files.getFileBlockLocations(new Path(path), 0, Long.MAX_VALUE)) {
        ids.add(((HdfsBlockLocation) location).getLocatedBlock().getBlock().getBlockId());
      }
    } catch (FileNotFoundException e) {
      throw new ClusterException(
          "no file %s in %s".formatted(path, cluster.stockClient().uri()), e);
    }
    if (ids.isEmpty()) {
      throw new ClusterException("%s is empty: it has no blocks".formatted(path));
    }
    return ids;
  }
}
