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
 * @param corrupt whether all known replicas are bad
 */
public record BlockPlaces(BlockRow block, long offsetBytes, List<Place> places, boolean corrupt) {
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
