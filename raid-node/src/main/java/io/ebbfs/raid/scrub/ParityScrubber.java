package io.ebbfs.raid.scrub;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.BadBlockProto;
import io.ebbfs.protocol.proto.CodingProtos.CountProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ReportScrubRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ScrubFindingProto;
import io.ebbfs.protocol.proto.CodingProtos.ScrubStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ScrubSuspectProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.rpc.RemoteCall;
import io.ebbfs.raid.channel.ChunkChannel;
import io.ebbfs.raid.config.ScrubConfig;
import io.ebbfs.raid.executor.Throttle;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the parity scrub: checks the parities of all stripes, pass after pass, a page at a time. The
 * namenode keeps the position and the findings. A process that starts or takes over continues at
 * the first page that was not reported. A stripe that looks wrong is read again and checked a
 * second time before a finding is reported. Used by one thread.
 */
public final class ParityScrubber {
  private static final Logger LOG = LoggerFactory.getLogger(ParityScrubber.class);
  private static final int PAGE = 32;
  private static final int MOST_SUSPECTS = 1_000;
  private static final long SAFE_MODE_MILLIS = 1_000;

  private final ScrubConfig config;
  private final CodeRegistry codes;
  private final Supplier<CodingProtocol> coding;
  private final ChunkChannel chunks;
  private final Throttle stripes;
  private final Throttle bytes;
  private final Clock clock;

  /** The counters of the current page. */
  private final SortedMap<String, Long> counts = new TreeMap<>();

  private final List<ScrubFindingProto> findings = new ArrayList<>();

  /**
   * A scrubber.
   *
   * @param stripes limits the stripes per second
   * @param bytes limits the bytes of all background work
   */
  public ParityScrubber(
      ScrubConfig config,
      CodeRegistry codes,
      Supplier<CodingProtocol> coding,
      ChunkChannel chunks,
      Throttle stripes,
      Throttle bytes,
      Clock clock) {
    this.config = config;
    this.codes = codes;
    this.coding = coding;
    this.chunks = chunks;
    this.stripes = stripes;
    this.bytes = bytes;
    this.clock = clock;
  }

  /**
   * Checks the next page, if a pass is under way, due or asked for.
   *
   * @return milliseconds until the next pass is due; 0 if a page was checked
   */
  public long step() throws IOException, InterruptedException {
    GetClusterResponseProto cluster =
        RemoteCall.answerOf(
            () -> coding.get().getCluster(null, GetClusterRequestProto.getDefaultInstance()));
    long now = clock.millis();
    ScrubStatusProto before = cluster.hasScrub() ? cluster.getScrub() : null;
    if (cluster.getSafeMode()) {
      return SAFE_MODE_MILLIS;
    }
    if (before != null && isOver(before) && before.getRequestedPass() <= before.getPass()) {
      long due = Math.min(before.getPassStartedMillis(), now) + config.periodMillis();
      if (now < due) {
        return due - now;
      }
    }
    page(before == null || isOver(before) ? begin(before, now) : before.toBuilder());
    return 0;
  }

  static boolean isOver(ScrubStatusProto status) {
    return status.hasEndedMillis() && status.getEndedMillis() >= status.getPassStartedMillis();
  }

  private static ScrubStatusProto.Builder begin(ScrubStatusProto before, long now) {
    ScrubStatusProto.Builder status =
        before == null ? ScrubStatusProto.newBuilder().setPass(0) : before.toBuilder();
    long started = before == null ? now : Math.max(now, before.getEndedMillis() + 1);
    return status
        .setPass(status.getPass() + 1)
        .setPassStartedMillis(started)
        .clearRequestedPass()
        .clearCursor()
        .setPassStripes(0)
        .setPassFindings(0);
  }

  private void page(ScrubStatusProto.Builder status) throws IOException, InterruptedException {
    counts.clear();
    findings.clear();
    ListStripesRequestProto.Builder request =
        ListStripesRequestProto.newBuilder().setLimit(PAGE).setWithLocations(true);
    if (status.hasCursor()) {
      request.setCursor(status.getCursor());
    }
    ListStripesResponseProto page = listStripes(request);
    for (StripeStatusProto stripe : page.getStripesList()) {
      stripes.acquire(1);
      if (isKnown(stripe.getStripe().getCode())) {
        check(stripe, status);
      } else {
        count("unknownCode", 1);
      }
    }
    status
        .setPeriodMillis(config.periodMillis())
        .setPassStripes(status.getPassStripes() + page.getStripesCount());
    if (page.hasCursor()) {
      status.setCursor(page.getCursor());
    } else {
      end(status);
    }
    report(status.build());
  }

  /** The namenode may know a user's code that this process does not. */
  private boolean isKnown(String code) {
    try {
      codes.byName(code);
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private void end(ScrubStatusProto.Builder status) throws IOException {
    dropGone(status);
    status
        .clearCursor()
        .setEndedMillis(Math.max(clock.millis(), status.getPassStartedMillis()))
        .setEndedStripes(status.getPassStripes())
        .setEndedFindings(status.getPassFindings());
    count("passes", 1);
  }

  private void report(ScrubStatusProto status) throws IOException {
    ReportScrubRequestProto.Builder report =
        ReportScrubRequestProto.newBuilder().addAllFindings(findings).setStatus(status);
    counts.forEach(
        (name, value) -> report.addCounts(CountProto.newBuilder().setName(name).setValue(value)));
    RemoteCall.answerOf(() -> coding.get().reportScrub(null, report.build()));
  }

  // ---- one stripe -----------------------------------------------------------------------------

  private void check(StripeStatusProto stripe, ScrubStatusProto.Builder status)
      throws IOException, InterruptedException {
    long id = stripe.getStripe().getId();
    boolean decode = config.decodes(id, status.getPass());
    StripeParityChecker scrub = new StripeParityChecker(codes, chunks, bytes, stripe);
    StripeParityChecker.Result result = scrub.run(decode);
    count(result);
    if (!result.clean()) {
      Optional<StripeStatusProto> now = read(id);
      if (now.isEmpty() || !isSame(stripe, now.get())) {
        count("changedMeanwhile", 1);
        return;
      }
      scrub = new StripeParityChecker(codes, chunks, bytes, now.get());
      result = scrub.run(decode);
      tell(now.get(), scrub, result, status);
    }
    noteSuspects(stripe, result, status);
  }

  private Optional<StripeStatusProto> read(long stripeId) throws IOException {
    return listStripes(
            ListStripesRequestProto.newBuilder().addStripeIds(stripeId).setWithLocations(true))
        .getStripesList()
        .stream()
        .findFirst();
  }

  private ListStripesResponseProto listStripes(ListStripesRequestProto.Builder request)
      throws IOException {
    return RemoteCall.answerOf(() -> coding.get().listStripes(null, request.build()));
  }

  private static boolean isSame(StripeStatusProto one, StripeStatusProto other) {
    return one.getStripe().getGeneration() == other.getStripe().getGeneration()
        && one.getStoredList().equals(other.getStoredList());
  }

  private void tell(
      StripeStatusProto stripe,
      StripeParityChecker scrub,
      StripeParityChecker.Result result,
      ScrubStatusProto.Builder status) {
    List<BadBlockProto> bad = new ArrayList<>(result.bad());
    result.verdict().wrongParities().forEach(parity -> bad.add(scrub.wrongParity(parity)));
    for (BadBlockProto one : bad) {
      LOG.warn(
          "parity scrub of stripe {}: block {} is bad: {}",
          stripe.getStripe().getId(),
          one.getBlock().getBlockId(),
          one.getReason());
      findings.add(
          ScrubFindingProto.newBuilder()
              .setStripeId(stripe.getStripe().getId())
              .setGeneration(stripe.getStripe().getGeneration())
              .setBad(one)
              .build());
    }
    count("badMembers", result.bad().size());
    count("wrongParities", result.verdict().wrongParities().size());
    status.setPassFindings(status.getPassFindings() + bad.size());
  }

  private void count(StripeParityChecker.Result result) {
    count("stripes", 1);
    count("equations", result.equations());
    count("uncheckedEquations", result.unchecked());
    count("checksumBytes", result.checksumBytes());
    count("coveredBytes", result.coveredBytes());
    count("dataBytes", result.dataBytes());
  }

  private void count(String name, long amount) {
    if (amount != 0) {
      counts.merge(name, amount, Long::sum);
    }
  }

  // ---- suspects -------------------------------------------------------------------------------

  /** A check that was not complete neither adds nor removes a suspect. */
  private void noteSuspects(
      StripeStatusProto stripe,
      StripeParityChecker.Result result,
      ScrubStatusProto.Builder status) {
    long id = stripe.getStripe().getId();
    boolean known = status.getSuspectsList().stream().anyMatch(s -> s.getStripeId() == id);
    if (result.verdict().suspectData().isEmpty()) {
      if (known && result.unchecked() == 0) {
        removeSuspects(status, Set.of(id));
      }
      return;
    }
    if (known) {
      return;
    }
    String message =
        ("stripe %d: the data at position %s contradicts several parities,"
                + " though its own checksums hold")
            .formatted(id, result.verdict().suspectData());
    LOG.error("{}; nothing is changed: compare the file with a copy of it", message);
    count("suspectStripes", 1);
    status.setPassFindings(status.getPassFindings() + 1);
    if (status.getSuspectsCount() < MOST_SUSPECTS) {
      status.addSuspects(
          ScrubSuspectProto.newBuilder()
              .setStripeId(id)
              .addAllPositions(result.verdict().suspectData())
              .setMessage(message)
              .setFoundMillis(clock.millis()));
    }
  }

  private void dropGone(ScrubStatusProto.Builder status) throws IOException {
    if (status.getSuspectsCount() == 0) {
      return;
    }
    ListStripesRequestProto.Builder request = ListStripesRequestProto.newBuilder();
    Set<Long> gone = new TreeSet<>();
    for (ScrubSuspectProto suspect : status.getSuspectsList()) {
      request.addStripeIds(suspect.getStripeId());
      gone.add(suspect.getStripeId());
    }
    listStripes(request).getStripesList().forEach(s -> gone.remove(s.getStripe().getId()));
    removeSuspects(status, gone);
  }

  private static void removeSuspects(ScrubStatusProto.Builder status, Set<Long> which) {
    List<ScrubSuspectProto> left =
        status.getSuspectsList().stream().filter(s -> !which.contains(s.getStripeId())).toList();
    status.clearSuspects().addAllSuspects(left);
  }
}
