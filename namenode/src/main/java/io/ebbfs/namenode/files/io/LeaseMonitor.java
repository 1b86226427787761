package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.LeaseRow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds expired leases: closes the files of writers that are past the hard limit, and repeats
 * recoveries that did not end. For one thread, which calls {@link #tick} every few seconds.
 */
public final class LeaseMonitor {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseMonitor.class);

  private final MetadataStore store;
  private final LeaseManager leases;
  private final LeaseRecovery recovery;

  public LeaseMonitor(MetadataStore store, LeaseManager leases, LeaseRecovery recovery) {
    this.store = store;
    this.leases = leases;
    this.recovery = recovery;
  }

  /** Checks every open file. A failure is logged, and the next call tries again. */
  public void tick() {
    try {
      Set<String> holders = new HashSet<>();
      store.eachRow(
          Tables.LEASE,
          (key, lease) -> {
            holders.add(lease.getClientName());
            check(lease);
          });
      leases.retain(holders);
    } catch (IOException | RuntimeException e) {
      LOG.warn("Expired leases could not be checked; the check runs again soon", e);
    }
  }

  private void check(LeaseRow lease) {
    String holder = lease.getClientName();
    boolean recovering = holder.equals(LeaseManager.RECOVERY_HOLDER);
    if (!recovering && !leases.isPastHardLimit(holder, lease.getRenewedMillis())) {
      return;
    }
    for (long fileId : lease.getFileIdsList()) {
      try {
        if (recovery.releaseAgain(fileId, holder)) {
          LOG.info(
              "Closed file {}, because the lease of its writer {} has expired", fileId, holder);
        }
      } catch (FileNotFoundException e) {
        LOG.debug("File {} was deleted while it was open", fileId);
      } catch (IOException | RuntimeException e) {
        LOG.warn("File {} of writer {} could not be closed: {}", fileId, holder, e.toString());
      }
    }
  }
}
