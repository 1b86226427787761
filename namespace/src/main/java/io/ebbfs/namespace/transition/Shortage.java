package io.ebbfs.namespace.transition;

import io.ebbfs.namespace.placement.Disk;
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
 * What was missing for a placement, found by asking for it again with more: with space on disks
 * that are full, then with servers that are not there.
 *
 * @param endsAs NO_SPACE or NO_DOMAINS
 * @param remedy what is missing, and what would do
 * @param missingBytes on the disks that are too full; 0 if space is not what is missing
 * @param servers in service when it was found
 * @param disks in service
 * @param freeBytes on all of them
 */
record Shortage(
    TransitionStateProto endsAs,
    String remedy,
    long missingBytes,
    int servers,
    int disks,
    long freeBytes) {
  private static final int MOST_DISKS = 64;
  private static final int MOST_SERVERS = 16;
  private static final long ROOMY = Long.MAX_VALUE / 1_000_000;

  /**
   * Finds it.
   *
   * @param lengthBytes of the longest block to place
   * @param disks in service
   * @param works whether there is a placement with these disks
   */
  static Shortage of(long lengthBytes, List<Disk> disks, Predicate<List<Disk>> works) {
    List<Disk> full = new ArrayList<>(disks);
    full.removeIf(disk -> disk.freeBytes() >= lengthBytes);
    full.sort(Comparator.comparingLong(Disk::freeBytes).reversed());
    for (int count = 1; count <= Math.min(full.size(), MOST_DISKS); count++) {
      List<Disk> freed = full.subList(0, count);
      List<Disk> tried = new ArrayList<>(disks);
      tried.removeAll(freed);
      freed.forEach(disk -> tried.add(withFree(disk, lengthBytes)));
      if (works.test(tried)) {
        return space(lengthBytes, disks, freed, full.size());
      }
    }
    return domains(lengthBytes, disks, works);
  }

  private static Shortage space(
      long lengthBytes, List<Disk> disks, List<Disk> freed, int fullDisks) {
    long missing = freed.stream().mapToLong(disk -> lengthBytes - disk.freeBytes()).sum();
    List<String> names = freed.stream().map(Disk::storageUuid).toList();
    String remedy =
        "%d of %d disks in service have less than the %d bytes free that a block needs; %d bytes on %d of them would do (%s): delete data, or add disks"
            .formatted(fullDisks, disks.size(), lengthBytes, missing, freed.size(), names(names));
    return of(TransitionStateProto.NO_SPACE, remedy, missing, disks);
  }

  private static Shortage domains(long lengthBytes, List<Disk> disks, Predicate<List<Disk>> works) {
    int servers = servers(disks);
    int each = servers == 0 ? 1 : Math.max(1, disks.size() / servers);
    List<Disk> tried = new ArrayList<>(disks);
    for (int added = 1; added <= MOST_SERVERS; added++) {
      for (int d = 0; d < each; d++) {
        String rack = disks.isEmpty() ? "" : disks.get(added % disks.size()).rack();
        tried.add(disk("new-disk-" + added + "-" + d, "new-server-" + added, rack, ROOMY, 0));
      }
      if (works.test(tried)) {
        return of(
            TransitionStateProto.NO_DOMAINS,
            "%d servers with %d disks are in service; %d more, with %d disks each that have %d bytes free, would do: add them, or choose a code with more parities"
                .formatted(servers, disks.size(), added, each, lengthBytes),
            0,
            disks);
      }
    }
    return of(
        TransitionStateProto.NO_DOMAINS,
        "%d servers with %d disks are in service, and %d more like them would not do: some servers or racks hold too much of the stripe"
            .formatted(servers, disks.size(), MOST_SERVERS),
        0,
        disks);
  }

  /**
   * Disks filled up while they were written, whatever they had said of their space before; so what
   * is missing is all that was to be written to them.
   */
  static Shortage full(List<TargetProto> targets, List<Disk> disks) {
    Map<String, Long> missing = new TreeMap<>();
    for (TargetProto target : targets) {
      missing.merge(
          target.getLocation().getStorageUuid(), target.getBlock().getNumBytes(), Long::sum);
    }
    long bytes = missing.values().stream().mapToLong(Long::longValue).sum();
    String remedy =
        "%d of %d disks in service filled up while blocks were written to them, for which %d bytes were needed (%s): delete data, or add disks"
            .formatted(missing.size(), disks.size(), bytes, names(missing.keySet()));
    return of(TransitionStateProto.NO_SPACE, remedy, bytes, disks);
  }

  private static String names(Collection<String> storages) {
    String some = storages.stream().limit(5).collect(Collectors.joining(", "));
    return some + (storages.size() > 5 ? ", ..." : "");
  }

  /** Members that stay are too much together. */
  static Shortage crowded(List<Disk> disks) {
    return of(
        TransitionStateProto.NO_DOMAINS,
        "add servers or disks: members are spread over them in the background",
        0,
        disks);
  }

  private static Shortage of(
      TransitionStateProto endsAs, String remedy, long missingBytes, List<Disk> disks) {
    long free = disks.stream().mapToLong(Disk::freeBytes).sum();
    return new Shortage(endsAs, remedy, missingBytes, servers(disks), disks.size(), free);
  }

  private static int servers(List<Disk> disks) {
    TreeSet<String> servers = new TreeSet<>();
    disks.forEach(disk -> servers.add(disk.serverUuid()));
    return servers.size();
  }

  private static Disk withFree(Disk disk, long freeBytes) {
    return disk(disk.storageUuid(), disk.serverUuid(), disk.rack(), freeBytes, disk.load());
  }

  private static Disk disk(
      String storageUuid, String serverUuid, String rack, long freeBytes, double load) {
    return new Disk(storageUuid, serverUuid, rack, Math.max(1, 2 * freeBytes), freeBytes, load);
  }
}
