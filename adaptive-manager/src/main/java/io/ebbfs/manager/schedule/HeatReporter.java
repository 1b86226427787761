package io.ebbfs.manager.schedule;

import io.ebbfs.manager.heat.DirectoryReads;
import io.ebbfs.manager.view.NamenodeGateway;
import io.ebbfs.protocol.proto.CodingProtos.ReportHeatRequestProto;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the namenode which files and directories are read most, so that clients can ask for the
 * heat of a file. It tells nothing while reads are not counted: then the namenode says after a
 * while that it does not know. One thread calls it.
 */
public final class HeatReporter {
  private static final Logger LOG = LoggerFactory.getLogger(HeatReporter.class);

  /** Files that are named, and directories: a report has some hundred kilobytes at most. */
  private static final int MOST_NAMED = 10_000;

  /** A report may be late, or lost, without harm. */
  private static final int VALID_PERIODS = 6;

  private final DirectoryReads reads;
  private final LongPredicate exists;
  private final BooleanSupplier isCounting;
  private final NamenodeGateway namenode;
  private final long everyMillis;
  private boolean hasFailed;

  /**
   * @param exists tells by the id whether a file exists; must not wait for whoever counts reads
   * @param isCounting whether reads are counted now
   * @param everyMillis between two reports
   */
  public HeatReporter(
      DirectoryReads reads,
      LongPredicate exists,
      BooleanSupplier isCounting,
      NamenodeGateway namenode,
      long everyMillis) {
    this.reads = reads;
    this.exists = exists;
    this.isCounting = isCounting;
    this.namenode = namenode;
    this.everyMillis = everyMillis;
  }

  public void report(long nowMillis) {
    if (!isCounting.getAsBoolean()) {
      return;
    }
    Optional<DirectoryReads.Hottest> hottest = reads.hottest(MOST_NAMED, exists, nowMillis);
    if (hottest.isEmpty()) {
      return;
    }
    try {
      namenode.reportHeat(message(hottest.get()));
      hasFailed = false;
    } catch (ServiceException | RuntimeException e) {
      if (!hasFailed) {
        LOG.warn("The namenode does not take the heat of files: {}", e.getMessage());
      }
      hasFailed = true;
    }
  }

  private ReportHeatRequestProto message(DirectoryReads.Hottest hottest) {
    ReportHeatRequestProto.Builder message =
        ReportHeatRequestProto.newBuilder()
            .setOtherFilesAtMost((float) hottest.otherFilesAtMost())
            .setOtherDirectoriesAtMost((float) hottest.otherDirectoriesAtMost())
            .setValidMillis(VALID_PERIODS * everyMillis);
    hottest.heat().forEach((id, heat) -> message.addInodeIds(id).addReads(heat.floatValue()));
    return message.build();
  }
}
