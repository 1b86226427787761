package io.ebbfs.namenode.rpc.coding;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.definitions.CodeDefinitions;
import io.ebbfs.namenode.audit.QuotaInspector;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.ServerDrains;
import io.ebbfs.namenode.files.io.TruncationWaits;
import io.ebbfs.namenode.files.xattrs.PinOrders;
import io.ebbfs.namenode.files.xattrs.ReportedHeat;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.EncodedBlocks;
import io.ebbfs.namenode.store.ChangeLog;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.PersistentCounters;
import io.ebbfs.namenode.store.ScanCursor;
import io.ebbfs.namenode.store.Usage;
import io.ebbfs.namenode.stripes.DegradedReadPlanner;
import io.ebbfs.namenode.stripes.ProtoConverter;
import io.ebbfs.namenode.stripes.StripeManager;
import io.ebbfs.namenode.tasks.claim.ClaimService;
import io.ebbfs.namenode.tasks.commit.CommitService;
import io.ebbfs.namenode.tasks.commit.FailureService;
import io.ebbfs.namenode.tasks.lifecycle.CodeDefinitionGuard;
import io.ebbfs.namenode.tasks.lifecycle.TransitionContext;
import io.ebbfs.namenode.tasks.lifecycle.TransitionIndex;
import io.ebbfs.namenode.tasks.lifecycle.TransitionLifecycle;
import io.ebbfs.namenode.tasks.lifecycle.TransitionPruner;
import io.ebbfs.namenode.tasks.lifecycle.TransitionScanner;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings;
import io.ebbfs.namenode.tasks.propose.BlockFreer;
import io.ebbfs.namenode.tasks.propose.ProposalService;
import io.ebbfs.namenode.tasks.scan.GroupDamage;
import io.ebbfs.namenode.tasks.scan.RepairScanner;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.CancelRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.CancelResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.CheckQuotasRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.CheckQuotasResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.CommitRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.CommitResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.CountProto;
import io.ebbfs.protocol.proto.CodingProtos.DefinedCodeProto;
import io.ebbfs.protocol.proto.CodingProtos.DefinedCodesProto;
import io.ebbfs.protocol.proto.CodingProtos.DrainRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.DrainResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.FailRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.FailResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.GetReadPlanRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetReadPlanResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.HibernateRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.HibernateResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ListTransitionsRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListTransitionsResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.PinRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.PinResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposeRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposeResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.RenewRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.RenewResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ReportHeatRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ReportHeatResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ReportScrubRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ReportScrubResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ScanStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.StorageStatusProto;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * Serves CodingProtocol: codes, stripes, transitions and read plans. The RPC controller is not
 * used, so tests call the methods directly. Thread-safe; one thread calls {@link #tick} about once
 * a second for all periodic work.
 */
public final class CodingService implements CodingProtocol {
  private final CodeRegistry codes;
  private final ClusterView cluster;
  private final BlockCounts blockCounts;
  private final PersistentCounters counters;
  private final DegradedReadPlanner degradedReads;
  private final FileListing files;
  private final StripeListing stripeListing;
  private final MetadataStore store;
  private final ChangeLog changes;
  private final TransitionIndex transitions;
  private final ProposalService proposals;
  private final BlockFreer freer;
  private final ClaimService claims;
  private final CommitService commits;
  private final FailureService failures;
  private final TransitionLifecycle lifecycle;
  private final TransitionScanner scanner;
  private final RepairScanner repairs;
  private final TransitionPruner pruning;
  private final ScrubReportService scrubs;
  private final DrainService drains;
  private final ReportedHeat heat;
  private Optional<QuotaInspector> quotas = Optional.empty();
  private Optional<HibernateService> hibernations = Optional.empty();
  private Optional<RebalanceService> rebalance = Optional.empty();
  private Optional<TruncationWaits> truncations = Optional.empty();
  private Optional<PlanReaders> planReaders = Optional.empty();
  private final PinOrders pins;

  /**
   * Reads the transitions of the previous process, and checks the codes in use.
   *
   * @param blockPoolId the block pool of the cluster, which chunk servers expect with each block
   * @param drains drains the servers of the cluster
   * @param stripes the stripes that the namenode asks for checks
   * @param heat takes what the manager reports
   */
  public CodingService(
      String blockPoolId,
      CodeRegistry codes,
      MetadataStore store,
      IdGenerators ids,
      BlockService blocks,
      BlockCounts blockCounts,
      ClusterView cluster,
      ServerDrains drains,
      StripeManager stripes,
      ReportedHeat heat,
      Clock clock,
      RandomGenerator random,
      TransitionSettings settings)
      throws IOException {
    this.codes = codes;
    this.cluster = cluster;
    this.blockCounts = blockCounts;
    this.counters = new PersistentCounters(store);
    ProtoConverter converter = new ProtoConverter(blockPoolId, cluster);
    TransitionIndex index = new TransitionIndex();
    index.load(store);
    this.scanner = new TransitionScanner(store, index);
    this.lifecycle = new TransitionLifecycle(store, blocks, index, counters, clock, settings);
    this.degradedReads = new DegradedReadPlanner(store, codes, cluster, converter, counters);
    this.files = new FileListing(store, settings.replication());
    this.stripeListing = new StripeListing(store, codes, cluster, converter, index);
    this.store = store;
    this.changes = store.changes();
    this.transitions = index;
    TransitionContext context =
        new TransitionContext(codes, store, ids, cluster, lifecycle, index, clock, settings);
    this.proposals = new ProposalService(context, CodeDefinitionGuard.open(codes, store));
    this.claims = new ClaimService(context, blocks, converter, random);
    this.commits =
        new CommitService(codes, store, ids, blocks, stripes, cluster, lifecycle, counters, clock);
    this.failures = new FailureService(codes, blocks, cluster, lifecycle, counters);
    this.repairs = new RepairScanner(context, stripes);
    this.freer = new BlockFreer(context, repairs::repairNow);
    this.pruning = new TransitionPruner(store, index, settings);
    this.scrubs = new ScrubReportService(store, blocks, counters);
    this.heat = heat;
    this.drains = new DrainService(store, codes, cluster, drains, blockCounts);
    this.pins = new PinOrders(store, cluster::isReadOnly);
  }

  /**
   * Does the periodic work: expired claims, lost blocks, counters, old rows. Each part does a
   * bounded amount of work. If a part fails, the other parts still run, and the next call tries the
   * part again.
   */
  public void tick() throws IOException {
    IOException failure = null;
    for (Work work :
        List.<Work>of(
            scanner::tick, claims::expire, repairs::tick, pruning::tick, counters::flush)) {
      try {
        work.run();
      } catch (IOException | RuntimeException e) { // a damaged row must not stop all other work
        if (failure == null) {
          failure = e instanceof IOException io ? io : new IOException(e);
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

  /** The counters. Other parts of the namenode count here, too: opens, dropped events. */
  public PersistentCounters counters() {
    return counters;
  }

  /** Frees blocks from stripes and transitions. */
  public EncodedBlocks freer() {
    return freer;
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
    return answer(
        () -> {
          if (request.hasPath()) {
            planReaders
                .orElseThrow(() -> new IOException("this namenode serves no plans to users"))
                .check(request.getPath(), request.getBlock().getBlockId());
          }
          return degradedReads.plan(request);
        });
  }

  @Override
  public ListFilesResponseProto listFiles(RpcController controller, ListFilesRequestProto request)
      throws ServiceException {
    return answer(
        () ->
            durable(
                files.list(request),
                request.getWithDirectories() || request.getInodeIdsCount() > 0));
  }

  /**
   * Who keeps what is listed must not see what a power failure undoes: no change would tell of the
   * undoing.
   */
  private <R> R durable(R listed, boolean isKept) throws IOException {
    if (isKept) {
      store.sync();
    }
    return listed;
  }

  @Override
  public ListStripesResponseProto listStripes(
      RpcController controller, ListStripesRequestProto request) throws ServiceException {
    return answer(() -> durable(stripeListing.stripes(request), !request.getWithLocations()));
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
        () -> {
          if (request.hasChangeMark()) {
            changes.publishMark(request.getChangeMark());
          }
          return request.getWithCodes()
              ? clusterNow().toBuilder().setDefinedCodes(definedCodes()).build()
              : clusterNow();
        });
  }

  private DefinedCodesProto definedCodes() {
    CodeDefinitions defined = CodeDefinitions.of(codes);
    DefinedCodesProto.Builder message = DefinedCodesProto.newBuilder();
    defined.codes().forEach((name, definition) -> message.addCodes(defined(name, definition)));
    defined.pairs().forEach((name, definition) -> message.addPairs(defined(name, definition)));
    return message.build();
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
  public CancelResponseProto cancel(RpcController controller, CancelRequestProto request)
      throws ServiceException {
    return answer(
        () -> {
          CancelResponseProto.Builder response = CancelResponseProto.newBuilder();
          lifecycle
              .cancel(request.getTransitionId(), request.getReason())
              .ifPresent(response::setRefusal);
          return response.build();
        });
  }

  @Override
  public ReportScrubResponseProto reportScrub(
      RpcController controller, ReportScrubRequestProto request) throws ServiceException {
    return answer(() -> scrubs.report(request));
  }

  @Override
  public DrainResponseProto drain(RpcController controller, DrainRequestProto request)
      throws ServiceException {
    return answer(() -> drains.drain(request));
  }

  /** Sets who lets servers hibernate; called once, before the namenode serves. */
  public void bind(HibernateService service) {
    hibernations = Optional.of(service);
  }

  /** Sets who knows which truncations wait; called once, before the namenode serves. */
  public void bind(TruncationWaits waits) {
    truncations = Optional.of(waits);
  }

  /** Sets who lets users have read plans; called once, before the namenode serves. */
  public void bind(PlanReaders readers) {
    planReaders = Optional.of(readers);
  }

  /** Sets who levels the disks; called once, before the namenode serves. */
  public void bind(RebalanceService service) {
    rebalance = Optional.of(service);
  }

  @Override
  public HibernateResponseProto hibernate(RpcController controller, HibernateRequestProto request)
      throws ServiceException {
    return answer(
        () ->
            hibernations
                .orElseThrow(() -> new IOException("no server of this namenode hibernates"))
                .hibernate(request));
  }

  @Override
  public RebalanceResponseProto rebalance(RpcController controller, RebalanceRequestProto request)
      throws ServiceException {
    return answer(
        () ->
            rebalance
                .orElseThrow(() -> new IOException("this namenode levels no disks"))
                .rebalance(request));
  }

  @Override
  public ReportHeatResponseProto reportHeat(
      RpcController controller, ReportHeatRequestProto request) throws ServiceException {
    return answer(
        () -> {
          heat.accept(request);
          return ReportHeatResponseProto.getDefaultInstance();
        });
  }

  /** Lets operators have the sums of quotas checked. To be called before the service is used. */
  public void bind(QuotaInspector inspector) {
    quotas = Optional.of(inspector);
  }

  @Override
  public CheckQuotasResponseProto checkQuotas(
      RpcController controller, CheckQuotasRequestProto request) throws ServiceException {
    return answer(() -> checkQuotas(request));
  }

  private CheckQuotasResponseProto checkQuotas(CheckQuotasRequestProto request) throws IOException {
    QuotaInspector inspector =
        quotas.orElseThrow(() -> new IOException("this namenode checks no quotas"));
    if (request.hasStart()) {
      inspector.start(request.getStart(), request.getMend());
    }
    QuotaInspector.Run run = inspector.last();
    CheckQuotasResponseProto.Builder response =
        CheckQuotasResponseProto.newBuilder()
            .setRun(run.id())
            .setEnded(run.ended())
            .setInodes(run.inodes())
            .setFound(run.found())
            .setMended(run.mended())
            .addAllFindings(run.texts());
    if (!run.failure().isEmpty()) {
      response.setFailure(run.failure());
    }
    return response.build();
  }

  @Override
  public PinResponseProto pin(RpcController controller, PinRequestProto request)
      throws ServiceException {
    return answer(() -> pins.pin(request));
  }

  // ---- the cluster as a whole ------------------------------------------------------------------

  private static void addStuck(
      GetClusterResponseProto.Builder response, List<TruncationWaits.Waiting> told) {
    response.setStuckTruncations(told.size());
    if (!told.isEmpty()) {
      response.setStuckTruncation(
          "file %d: %s".formatted(told.get(0).fileId(), told.get(0).reason()));
    }
  }

  private GetClusterResponseProto clusterNow() {
    Usage usage = changes.usage();
    GetClusterResponseProto.Builder response =
        GetClusterResponseProto.newBuilder()
            .setFiles(usage.files())
            .setLogicalBytes(usage.logicalBytes())
            .setStoredBytes(usage.storedBytes())
            .setUnderReplicatedBlocks(blockCounts.underReplicatedBlocks().getAsLong())
            .setMissingBlocks(blockCounts.missingBlocks().getAsLong())
            .setOrphanReplicas(blockCounts.orphanReplicas().getAsLong())
            .setOrphanBytes(blockCounts.orphanBytes().getAsLong())
            .setLostDisksToWalk(blockCounts.lostDisksToWalk().getAsLong())
            .setLostDiskBlocksExamined(blockCounts.lostDiskBlocksExamined().getAsLong())
            .setSafeMode(cluster.inSafeMode())
            .setChangesLost(changes.changesLost());
    cluster.allServers().forEach(server -> response.addServers(status(server)));
    truncations.map(TruncationWaits::told).ifPresent(told -> addStuck(response, told));
    addDamage(response);
    addSpace(response, usage);
    scrubs.status().ifPresent(response::setScrub);
    counters
        .values()
        .forEach(
            (name, value) ->
                response.addCounters(CountProto.newBuilder().setName(name).setValue(value)));
    addMisplaced(response);
    blockCounts.scan().get().ifPresent(scan -> response.addScans(status("blocks", scan)));
    response.addScans(status("stripes", repairs.progress()));
    return response.build();
  }

  private static ScanStatusProto status(String name, ScanCursor.Progress scan) {
    ScanStatusProto.Builder status =
        ScanStatusProto.newBuilder()
            .setName(name)
            .setStartedMillis(scan.startedMillis())
            .setVisited(scan.visited());
    scan.completedMillis().ifPresent(status::setCompletedMillis);
    if (scan.rows() > 0) {
      status.setRows(scan.rows());
    }
    return status.build();
  }

  private void addMisplaced(GetClusterResponseProto.Builder response) {
    SortedMap<Integer, Long> misplaced = repairs.misplaced().stripesByNumber();
    long rules = 0;
    long stripes = 0;
    for (Map.Entry<Integer, Long> entry : misplaced.entrySet()) {
      rules += entry.getKey() * entry.getValue();
      stripes += entry.getValue();
    }
    Map<String, Long> counts = new TreeMap<>();
    counts.put("placementViolations", rules);
    counts.put("placementViolations.stripes", stripes);
    counts.put("placementViolations.beingMended", (long) repairs.beingRePlaced());
    counts.forEach(
        (name, value) ->
            response.addCounters(CountProto.newBuilder().setName(name).setValue(value)));
  }

  private void addSpace(GetClusterResponseProto.Builder response, Usage usage) {
    long inStripes = usage.liveBytes() + usage.deadBytes() + usage.parityBytes();
    Map<String, Long> space = new TreeMap<>();
    space.put("replicated", Math.max(0, usage.storedBytes() - inStripes));
    space.put("live", usage.liveBytes());
    space.put("dead", usage.deadBytes());
    space.put("parity", usage.parityBytes());
    space.put("reserved", transitions.reservedBytes());
    space.forEach(
        (name, bytes) ->
            response.addSpaceBytes(CountProto.newBuilder().setName(name).setValue(bytes)));
  }

  /** The block groups that are not whole. */
  public GroupDamage groupDamage() {
    return repairs.groups();
  }

  private void addDamage(GetClusterResponseProto.Builder response) {
    SortedMap<Integer, Long> damaged = repairs.damaged().stripesByNumber();
    int most = damaged.isEmpty() ? 0 : damaged.lastKey();
    for (int lost = 1; lost <= most; lost++) {
      response.addStripesByLoss(damaged.getOrDefault(lost, 0L));
    }
    response.setUnrecoverableStripes(repairs.unrecoverable().stripes());
  }

  private ServerStatusProto status(Server server) {
    ServerStatusProto.Builder status =
        ServerStatusProto.newBuilder()
            .setServer(ProtoConverter.server(server))
            .setLive(server.live())
            .setRack(server.rack())
            .setLastHeartbeatMillis(server.lastHeartbeatMillis());
    drains.status(server).ifPresent(status::setDrain);
    hibernations.flatMap(service -> service.status(server)).ifPresent(status::setHibernation);
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
