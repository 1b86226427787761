package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.LeaseRow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds expired leases: closes the files of writers that are past the hard limit, and repeats
 * recoveries that did not end. For one thread, which calls {@link #tick} every few seconds.
 */
public final class LeaseMonitor {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseMonitor.class);
  private static final int MOST_TICKS = 8;
  private static final int LOOKS_PER_PACE = 4;

  private final MetadataStore store;
  private final LeaseManager leases;
  private final LeaseRecovery recovery;
  // When files that are closed by the namenode are looked at again. Used by one thread.
  private final Map<Long, Wait> waits = new HashMap<>();
  private long ticks;

  /** After four looks that do not close a file, the next ones are farther apart, and so on. */
  private record Wait(long nextTick, long looks) {
    static final Wait NONE = new Wait(0, 0);

    Wait after(long tick) {
      return new Wait(tick + Math.min(MOST_TICKS, 1 + looks / LOOKS_PER_PACE), looks + 1);
    }
  }

  public LeaseMonitor(MetadataStore store, LeaseManager leases, LeaseRecovery recovery) {
    this.store = store;
    this.leases = leases;
    this.recovery = recovery;
  }

  /** Checks every open file. A failure is logged, and the next call tries again. */
  public void tick() {
    try {
      Set<String> holders = new HashSet<>();
      Set<Long> files = new HashSet<>();
      ticks++;
      store.eachRow(
          Tables.LEASE,
          (key, lease) -> {
            holders.add(lease.getClientName());
            files.addAll(lease.getFileIdsList());
            check(lease);
          });
      leases.retain(holders);
      waits.keySet().retainAll(files);
      recovery.retain(files);
    } catch (IOException | RuntimeException e) {
      LOG.warn("Expired leases could not be checked; the check runs again soon", e);
    }
  }

  private void check(LeaseRow lease) {
    String holder = lease.getClientName();
    boolean recovering = holder.equals(LeaseManager.RECOVERY_HOLDER);
    if (!recovering && !leases.isPastHardLimit(holder, lease.getRenewedMillis())) {
      lease.getFileIdsList().forEach(this::forget); // it may be open again
      return;
    }
    for (long fileId : lease.getFileIdsList()) {
      Wait wait = waits.getOrDefault(fileId, Wait.NONE);
      if (ticks < wait.nextTick()) {
        continue;
      }
      try {
        if (recovery.isUnderWay(fileId)) {
          continue;
        }
        waits.put(fileId, wait.after(ticks));
        if (recovery.release(fileId, holder)) {
          LOG.info(
              "Closed file {}, because the lease of its writer {} has expired", fileId, holder);
        }
      } catch (FileNotFoundException e) {
        forget(fileId);
        LOG.debug("File {} was deleted while it was open", fileId);
      } catch (IOException | RuntimeException e) {
        LOG.warn("File {} of writer {} could not be closed: {}", fileId, holder, e.toString());
      }
    }
  }

  private void forget(long fileId) {
    waits.remove(fileId);
    recovery.forget(fileId);
  }
}
