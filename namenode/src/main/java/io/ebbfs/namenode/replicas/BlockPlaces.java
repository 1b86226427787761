package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.util.List;
import org.apache.hadoop.fs.StorageType;

/**
 * Where a client finds a block, or writes it.
 *
 * @param offsetBytes the offset of the block in its file
 * @param places of a block group: the places of its blocks
 * @param corrupt whether all known replicas are bad
 * @param groupIndices of a block group: the index in the group of each place; else null
 */
public record BlockPlaces(
    BlockRow block, long offsetBytes, List<Place> places, boolean corrupt, byte[] groupIndices) {
  public BlockPlaces(BlockRow block, long offsetBytes, List<Place> places, boolean corrupt) {
    this(block, offsetBytes, places, corrupt, null);
  }

  /** A location. The storage of a server that decodes the block is empty. */
  public record Place(Server server, String storageUuid) {
    /** The type of the storage; DISK of a server that decodes the block. */
    public StorageType type() {
      for (Disk disk : server.disks()) {
        if (disk.storageUuid().equals(storageUuid)) {
          return disk.type();
        }
      }
      return StorageType.DISK;
    }
  }
}
