package io.ebbfs.verify.simulator;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.audit.SpaceAccount;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Accounts for the bytes of the cluster by the rows, and checks the refusals for lack of space. */
final class SpaceCheck {
  private final MetadataMirror rows;
  private final AcknowledgedFiles acknowledged;
  private boolean disksHaveRoom;

  SpaceCheck(MetadataMirror rows, AcknowledgedFiles acknowledged) {
    this.rows = rows;
    this.acknowledged = acknowledged;
  }

  /** The disks get room: from now on no transition may end as NO_SPACE. */
  void disksHaveRoom() {
    disksHaveRoom = true;
  }

  /** The acknowledged files of encodings that ended as NO_SPACE or NO_DOMAINS. */
  List<Long> refusedFiles() {
    Set<Long> files = new TreeSet<>();
    for (TransitionRow row : rows.transitions.values()) {
      if (row.getState() == TransitionStateProto.NO_SPACE
          || row.getState() == TransitionStateProto.NO_DOMAINS) {
        row.getBlocksList().forEach(block -> files.add(block.getOwnerId()));
      }
    }
    files.retainAll(acknowledged.files());
    return List.copyOf(files);
  }

  /** A transition that ends as NO_SPACE or NO_DOMAINS says what is missing. */
  void endIsExplained(TransitionRow row) {
    boolean space = row.getState() == TransitionStateProto.NO_SPACE;
    if (space && disksHaveRoom) {
      throw new Violation("all disks have room, and yet " + row);
    }
    if (space != row.getMissingBytes() > 0 || row.getFailure().isEmpty()) {
      throw new Violation("does not say what is missing: " + row);
    }
  }

  /** The account of all bytes. Unlike the namenode it goes by the members of stripe rows. */
  SpaceAccount account() {
    long live = 0;
    long dead = 0;
    long parity = 0;
    long replicated = 0;
    long leaving = 0;
    Map<Long, StripeMemberProto> members = new HashMap<>();
    Set<Long> parities = new HashSet<>();
    for (StripeRow stripe : rows.stripes.values()) {
      ErasureCode code = SimCodes.REGISTRY.byName(stripe.getCode());
      for (StripeMemberProto member : stripe.getMembersList()) {
        members.put(member.getBlockId(), member);
        if (code.position(member.getPosition()).isParity()) {
          parities.add(member.getBlockId());
        }
      }
    }
    for (Map.Entry<Key, ReplicaRow> entry : rows.replicas.entrySet()) {
      long id = entry.getKey().firstLong();
      long bytes = entry.getValue().getLengthBytes();
      Key key = rows.keyOf(id);
      if (entry.getValue().getState() != ReplicaStateProto.FINALIZED
          || key == null
          || key.partition() != entry.getKey().partition()) {
        leaving += bytes;
      } else if (!members.containsKey(id)) {
        replicated += bytes;
      } else if (parities.contains(id)) {
        parity += bytes;
      } else if (members.get(id).getTombstone()) {
        dead += bytes;
      } else {
        live += bytes;
      }
    }
    return new SpaceAccount(live, dead, parity, replicated, leaving, reserved());
  }

  /** The bytes that running transitions write and no replica row counts. */
  private long reserved() {
    long bytes = 0;
    for (TransitionRow row : rows.transitions.values()) {
      if (row.getState() == TransitionStateProto.RUNNING) {
        for (TransitionOutputProto output : row.getOutputsList()) {
          BlockOwnerRow owner = rows.owners.get(output.getBlockId());
          boolean counted =
              owner != null
                  && owner.hasOwnerId()
                  && rows.replicas.containsKey(
                      Tables.replica(
                          owner.getOwnerId(), output.getBlockId(), output.getStorageUuid()));
          bytes += counted ? 0 : output.getLengthBytes();
        }
      }
    }
    return bytes;
  }
}
