package io.ebbfs.namenode.stripes;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A stripe and the disks that hold its members now: this tells which members are lost. Immutable.
 *
 * @param members by position
 * @param locations by position: the disks in service that hold the member whole; empty if it is
 *     lost
 */
public record StripeState(
    StripeRow row,
    ErasureCode code,
    SortedMap<Integer, StripeMemberProto> members,
    SortedMap<Integer, List<String>> locations) {

  /** Reads the replica rows of the members. */
  public static StripeState read(
      Transaction transaction, CodeRegistry codes, ClusterView cluster, StripeRow row)
      throws IOException {
    SortedMap<Integer, StripeMemberProto> members = new TreeMap<>();
    for (StripeMemberProto member : row.getMembersList()) {
      members.put(member.getPosition(), member);
    }
    return new StripeState(
        row,
        codes.byName(row.getCode()),
        Collections.unmodifiableSortedMap(members),
        Collections.unmodifiableSortedMap(
            BlockRows.liveStorages(transaction, cluster, row.getMembersList())));
  }

  public long id() {
    return row.getId();
  }

  /** Positions that hold a block, lost or not. */
  public Set<Integer> occupied() {
    return members.keySet();
  }

  /** Positions whose block is on no disk in service. */
  public SortedSet<Integer> lost() {
    SortedSet<Integer> lost = new TreeSet<>();
    locations.forEach(
        (position, storages) -> {
          if (storages.isEmpty()) {
            lost.add(position);
          }
        });
    return lost;
  }

  /**
   * Whether all lost members may come back: each was on a disk that went out of service after that
   * time, or whose server hibernates.
   */
  public boolean isLostSince(Transaction transaction, ClusterView cluster, long millis)
      throws IOException {
    for (int position : lost()) {
      if (BlockRows.storages(transaction, members.get(position)).stream()
          .noneMatch(storage -> mayComeBack(cluster, millis, storage))) {
        return false;
      }
    }
    return true;
  }

  /**
   * The lost members of which {@link #isLostSince} does not hold, and those on disks that have
   * failed: nobody can count on them.
   */
  public SortedSet<Integer> lostForGood(Transaction transaction, ClusterView cluster, long millis)
      throws IOException {
    SortedSet<Integer> forGood = new TreeSet<>();
    for (int position : lost()) {
      if (BlockRows.storages(transaction, members.get(position)).stream()
          .filter(storage -> cluster.disk(storage).filter(Disk::failed).isEmpty())
          .noneMatch(storage -> mayComeBack(cluster, millis, storage))) {
        forGood.add(position);
      }
    }
    return forGood;
  }

  private static boolean mayComeBack(ClusterView cluster, long millis, String storage) {
    return cluster.isAwaited(storage) || cluster.lostSinceMillis(storage) > millis;
  }

  /**
   * Whether the next failure, of a disk or a server, may leave members that cannot be decoded. A
   * server may hold several members.
   */
  public boolean isLostWithNextServer(ClusterView cluster) {
    Map<Set<String>, Set<Integer>> byServers = new HashMap<>();
    locations.forEach(
        (position, storages) ->
            byServers
                .computeIfAbsent(cluster.serversOf(storages), servers -> new TreeSet<>(lost()))
                .add(position));
    return byServers.entrySet().stream()
        .filter(entry -> entry.getKey().size() <= 1)
        .anyMatch(entry -> !code.decodes(entry.getValue()));
  }

  /** Positions whose block is on a server that is drained, and on no other server. */
  public SortedSet<Integer> leaving(ClusterView cluster) {
    SortedSet<Integer> leaving = new TreeSet<>();
    locations.forEach(
        (position, storages) -> {
          if (!storages.isEmpty() && storages.stream().allMatch(cluster::isLeaving)) {
            leaving.add(position);
          }
        });
    return leaving;
  }

  /** The stripe as it would be if the blocks of these positions were lost. */
  public StripeState without(Set<Integer> positions) {
    SortedMap<Integer, List<String>> left = new TreeMap<>(locations);
    positions.forEach(position -> left.put(position, List.of()));
    return new StripeState(row, code, members, Collections.unmodifiableSortedMap(left));
  }

  /** The stripe as it would be if one of its blocks were on another disk. */
  public StripeState moved(int position, String storageUuid) {
    SortedMap<Integer, List<String>> moved = new TreeMap<>(locations);
    moved.put(position, List.of(storageUuid));
    return new StripeState(row, code, members, Collections.unmodifiableSortedMap(moved));
  }

  /** Whether every live data block is on a disk in service; parities and tombstones may be lost. */
  public boolean hasAllLiveData() {
    return members.values().stream()
        .filter(member -> isLiveData(code, member))
        .noneMatch(member -> locations.get(member.getPosition()).isEmpty());
  }

  /** Whether a member is a data block of a file that still exists. */
  public static boolean isLiveData(ErasureCode code, StripeMemberProto member) {
    return code.position(member.getPosition()).isData() && !member.getTombstone();
  }
}
