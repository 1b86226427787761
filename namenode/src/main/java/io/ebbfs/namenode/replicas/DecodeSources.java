package io.ebbfs.namenode.replicas;

import java.util.Map;

/**
 * The servers that hold the sources from which a block of a stripe is decoded. A server that
 * decodes the block itself reads its own sources from its disks and not over its link.
 *
 * @param count blocks that the cheapest plan reads; 0 if the block cannot be decoded
 * @param byServer the number of these blocks on each server, by server uuid
 */
public record DecodeSources(int count, Map<String, Integer> byServer) {
  public static final DecodeSources NONE = new DecodeSources(0, Map.of());

  public DecodeSources {
    byServer = Map.copyOf(byServer);
  }

  /** The number of blocks that this server fetches from other servers in order to decode. */
  int remoteFor(String serverUuid) {
    return count - byServer.getOrDefault(serverUuid, 0);
  }

  /** Whether this server holds one of the sources. */
  public boolean isOn(String serverUuid) {
    return byServer.containsKey(serverUuid);
  }
}
