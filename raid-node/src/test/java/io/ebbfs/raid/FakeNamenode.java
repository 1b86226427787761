package io.ebbfs.raid;

import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.ChunkProtos.BlockLocationProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import io.ebbfs.protocol.proto.CodingProtos.*;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** A queue of transitions like the namenode's: each is claimed once and committed once. */
public final class FakeNamenode implements CodingProtocol {
  final List<ClaimedTransitionProto> planned = new ArrayList<>();
  public final List<CommitRequestProto> commits = new ArrayList<>();
  public final List<FailRequestProto> failures = new ArrayList<>();
  final Set<Long> renewed = new HashSet<>();
  final Set<Long> lost = new HashSet<>();

  /** The names under which transitions were claimed. */
  final Set<String> workers = ConcurrentHashMap.newKeySet();

  public int commitsWithoutAnswer;
  public FakeStripes stripes = new FakeStripes();

  public static ClaimedTransitionProto transition(
      long id, TransitionKindProto kind, long stripe, long bytes) {
    TransitionRow row =
        TransitionRow.newBuilder()
            .setId(id)
            .setKind(kind)
            .setState(TransitionStateProto.RUNNING)
            .setPolicy("p")
            .setToCode("PC(2x5)")
            .setReason("test")
            .setCreatedMillis(1)
            .setUpdatedMillis(1)
            .setPriority(kind == TransitionKindProto.REPAIR ? 1 : 100)
            .setAttempt(3)
            .addStripes(TransitionStripeProto.newBuilder().setStripeId(stripe).setGeneration(1))
            .build();
    CombineRequestProto combine =
        CombineRequestProto.newBuilder()
            .setId("t" + id)
            .addSources(
                SourceProto.newBuilder()
                    .setBlock(block(id * 10, bytes))
                    .addLocations(location(1))
                    .addLocations(location(2)))
            .addTargets(
                TargetProto.newBuilder()
                    .setBlock(block(id * 10 + 1, bytes))
                    .setLocation(location(3)))
            .setCoefficients(ByteString.copyFrom(new byte[] {1}))
            .build();
    return ClaimedTransitionProto.newBuilder()
        .setTransition(row)
        .addSteps(StepProto.newBuilder().setExecutor(server(3)).setCombine(combine))
        .build();
  }

  public static ExtendedBlockProto block(long id, long bytes) {
    return ExtendedBlockProto.newBuilder()
        .setPoolId("pool")
        .setBlockId(id)
        .setGenerationStamp(1)
        .setNumBytes(bytes)
        .build();
  }

  public static DatanodeIDProto server(int number) {
    return DatanodeIDProto.newBuilder()
        .setIpAddr("127.0.0.1")
        .setHostName("server-" + number)
        .setDatanodeUuid("uuid-" + number)
        .setXferPort(number)
        .setInfoPort(0)
        .setIpcPort(number)
        .build();
  }

  public static BlockLocationProto location(int server) {
    return BlockLocationProto.newBuilder()
        .setServer(server(server))
        .setStorageUuid("disk-" + server)
        .build();
  }

  public synchronized void plan(ClaimedTransitionProto transition) {
    planned.add(transition);
  }

  @Override
  public synchronized ClaimResponseProto claim(RpcController c, ClaimRequestProto request) {
    ClaimResponseProto.Builder response = ClaimResponseProto.newBuilder();
    Iterator<ClaimedTransitionProto> all = planned.iterator();
    while (all.hasNext() && response.getClaimedCount() < request.getLimit()) {
      ClaimedTransitionProto next = all.next();
      if (request.getKindsList().contains(next.getTransition().getKind())) {
        response.addClaimed(next);
        all.remove();
        workers.add(request.getWorker());
        notifyAll();
      }
    }
    return response.build();
  }

  synchronized void awaitPlanned(int count) throws InterruptedException {
    while (planned.size() != count) {
      wait();
    }
  }

  @Override
  public synchronized RenewResponseProto renew(RpcController c, RenewRequestProto request) {
    renewed.addAll(request.getTransitionIdsList());
    notifyAll();
    return RenewResponseProto.newBuilder().addAllLostTransitionIds(lost).build();
  }

  synchronized void awaitRenewal(long id) throws InterruptedException {
    while (!renewed.contains(id)) {
      wait();
    }
  }

  @Override
  public synchronized CommitResponseProto commit(RpcController c, CommitRequestProto request)
      throws ServiceException {
    commits.add(request);
    notifyAll();
    if (commitsWithoutAnswer > 0) {
      commitsWithoutAnswer--;
      throw new ServiceException(new java.io.EOFException("connection lost"));
    }
    return CommitResponseProto.newBuilder().setCommitted(true).build();
  }

  synchronized void awaitCommits(int count) throws InterruptedException {
    while (commits.size() < count) {
      wait();
    }
  }

  @Override
  public synchronized FailResponseProto fail(RpcController c, FailRequestProto request) {
    failures.add(request);
    return FailResponseProto.newBuilder().setState(TransitionStateProto.PLANNED).build();
  }

  @Override
  public GetReadPlanResponseProto getReadPlan(RpcController c, GetReadPlanRequestProto r) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ListFilesResponseProto listFiles(RpcController c, ListFilesRequestProto r) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ListStripesResponseProto listStripes(RpcController c, ListStripesRequestProto r) {
    return stripes.list(r);
  }

  @Override
  public GetClusterResponseProto getCluster(RpcController c, GetClusterRequestProto r) {
    return stripes.cluster();
  }

  @Override
  public ReportHeatResponseProto reportHeat(RpcController c, ReportHeatRequestProto r) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ReportScrubResponseProto reportScrub(RpcController c, ReportScrubRequestProto r) {
    return stripes.report(r);
  }

  @Override
  public HibernateResponseProto hibernate(RpcController c, HibernateRequestProto r) {
    throw new UnsupportedOperationException();
  }

  @Override
  public RebalanceResponseProto rebalance(RpcController c, RebalanceRequestProto r) {
    throw new UnsupportedOperationException();
  }

  @Override
  public DrainResponseProto drain(RpcController c, DrainRequestProto r) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CheckQuotasResponseProto checkQuotas(RpcController c, CheckQuotasRequestProto r) {
    throw new UnsupportedOperationException();
  }

  @Override
  public PinResponseProto pin(RpcController c, PinRequestProto r) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CancelResponseProto cancel(RpcController c, CancelRequestProto r) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ProposeResponseProto propose(RpcController c, ProposeRequestProto r) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ListTransitionsResponseProto listTransitions(
      RpcController c, ListTransitionsRequestProto r) {
    throw new UnsupportedOperationException();
  }
}
