package io.ebbfs.namespace.placement;

import io.ebbfs.coding.ErasureCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;

/** Made-up clusters and blocks. */
final class Clusters {
  private Clusters() {}

  static List<Disk> cluster(int servers, int disksPerServer, Random random) {
    List<Disk> disks = new ArrayList<>();
    for (int s = 0; s < servers; s++) {
      for (int d = 0; d < disksPerServer; d++) {
        long free = 50_000_000_000L + random.nextInt(50) * 1_000_000_000L;
        disks.add(
            new Disk(
                "disk-" + s + "-" + d,
                "server-" + s,
                "/default-rack",
                110_000_000_000L,
                free,
                0.0));
      }
    }
    return disks;
  }

  /** Replicas on disks of different servers, as the write pipeline places them. */
  static List<String> replicas(List<Disk> disks, int count, Random random) {
    List<Disk> shuffled = new ArrayList<>(disks);
    Collections.shuffle(shuffled, random);
    List<String> servers = new ArrayList<>();
    List<String> replicas = new ArrayList<>();
    for (Disk disk : shuffled) {
      if (replicas.size() < count && !servers.contains(disk.serverUuid())) {
        servers.add(disk.serverUuid());
        replicas.add(disk.storageUuid());
      }
    }
    return replicas;
  }

  static StripeBlock block(long id, long length, List<Disk> disks, Random random) {
    return new StripeBlock(id, length, id / 7, id % 7, replicas(disks, 3, random));
  }

  static StripeGroup fullGroup(ErasureCode code, List<Disk> disks, Random random) {
    List<SortedMap<Integer, StripeBlock>> stripes = new ArrayList<>();
    long id = 1000;
    for (int s = 0; s < Packing.stripesPerGroup(code); s++) {
      SortedMap<Integer, StripeBlock> stripe = new TreeMap<>();
      for (int d = 0; d < code.dataCount(); d++) {
        stripe.put(d, block(id++, 1 << 20, disks, random));
      }
      stripes.add(stripe);
    }
    return new StripeGroup(code, stripes);
  }
}
