package io.ebbfs.workloads.experiment;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.HdfsBlockLocation;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;

/**
 * A block of a file. Encoding does not change its id.
 *
 * @param file its path
 * @param firstHolder a server that held it when it was looked up; -1 if none did
 */
record FileBlock(long id, String file, long offset, long bytes, int firstHolder) {
  /** The blocks of a file. The namenode counts this as an open, so the file becomes hotter. */
  static List<FileBlock> of(Bench bench, String file, long length) throws IOException {
    List<FileBlock> blocks = new ArrayList<>();
    for (BlockLocation location :
        bench.files().getFileBlockLocations(new Path(file), 0, Math.max(1, length))) {
      LocatedBlock block = ((HdfsBlockLocation) location).getLocatedBlock();
      DatanodeInfo[] places = block.getLocations();
      blocks.add(
          new FileBlock(
              block.getBlock().getBlockId(),
              file,
              location.getOffset(),
              location.getLength(),
              places.length == 0
                  ? -1
                  : bench.server(places[0].getIpAddr(), places[0].getIpcPort())));
    }
    return blocks;
  }
}
