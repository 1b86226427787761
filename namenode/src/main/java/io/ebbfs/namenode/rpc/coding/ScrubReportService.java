package io.ebbfs.namenode.rpc.coding;

import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.PersistentCounters;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.CodingProtos.CountProto;
import io.ebbfs.protocol.proto.CodingProtos.ReportScrubRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ReportScrubResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ScrubFindingProto;
import io.ebbfs.protocol.proto.CodingProtos.ScrubStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;
import org.apache.hadoop.thirdparty.protobuf.TextFormat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts the findings of the parity scrub and stores its progress, as text in the setting "scrub".
 * Thread-safe.
 */
final class ScrubReportService {
  private static final Logger LOG = LoggerFactory.getLogger(ScrubReportService.class);
  private static final String SETTING = "scrub";
  private static final String COUNTER_PREFIX = "scrub.";

  private final MetadataStore store;
  private final BlockService blocks;
  private final PersistentCounters counters;
  private volatile ScrubStatusProto status;

  /** Reads the progress of the last scrub. If the text cannot be read, the scrub begins anew. */
  ScrubReportService(MetadataStore store, BlockService blocks, PersistentCounters counters)
      throws IOException {
    this.store = store;
    this.blocks = blocks;
    this.counters = counters;
    Optional<SettingRow> row = store.transact(0, t -> t.get(Tables.SETTING, Tables.named(SETTING)));
    this.status = row.map(r -> parse(r.getValue())).orElse(null);
  }

  private static ScrubStatusProto parse(String text) {
    try {
      return TextFormat.parse(text, ScrubStatusProto.class);
    } catch (TextFormat.ParseException e) {
      LOG.warn(
          "setting '{}' cannot be read, the parity scrub begins anew: {}", SETTING, e.toString());
      return null;
    }
  }

  /** The progress of the scrub; empty if there never was a scrub. */
  Optional<ScrubStatusProto> status() {
    return Optional.ofNullable(status);
  }

  /** Stores findings before progress: after a crash in between, the scrub finds them again. */
  ReportScrubResponseProto report(ReportScrubRequestProto request) throws IOException {
    ReportScrubResponseProto.Builder response = ReportScrubResponseProto.newBuilder();
    for (ScrubFindingProto finding : request.getFindingsList()) {
      boolean concerns = concernsStripe(finding);
      if (concerns) {
        blocks.report(finding.getBad());
      }
      response.addAccepted(concerns);
    }
    for (CountProto count : request.getCountsList()) {
      counters.add(COUNTER_PREFIX + count.getName(), count.getValue());
    }
    if (request.hasStatus()) {
      keep(request.getStatus());
    }
    if (request.hasRequestedPass()) {
      keepRequest(request.getRequestedPass());
    }
    return response.build();
  }

  private boolean concernsStripe(ScrubFindingProto finding) throws IOException {
    Optional<StripeRow> row =
        store.transact(
            finding.getStripeId(),
            Durability.RELAXED,
            t -> t.get(Tables.STRIPE, Tables.stripe(finding.getStripeId())));
    ExtendedBlockProto block = finding.getBad().getBlock();
    return row.isPresent()
        && row.get().getGeneration() == finding.getGeneration()
        && row.get().getMembersList().stream()
            .anyMatch(
                member ->
                    member.getBlockId() == block.getBlockId()
                        && member.getGenerationStamp() == block.getGenerationStamp());
  }

  /** A request stays until its pass has begun, whatever the reports of other passes say. */
  private synchronized void keep(ScrubStatusProto next) throws IOException {
    long requested = status == null ? 0 : status.getRequestedPass();
    put(
        requested > next.getPass()
            ? next.toBuilder().setRequestedPass(requested).build()
            : next.toBuilder().clearRequestedPass().build(),
        Durability.RELAXED);
  }

  private synchronized void keepRequest(long pass) throws IOException {
    if (status == null) {
      throw new IOException(
          "no pass of the parity scrub was reported yet: the first one begins by itself; see that a"
              + " raid-node runs and that scrub.period in its raid-node.yaml is not 0");
    }
    if (pass > status.getPass()) {
      // Nobody repeats a request that was answered; the position is found again by the scrub.
      put(status.toBuilder().setRequestedPass(pass).build(), Durability.SYNCED);
    }
  }

  private void put(ScrubStatusProto next, Durability durability) throws IOException {
    SettingRow row =
        SettingRow.newBuilder().setValue(TextFormat.printer().printToString(next)).build();
    store.transact(
        0,
        durability,
        t -> {
          t.lock(List.of(RowLock.exclusive(Tables.SETTING, Tables.named(SETTING))));
          t.put(Tables.SETTING, Tables.named(SETTING), row);
          return null;
        });
    status = next;
  }
}
