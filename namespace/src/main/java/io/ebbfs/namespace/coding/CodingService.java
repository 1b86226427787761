package io.ebbfs.namespace.coding;

import io.ebbfs.namespace.IdGenerators;
import io.ebbfs.namespace.block.BlockService;
import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.block.ClusterView.Disk;
import io.ebbfs.namespace.block.ClusterView.Server;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.stripe.StripeManager;
import io.ebbfs.namespace.stripe.Wire;
import io.ebbfs.namespace.transition.Claims;
import io.ebbfs.namespace.transition.CodeBook;
import io.ebbfs.namespace.transition.Commits;
import io.ebbfs.namespace.transition.Counters;
import io.ebbfs.namespace.transition.Failures;
import io.ebbfs.namespace.transition.Lifecycle;
import io.ebbfs.namespace.transition.Proposals;
import io.ebbfs.namespace.transition.Pruning;
import io.ebbfs.namespace.transition.Repairs;
import io.ebbfs.namespace.transition.TransitionIndex;
import io.ebbfs.namespace.transition.TransitionSettings;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.ClaimRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.CommitRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.CommitResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.CountProto;
import io.ebbfs.protocol.proto.CodingProtos.DefinedCodeProto;
import io.ebbfs.protocol.proto.CodingProtos.DefinedCodesProto;
import io.ebbfs.protocol.proto.CodingProtos.FailRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.FailResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.GetReadPlanRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetReadPlanResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ListTransitionsRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListTransitionsResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposeRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposeResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.RenewRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.RenewResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ReportScrubRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ReportScrubResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.StorageStatusProto;
import io.ebbfs.settings.codes.DefinedCodes;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * The RPC front of codes, stripes, transitions and read plans. Everything that it does can be
 * called without RPC, too: the controller is not used. Thread-safe; {@link #tick} is called by one
 * thread every second or so and does all periodic work.
 */
public final class CodingService implements CodingProtocol {
  private static final int TOTALS_ROWS_PER_TICK = 100_000;

  private final ClusterView cluster;
  private final BlockCounts blockCounts;
  private final Counters counters;
  private final ReadPlans readPlans;
  private final FileListing files;
  private final StripeListing stripeListing;
  private final Totals totals;
  private final Proposals proposals;
  private final Claims claims;
  private final Commits commits;
  private final Failures failures;
  private final Repairs repairs;
  private final Pruning pruning;
  private final ScrubReports scrubs;

  /**
   * Reads the transitions that a previous process has left, and checks the codes in use.
   *
   * @param blockPoolId of the cluster, as blocks are named to chunk servers
   * @param stripes the one that the rest of the namenode gives its hints to
   */
  public CodingService(
      String blockPoolId,
      MetadataStore store,
      IdGenerators ids,
      BlockService blocks,
      BlockCounts blockCounts,
      ClusterView cluster,
      StripeManager stripes,
      Clock clock,
      RandomGenerator random,
      TransitionSettings settings)
      throws IOException {
    this.cluster = cluster;
    this.blockCounts = blockCounts;
    this.counters = new Counters(store);
    Wire wire = new Wire(blockPoolId, cluster);
    TransitionIndex index = new TransitionIndex();
    index.load(store);
    Lifecycle lifecycle = new Lifecycle(store, blocks, index, counters, clock, settings);
    this.readPlans = new ReadPlans(store, cluster, wire, counters);
    this.files = new FileListing(store);
    this.stripeListing = new StripeListing(store, cluster, wire);
    this.totals = new Totals(store, TOTALS_ROWS_PER_TICK);
    this.proposals =
        new Proposals(store, ids, CodeBook.open(store), cluster, lifecycle, index, clock, settings);
    this.claims = new Claims(store, ids, cluster, wire, index, lifecycle, clock, random, settings);
    this.commits = new Commits(store, ids, blocks, stripes, cluster, lifecycle, counters, clock);
    this.failures = new Failures(blocks, cluster, lifecycle, counters);
    this.repairs = new Repairs(store, ids, cluster, stripes, lifecycle, index, clock, settings);
    this.pruning = new Pruning(store, index, settings);
    this.scrubs = new ScrubReports(store, blocks, counters);
  }

  /**
   * Expired claims, lost blocks, sums, counters, old rows. Bounded. What fails does not keep the
   * rest from being done; it is tried again by the next call.
   */
  public void tick() throws IOException {
    IOException failure = null;
    for (Work work :
        List.<Work>of(
            claims::expire, repairs::tick, totals::tick, pruning::tick, counters::flush)) {
      try {
        work.run();
      } catch (IOException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  private interface Work {
    void run() throws IOException;
  }

  /** Counters that others raise too: opens, dropped events. */
  public Counters counters() {
    return counters;
  }

  // ---- RPC -------------------------------------------------------------------------------------

  private interface Call<R> {
    R run() throws IOException;
  }

  private static <R> R answer(Call<R> call) throws ServiceException {
    try {
      return call.run();
    } catch (IOException e) {
      throw new ServiceException(e);
    }
  }

  @Override
  public GetReadPlanResponseProto getReadPlan(
      RpcController controller, GetReadPlanRequestProto request) throws ServiceException {
    return answer(() -> readPlans.plan(request));
  }

  @Override
  public ListFilesResponseProto listFiles(RpcController controller, ListFilesRequestProto request)
      throws ServiceException {
    return answer(() -> files.list(request));
  }

  @Override
  public ListStripesResponseProto listStripes(
      RpcController controller, ListStripesRequestProto request) throws ServiceException {
    return answer(() -> stripeListing.stripes(request));
  }

  @Override
  public ListTransitionsResponseProto listTransitions(
      RpcController controller, ListTransitionsRequestProto request) throws ServiceException {
    return answer(() -> stripeListing.transitions(request));
  }

  @Override
  public GetClusterResponseProto getCluster(
      RpcController controller, GetClusterRequestProto request) throws ServiceException {
    return answer(
        () ->
            request.getWithCodes()
                ? clusterNow().toBuilder().setDefinedCodes(definedCodes()).build()
                : clusterNow());
  }

  private static DefinedCodesProto definedCodes() {
    DefinedCodes defined = DefinedCodes.ofThisProcess();
    DefinedCodesProto.Builder codes = DefinedCodesProto.newBuilder();
    defined.codes().forEach((name, definition) -> codes.addCodes(defined(name, definition)));
    defined.pairs().forEach((name, definition) -> codes.addPairs(defined(name, definition)));
    return codes.build();
  }

  private static DefinedCodeProto defined(String name, String definition) {
    return DefinedCodeProto.newBuilder().setName(name).setDefinition(definition).build();
  }

  @Override
  public ProposeResponseProto propose(RpcController controller, ProposeRequestProto request)
      throws ServiceException {
    return answer(() -> proposals.propose(request));
  }

  @Override
  public ClaimResponseProto claim(RpcController controller, ClaimRequestProto request)
      throws ServiceException {
    return answer(() -> claims.claim(request));
  }

  @Override
  public RenewResponseProto renew(RpcController controller, RenewRequestProto request)
      throws ServiceException {
    return answer(() -> claims.renew(request));
  }

  @Override
  public CommitResponseProto commit(RpcController controller, CommitRequestProto request)
      throws ServiceException {
    return answer(() -> commits.commit(request));
  }

  @Override
  public FailResponseProto fail(RpcController controller, FailRequestProto request)
      throws ServiceException {
    return answer(() -> failures.fail(request));
  }

  @Override
  public ReportScrubResponseProto reportScrub(
      RpcController controller, ReportScrubRequestProto request) throws ServiceException {
    return answer(() -> scrubs.report(request));
  }

  // ---- the cluster as a whole ------------------------------------------------------------------

  private GetClusterResponseProto clusterNow() {
    Totals.Sums sums = totals.sums();
    GetClusterResponseProto.Builder response =
        GetClusterResponseProto.newBuilder()
            .setFiles(sums.files())
            .setLogicalBytes(sums.logicalBytes())
            .setStoredBytes(sums.storedBytes())
            .setUnderReplicatedBlocks(blockCounts.underReplicatedBlocks().getAsLong())
            .setMissingBlocks(blockCounts.missingBlocks().getAsLong())
            .setSafeMode(cluster.inSafeMode());
    cluster.allServers().forEach(server -> response.addServers(status(server)));
    addDamage(response);
    addSpace(response, sums);
    scrubs.status().ifPresent(response::setScrub);
    counters
        .values()
        .forEach(
            (name, value) ->
                response.addCounters(CountProto.newBuilder().setName(name).setValue(value)));
    addMisplaced(response);
    return response.build();
  }

  private void addMisplaced(GetClusterResponseProto.Builder response) {
    Map<Long, Integer> misplaced = repairs.misplaced();
    long rules = misplaced.values().stream().mapToLong(Integer::longValue).sum();
    Map<String, Long> counts = new TreeMap<>();
    counts.put("placementViolations", rules);
    counts.put("placementViolations.stripes", (long) misplaced.size());
    counts.put("placementViolations.beingMended", (long) repairs.beingMended());
    counts.forEach(
        (name, value) ->
            response.addCounters(CountProto.newBuilder().setName(name).setValue(value)));
  }

  private static void addSpace(GetClusterResponseProto.Builder response, Totals.Sums sums) {
    long inStripes = sums.liveBytes() + sums.deadBytes() + sums.parityBytes();
    Map<String, Long> space = new TreeMap<>();
    space.put("replicated", Math.max(0, sums.storedBytes() - inStripes));
    space.put("live", sums.liveBytes());
    space.put("dead", sums.deadBytes());
    space.put("parity", sums.parityBytes());
    space.put("reserved", sums.reservedBytes());
    space.forEach(
        (name, bytes) ->
            response.addSpaceBytes(CountProto.newBuilder().setName(name).setValue(bytes)));
  }

  private void addDamage(GetClusterResponseProto.Builder response) {
    long unrecoverable = 0;
    for (Repairs.Damage damage : repairs.damaged().values()) {
      while (response.getStripesByLossCount() < damage.lost().size()) {
        response.addStripesByLoss(0);
      }
      int entry = damage.lost().size() - 1;
      response.setStripesByLoss(entry, response.getStripesByLoss(entry) + 1);
      unrecoverable += damage.decodes() ? 0 : 1;
    }
    response.setUnrecoverableStripes(unrecoverable);
  }

  private ServerStatusProto status(Server server) {
    ServerStatusProto.Builder status =
        ServerStatusProto.newBuilder()
            .setServer(Wire.server(server))
            .setLive(server.live())
            .setRack(server.rack())
            .setLastHeartbeatMillis(server.lastHeartbeatMillis());
    for (Disk disk : server.disks()) {
      status.addStorages(
          StorageStatusProto.newBuilder()
              .setStorageUuid(disk.storageUuid())
              .setFailed(disk.failed())
              .setCapacityBytes(disk.capacityBytes())
              .setUsedBytes(disk.usedBytes())
              .setRemainingBytes(disk.remainingBytes())
              .setBlocks(blockCounts.blocksOn().applyAsLong(disk.storageUuid())));
    }
    return status.build();
  }
}
