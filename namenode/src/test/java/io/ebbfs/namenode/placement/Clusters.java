package io.ebbfs.namenode.placement;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;

/** Made-up clusters and blocks. */
public final class Clusters {
  private Clusters() {}

  public static List<PlacementDisk> cluster(int servers, int disksPerServer, Random random) {
    List<PlacementDisk> disks = new ArrayList<>();
    for (int s = 0; s < servers; s++) {
      for (int d = 0; d < disksPerServer; d++) {
        long free = 50_000_000_000L + random.nextInt(50) * 1_000_000_000L;
        disks.add(
            new PlacementDisk(
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
  public static List<String> replicas(List<PlacementDisk> disks, int count, Random random) {
    List<PlacementDisk> shuffled = new ArrayList<>(disks);
    Collections.shuffle(shuffled, random);
    List<String> servers = new ArrayList<>();
    List<String> replicas = new ArrayList<>();
    for (PlacementDisk disk : shuffled) {
      if (replicas.size() < count && !servers.contains(disk.serverUuid())) {
        servers.add(disk.serverUuid());
        replicas.add(disk.storageUuid());
      }
    }
    return replicas;
  }

  public static StripeBlock block(long id, long length, List<PlacementDisk> disks, Random random) {
    return new StripeBlock(id, length, id / 7, id % 7, replicas(disks, 3, random));
  }

  public static StripeGroup fullGroup(ErasureCode code, List<PlacementDisk> disks, Random random) {
    List<SortedMap<Integer, StripeBlock>> stripes = new ArrayList<>();
    long id = 1000;
    for (int s = 0; s < CodeRegistry.builtIn().stripesPerGroup(code); s++) {
      SortedMap<Integer, StripeBlock> stripe = new TreeMap<>();
      for (int d = 0; d < code.dataCount(); d++) {
        stripe.put(d, block(id++, 1 << 20, disks, random));
      }
      stripes.add(stripe);
    }
    return new StripeGroup(code, stripes, CodeRegistry.builtIn().mergesInto(code));
  }
}
