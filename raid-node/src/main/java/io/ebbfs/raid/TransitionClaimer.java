package io.ebbfs.raid;

import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.ClaimRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.RenewRequestProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.rpc.RemoteCall;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims transitions at the namenode and renews the claims until they are released. Every job
 * claims under a worker name of its own. Thread-safe.
 */
final class TransitionClaimer {
  private static final Logger LOG = LoggerFactory.getLogger(TransitionClaimer.class);

  private final Supplier<CodingProtocol> coding;
  private final long leaseMillis;

  /** The worker that holds a transition, by the transition's id. */
  private final Map<Long, String> held = new ConcurrentHashMap<>();

  TransitionClaimer(Supplier<CodingProtocol> coding, long leaseMillis) {
    this.coding = coding;
    this.leaseMillis = leaseMillis;
  }

  /** Claims transitions of some kinds, up to a limit. They are not renewed before {@link #keep}. */
  List<ClaimedTransitionProto> claim(String worker, List<TransitionKindProto> kinds, int limit)
      throws IOException {
    ClaimRequestProto request =
        ClaimRequestProto.newBuilder()
            .setWorker(worker)
            .setLimit(limit)
            .setLeaseMillis(leaseMillis)
            .addAllKinds(kinds)
            .build();
    return RemoteCall.answerOf(() -> coding.get().claim(null, request)).getClaimedList();
  }

  /** Renews a claim from now on. */
  void keep(String worker, ClaimedTransitionProto claimed) {
    held.put(claimed.getTransition().getId(), worker);
  }

  /** Whether a worker no longer holds a transition. */
  boolean isLost(String worker, long transitionId) {
    return !worker.equals(held.get(transitionId));
  }

  /** Renews the claims no longer. Unfinished transitions can be claimed again after the lease. */
  void release(String worker, List<ClaimedTransitionProto> claimed) {
    claimed.forEach(c -> held.remove(c.getTransition().getId(), worker));
  }

  /** Renews all claims that are kept. Lost claims are dropped. */
  void renewAll() {
    Map<String, List<Long>> byWorker = new HashMap<>();
    held.forEach((id, worker) -> byWorker.computeIfAbsent(worker, w -> new ArrayList<>()).add(id));
    byWorker.forEach(this::renew);
  }

  private void renew(String worker, List<Long> ids) {
    RenewRequestProto request =
        RenewRequestProto.newBuilder()
            .setWorker(worker)
            .addAllTransitionIds(ids)
            .setLeaseMillis(leaseMillis)
            .build();
    try {
      RemoteCall.answerOf(() -> coding.get().renew(null, request))
          .getLostTransitionIdsList()
          .forEach(id -> held.remove(id, worker));
    } catch (IOException | RuntimeException e) {
      LOG.warn("claims were not renewed: {}; trying again", e.toString());
    }
  }
}
