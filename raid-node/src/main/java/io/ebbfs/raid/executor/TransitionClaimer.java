package io.ebbfs.raid.executor;

import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.ClaimRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.RenewRequestProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.rpc.RemoteCall;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims transitions at the namenode under the name of one worker, and renews the claims until they
 * are released. Thread-safe.
 */
final class TransitionClaimer {
  private static final Logger LOG = LoggerFactory.getLogger(TransitionClaimer.class);

  private final String worker;
  private final CodingProtocol coding;
  private final long leaseMillis;

  /** The ids of the transitions whose claims are renewed. */
  private final Set<Long> held = ConcurrentHashMap.newKeySet();

  TransitionClaimer(String worker, CodingProtocol coding, long leaseMillis) {
    this.worker = worker;
    this.coding = coding;
    this.leaseMillis = leaseMillis;
  }

  /** Claims transitions of some kinds, up to a limit. They are not renewed before {@link #keep}. */
  List<ClaimedTransitionProto> claim(List<TransitionKindProto> kinds, int limit)
      throws IOException {
    ClaimRequestProto request =
        ClaimRequestProto.newBuilder()
            .setWorker(worker)
            .setLimit(limit)
            .setLeaseMillis(leaseMillis)
            .addAllKinds(kinds)
            .build();
    return RemoteCall.answerOf(() -> coding.claim(null, request)).getClaimedList();
  }

  /** Renews the claim of a transition from now on. */
  void keep(long transitionId) {
    held.add(transitionId);
  }

  /** Whether the worker no longer holds a transition. */
  boolean isLost(long transitionId) {
    return !held.contains(transitionId);
  }

  /** Renews the claim no longer. An unfinished transition can be claimed again after the lease. */
  void release(long transitionId) {
    held.remove(transitionId);
  }

  /** Renews all claims that are kept. Lost claims are dropped. */
  void renewAll() {
    List<Long> ids = List.copyOf(held);
    if (ids.isEmpty()) {
      return;
    }
    RenewRequestProto request =
        RenewRequestProto.newBuilder()
            .setWorker(worker)
            .addAllTransitionIds(ids)
            .setLeaseMillis(leaseMillis)
            .build();
    try {
      RemoteCall.answerOf(() -> coding.renew(null, request))
          .getLostTransitionIdsList()
          .forEach(held::remove);
    } catch (IOException | RuntimeException e) {
      LOG.warn("claims were not renewed: {}; trying again", e.toString());
    }
  }
}
