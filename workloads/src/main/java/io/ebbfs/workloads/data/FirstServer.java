package io.ebbfs.workloads.data;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedStripedBlock;

/** Finds the server that holds the first byte of a file. */
final class FirstServer {
  private FirstServer() {}

  /** The number of the server. */
  static int of(ComparedSystem system, String path) throws IOException {
    URI uri = URI.create(system.client().uri());
    try (DistributedFileSystem files =
        (DistributedFileSystem) DistributedFileSystem.newInstance(uri, new Configuration())) {
      LocatedBlock block = files.getClient().getLocatedBlocks(path, 0).get(0);
      int port = block.getLocations()[indexOfFirst(block)].getXferPort();
      int server = system.transferPorts().indexOf(port);
      if (server < 0) {
        throw new IOException("no server of %s has port %d".formatted(system.name(), port));
      }
      return server;
    }
  }

  private static int indexOfFirst(LocatedBlock block) throws IOException {
    DatanodeInfo[] locations = block.getLocations();
    if (!(block instanceof LocatedStripedBlock striped)) {
      return 0;
    }
    for (int i = 0; i < locations.length; i++) {
      if (striped.getBlockIndices()[i] == 0) {
        return i;
      }
    }
    throw new IOException("the first block of a group has no place: " + block);
  }
}
