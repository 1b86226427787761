package io.ebbfs.namespace.coding;

import io.ebbfs.namespace.block.BlockService;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.MetadataStore.Durability;
import io.ebbfs.namespace.store.RowLock;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.transition.Counters;
import io.ebbfs.protocol.proto.CodingProtos.BadBlockProto;
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
 * What those who scrub the equations of stripes have to say, and where they stand: in the setting
 * "scrub", as text. Thread-safe.
 */
final class ScrubReports {
  private static final Logger LOG = LoggerFactory.getLogger(ScrubReports.class);
  private static final String SETTING = "scrub";
  private static final String COUNTER_PREFIX = "scrub.";

  private final MetadataStore store;
  private final BlockService blocks;
  private final Counters counters;
  private volatile ScrubStatusProto status;

  /** Reads where the last scrub stood; one that cannot be read begins anew. */
  ScrubReports(MetadataStore store, BlockService blocks, Counters counters) throws IOException {
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
      LOG.warn("setting '{}' cannot be read, the scrub begins anew: {}", SETTING, e.toString());
      return null;
    }
  }

  /** Where the scrub stands; empty if there never was one. */
  Optional<ScrubStatusProto> status() {
    return Optional.ofNullable(status);
  }

  /** Findings first: if this process dies after them, they are only found again. */
  ReportScrubResponseProto report(ReportScrubRequestProto request) throws IOException {
    ReportScrubResponseProto.Builder response = ReportScrubResponseProto.newBuilder();
    for (ScrubFindingProto finding : request.getFindingsList()) {
      boolean concerns = concernsStripe(finding);
      if (concerns) {
        BadBlockProto bad = finding.getBad();
        blocks.reportBad(
            bad.getBlock().getBlockId(),
            bad.getBlock().getGenerationStamp(),
            bad.getLocation().getStorageUuid(),
            bad.getReason());
      }
      response.addAccepted(concerns);
    }
    for (CountProto count : request.getCountsList()) {
      counters.add(COUNTER_PREFIX + count.getName(), count.getValue());
    }
    if (request.hasStatus()) {
      keep(request.getStatus());
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

  private void keep(ScrubStatusProto next) throws IOException {
    SettingRow row =
        SettingRow.newBuilder().setValue(TextFormat.printer().printToString(next)).build();
    store.transact(
        0,
        Durability.RELAXED,
        t -> {
          t.lock(List.of(RowLock.exclusive(Tables.SETTING, Tables.named(SETTING))));
          t.put(Tables.SETTING, Tables.named(SETTING), row);
          return null;
        });
    status = next;
  }
}
