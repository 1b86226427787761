package io.ebbfs.namespace.lease;

import io.ebbfs.namespace.inode.LeaseRecovery;
import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.Row;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.LeaseRow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes files of writers that are past the hard limit, and tries recoveries again that did not
 * end. For one thread, which calls {@link #tick} every few seconds.
 */
public final class LeaseMonitor {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseMonitor.class);
  private static final int PAGE = 1000;

  private final MetadataStore store;
  private final Leases leases;
  private final LeaseRecovery recovery;

  public LeaseMonitor(MetadataStore store, Leases leases, LeaseRecovery recovery) {
    this.store = store;
    this.leases = leases;
    this.recovery = recovery;
  }

  /** Looks at every open file. What fails is logged and tried again by the next call. */
  public void tick() {
    try {
      Set<String> holders = new HashSet<>();
      Key after = null;
      List<Row<LeaseRow>> page;
      do {
        page = store.scanAll(Tables.LEASE, after, PAGE);
        for (Row<LeaseRow> row : page) {
          holders.add(row.value().getClientName());
          look(row.value());
          after = row.key();
        }
      } while (page.size() == PAGE);
      leases.retain(holders);
    } catch (IOException | RuntimeException e) {
      LOG.warn("Looking for writers that went away failed; it is tried again soon", e);
    }
  }

  private void look(LeaseRow lease) {
    String holder = lease.getClientName();
    boolean recovering = holder.equals(Leases.RECOVERY_HOLDER);
    if (!recovering && !leases.isPastHardLimit(holder)) {
      return;
    }
    for (long fileId : lease.getFileIdsList()) {
      try {
        if (recovery.releaseAgain(fileId)) {
          LOG.info("Closed file {}, whose writer {} went away", fileId, holder);
        }
      } catch (FileNotFoundException e) {
        LOG.debug("File {} was deleted while it was open", fileId);
      } catch (IOException | RuntimeException e) {
        LOG.warn("File {} of writer {} could not be closed: {}", fileId, holder, e.toString());
      }
    }
  }
}
