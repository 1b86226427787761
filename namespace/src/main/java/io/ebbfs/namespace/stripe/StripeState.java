package io.ebbfs.namespace.stripe;

import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A stripe and where its members are now. Immutable.
 *
 * @param members by position
 * @param locations the disks in service that hold the member whole, by position; perhaps none
 */
public record StripeState(
    StripeRow row,
    ErasureCode code,
    SortedMap<Integer, StripeMemberProto> members,
    SortedMap<Integer, List<String>> locations) {

  /** Reads where the members are. */
  public static StripeState read(Transaction transaction, ClusterView cluster, StripeRow row)
      throws IOException {
    SortedMap<Integer, StripeMemberProto> members = new TreeMap<>();
    for (StripeMemberProto member : row.getMembersList()) {
      members.put(member.getPosition(), member);
    }
    return new StripeState(
        row,
        Codes.byName(row.getCode()),
        Collections.unmodifiableSortedMap(members),
        Collections.unmodifiableSortedMap(
            MemberRows.liveStorages(transaction, cluster, row.getMembersList())));
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

  /** Whether every block of a file that still exists is on a disk in service. */
  public boolean hasAllLiveData() {
    return members.values().stream()
        .filter(member -> isLiveData(code, member))
        .noneMatch(member -> locations.get(member.getPosition()).isEmpty());
  }

  /** Whether a member belongs to a file that still exists. */
  public static boolean isLiveData(ErasureCode code, StripeMemberProto member) {
    return code.position(member.getPosition()).isData() && !member.getTombstone();
  }

  /** Length of the data at a position, 0 for a virtual zero. */
  public long dataLength(int position) {
    StripeMemberProto member = members.get(position);
    return member == null ? 0 : member.getLengthBytes();
  }
}
