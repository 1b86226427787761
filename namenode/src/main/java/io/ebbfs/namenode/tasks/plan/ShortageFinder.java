package io.ebbfs.namenode.tasks.plan;

import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.tasks.lifecycle.PlacementShortage;
import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Finds out what is missing for a placement. It asks for the placement again with more: first with
 * free space on disks that are full, then with servers that do not exist. Pure.
 */
public final class ShortageFinder {
  private static final int MOST_DISKS = 64;
  private static final int MOST_SERVERS = 16;
  private static final long ROOMY = Long.MAX_VALUE / 1_000_000;

  private ShortageFinder() {}

  /**
   * Finds what is missing.
   *
   * @param lengthBytes of the longest block to place
   * @param disks the disks in service
   * @param works whether there is a placement on these disks
   * @param otherwise what may be done instead of adding servers, for the end of a sentence; empty
   *     for nothing
   */
  static PlacementShortage find(
      long lengthBytes,
      List<PlacementDisk> disks,
      Predicate<List<PlacementDisk>> works,
      String otherwise) {
    List<PlacementDisk> full = new ArrayList<>(disks);
    full.removeIf(disk -> disk.freeBytes() >= lengthBytes);
    full.sort(Comparator.comparingLong(PlacementDisk::freeBytes).reversed());
    for (int count = 1; count <= Math.min(full.size(), MOST_DISKS); count++) {
      List<PlacementDisk> freed = full.subList(0, count);
      List<PlacementDisk> tried = new ArrayList<>(disks);
      tried.removeAll(freed);
      freed.forEach(disk -> tried.add(withFree(disk, lengthBytes)));
      if (works.test(tried)) {
        return space(lengthBytes, disks, freed, full.size());
      }
    }
    return domains(lengthBytes, disks, works, otherwise);
  }

  private static PlacementShortage space(
      long lengthBytes, List<PlacementDisk> disks, List<PlacementDisk> freed, int fullDisks) {
    long missing = freed.stream().mapToLong(disk -> lengthBytes - disk.freeBytes()).sum();
    List<String> names = freed.stream().map(PlacementDisk::storageUuid).toList();
    String remedy =
        "%d of %d disks in service have less than the %d bytes free that a block needs; %d bytes on %d of them would do (%s): delete data, or add disks"
            .formatted(fullDisks, disks.size(), lengthBytes, missing, freed.size(), names(names));
    return shortage(TransitionStateProto.NO_SPACE, remedy, missing, disks);
  }

  private static PlacementShortage domains(
      long lengthBytes,
      List<PlacementDisk> disks,
      Predicate<List<PlacementDisk>> works,
      String otherwise) {
    int servers = servers(disks);
    int each = servers == 0 ? 1 : Math.max(1, disks.size() / servers);
    List<PlacementDisk> tried = new ArrayList<>(disks);
    for (int added = 1; added <= MOST_SERVERS; added++) {
      for (int d = 0; d < each; d++) {
        String rack = disks.isEmpty() ? "" : disks.get(added % disks.size()).rack();
        tried.add(disk("new-disk-" + added + "-" + d, "new-server-" + added, rack, ROOMY, 0));
      }
      if (works.test(tried)) {
        return shortage(
            TransitionStateProto.NO_DOMAINS,
            "%d servers with %d disks are in service; %d more, with %d disks each that have %d bytes free, would do: add them%s"
                .formatted(servers, disks.size(), added, each, lengthBytes, otherwise),
            0,
            disks);
      }
    }
    return shortage(
        TransitionStateProto.NO_DOMAINS,
        "%d servers with %d disks are in service, and %d more like them would not do: some servers or racks hold too much of the stripe"
            .formatted(servers, disks.size(), MOST_SERVERS),
        0,
        disks);
  }

  /**
   * The shortage of disks that filled up while blocks were written to them. What they said of their
   * free space before was wrong, so all bytes that were to be written to them count as missing.
   *
   * @param targets the blocks that did not fit
   * @param disks the disks in service
   */
  public static PlacementShortage full(List<TargetProto> targets, List<PlacementDisk> disks) {
    Map<String, Long> missing = new TreeMap<>();
    for (TargetProto target : targets) {
      missing.merge(
          target.getLocation().getStorageUuid(), target.getBlock().getNumBytes(), Long::sum);
    }
    long bytes = missing.values().stream().mapToLong(Long::longValue).sum();
    String remedy =
        "%d of %d disks in service filled up while blocks were written to them, for which %d bytes were needed (%s): delete data, or add disks"
            .formatted(missing.size(), disks.size(), bytes, names(missing.keySet()));
    return shortage(TransitionStateProto.NO_SPACE, remedy, bytes, disks);
  }

  private static String names(Collection<String> storages) {
    String some = storages.stream().limit(5).collect(Collectors.joining(", "));
    return some + (storages.size() > 5 ? ", ..." : "");
  }

  /** The shortage of a conversion whose remaining members are on too few servers. */
  static PlacementShortage crowded(List<PlacementDisk> disks) {
    return shortage(
        TransitionStateProto.NO_DOMAINS,
        "add servers or disks: members are spread over them in the background",
        0,
        disks);
  }

  private static PlacementShortage shortage(
      TransitionStateProto endsAs, String remedy, long missingBytes, List<PlacementDisk> disks) {
    long free = disks.stream().mapToLong(PlacementDisk::freeBytes).sum();
    return new PlacementShortage(endsAs, remedy, missingBytes, servers(disks), disks.size(), free);
  }

  private static int servers(List<PlacementDisk> disks) {
    TreeSet<String> servers = new TreeSet<>();
    disks.forEach(disk -> servers.add(disk.serverUuid()));
    return servers.size();
  }

  private static PlacementDisk withFree(PlacementDisk disk, long freeBytes) {
    return disk(disk.storageUuid(), disk.serverUuid(), disk.rack(), freeBytes, disk.load());
  }

  private static PlacementDisk disk(
      String storageUuid, String serverUuid, String rack, long freeBytes, double load) {
    return new PlacementDisk(
        storageUuid, serverUuid, rack, Math.max(1, 2 * freeBytes), freeBytes, load);
  }
}
