package io.ebbfs.manager.view;

import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.CountProto;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.StorageStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.ManagerProtos.ViewInodeRow;
import io.ebbfs.protocol.proto.ManagerProtos.ViewStripeRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.util.List;
import java.util.Set;

/** Turns messages of the namenode into the views that the policy function reads. */
public final class ViewReader {
  private ViewReader() {}

  /** A file of the view, with the pin that holds for it. */
  static FileView file(ViewInodeRow row) {
    return file(row.getFile()).withPin(Pin.of(row.hasPin(), row.getPin()));
  }

  /** A stripe of the view, with the pin that it has by its files. */
  static StripeView stripe(ViewStripeRow row) {
    return stripe(row.getStatus())
        .withPins(Pin.of(row.hasPin(), row.getPin()), Set.copyOf(row.getLeavingFileIdsList()));
  }

  /** A file with its own pin. */
  public static FileView file(FileStatusProto file) {
    return new FileView(
        file.getFileId(),
        file.getPath(),
        file.getOwner(),
        file.getGroup(),
        file.getLengthBytes(),
        Math.max(file.getModifiedMillis(), file.getReleasedMillis()),
        file.getUnderConstruction(),
        file.getBlocks(),
        file.getStripedBlocks(),
        file.getStoredBytes(),
        file.getReplicatedBytes(),
        file.getReplicatedStoredBytes(),
        List.copyOf(file.getStripeIdsList()),
        file.getTransitionId(),
        file.getReplication(),
        Pin.of(file.hasPin(), file.getPin()),
        file.getGroupStoredBytes());
  }

  /** A stripe without a pin: the pins of its files are not known here. */
  public static StripeView stripe(StripeStatusProto status) {
    StripeRow row = status.getStripe();
    long transition = status.hasTransitionId() ? status.getTransitionId() : row.getTransitionId();
    return new StripeView(
        row.getId(),
        row.getCode(),
        row.getPolicy(),
        row.getUnitLengthBytes(),
        row.getMembersList().stream()
            .map(
                m ->
                    new StripeView.Member(
                        m.getPosition(), m.getLengthBytes(), m.getOwnerId(), m.getTombstone()))
            .toList(),
        status.getLiveBytes(),
        status.getDeadBytes(),
        status.getParityBytes(),
        Set.copyOf(status.getLostPositionsList()),
        row.getGroupId(),
        row.getGroupSlot(),
        row.getCreatedMillis(),
        transition,
        Pin.NONE,
        Set.of());
  }

  public static TransitionView transition(TransitionRow row) {
    return new TransitionView(
        row.getId(),
        row.getKind(),
        row.getState(),
        row.getPolicy(),
        row.getToCode(),
        row.getCreatedMillis(),
        row.getUpdatedMillis(),
        row.getAttempt(),
        row.getFailure(),
        row.getBlocksList().stream()
            .map(
                b ->
                    new TransitionView.Block(
                        b.getStripeIndex(), b.getPosition(), b.getOwnerId(), b.getOwnerIndex()))
            .toList(),
        row.getStripesList().stream().map(TransitionStripeProto::getStripeId).toList(),
        row.getKind() == TransitionKindProto.RELEASE && row.getStripesCount() > 0
            ? Set.copyOf(row.getStripes(0).getPositionsList())
            : Set.of(),
        row.getGroupFileId(),
        isRewriteOfNamenode(row),
        !row.hasClusterServers()
            ? null
            : new TransitionView.Lack(
                row.getMissingBytes(),
                new ClusterSnapshot.Cluster(
                    row.getClusterServers(),
                    row.getClusterDisks(),
                    row.getClusterFreeBytes(),
                    false)));
  }

  /** A rewrite that the manager proposed serves a storage bound or changes the code. */
  private static boolean isRewriteOfNamenode(TransitionRow row) {
    return row.getKind() == TransitionKindProto.REWRITE
        && row.getPriority() != CodingProtocol.PRIORITY_FOR_BOUND
        && row.getFromCode().equals(row.getToCode());
  }

  /** The servers that take blocks: they are live, are not drained and do not hibernate. */
  public static ClusterSnapshot.Cluster cluster(GetClusterResponseProto cluster) {
    int servers = 0;
    int disks = 0;
    long free = 0;
    for (ServerStatusProto server : cluster.getServersList()) {
      if (server.getLive() && !server.hasDrain() && !server.hasHibernation()) {
        servers++;
        for (StorageStatusProto disk : server.getStoragesList()) {
          disks += disk.getFailed() ? 0 : 1;
          free += disk.getFailed() ? 0 : disk.getRemainingBytes();
        }
      }
    }
    return new ClusterSnapshot.Cluster(servers, disks, free, cluster.getSafeMode());
  }

  /** Blocks of stripes without a live replica. */
  static long lostBlocks(GetClusterResponseProto cluster) {
    long blocks = 0;
    for (int i = 0; i < cluster.getStripesByLossCount(); i++) {
      blocks += (i + 1) * cluster.getStripesByLoss(i);
    }
    return blocks;
  }

  /** Of all codes together. */
  static long repairedBlocks(GetClusterResponseProto cluster) {
    return cluster.getCountersList().stream()
        .filter(counter -> counter.getName().startsWith("repairedBlocks."))
        .mapToLong(CountProto::getValue)
        .sum();
  }
}
