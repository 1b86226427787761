package io.ebbfs.manager.view;

import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.CancelRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.CancelResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.DrainRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.DrainResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
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
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ReportHeatRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ReportScrubRequestProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls the namenode: reads files, stripes and transitions page by page, and proposes decisions.
 * Thread-safe. Every call may throw {@link NamenodeException}.
 */
public final class NamenodeGateway {
  private static final Logger LOG = LoggerFactory.getLogger(NamenodeGateway.class);
  private static final int DECISIONS_PER_CALL = 50;

  private final Supplier<CodingProtocol> protocol;
  private final int pageSize;
  private final AtomicBoolean asked = new AtomicBoolean();
  private volatile String problem = "the namenode was not asked yet";

  public NamenodeGateway(Supplier<CodingProtocol> protocol, int pageSize) {
    this.protocol = protocol;
    this.pageSize = pageSize;
  }

  /** A call of CodingProtocol. */
  private interface Call<T> {
    T on(CodingProtocol protocol) throws ServiceException;
  }

  private <T> T call(String name, Call<T> call) {
    try {
      T answer = call.on(protocol.get());
      if (problem != null) {
        LOG.info("The namenode answers");
      }
      problem = null;
      return answer;
    } catch (ServiceException | RuntimeException e) {
      NamenodeException failure = new NamenodeException(name, e);
      if (problem == null || asked.compareAndSet(false, true)) {
        LOG.warn("{}", failure.getMessage());
      }
      problem = failure.getMessage();
      throw failure;
    }
  }

  /** Why the last call failed; null if it succeeded. */
  public String problem() {
    return problem;
  }

  public GetClusterResponseProto cluster() {
    return call("getCluster", p -> p.getCluster(null, GetClusterRequestProto.getDefaultInstance()));
  }

  /**
   * The cluster; the namenode publishes all changes up to now, and then the mark, in the change
   * stream.
   */
  public GetClusterResponseProto clusterWithMark(String mark) {
    GetClusterRequestProto request =
        GetClusterRequestProto.newBuilder().setChangeMark(mark).build();
    return call("getCluster", p -> p.getCluster(null, request));
  }

  /** These files and directories. */
  ListFilesResponseProto inodes(List<Long> ids) {
    ListFilesRequestProto request = ListFilesRequestProto.newBuilder().addAllInodeIds(ids).build();
    return call("listFiles", p -> p.listFiles(null, request));
  }

  /** These stripes. */
  public ListStripesResponseProto stripes(List<Long> ids) {
    ListStripesRequestProto request =
        ListStripesRequestProto.newBuilder().addAllStripeIds(ids).build();
    return call("listStripes", p -> p.listStripes(null, request));
  }

  /** One page of files and directories of the whole namespace; cursor may be null. */
  ListFilesResponseProto inodes(ByteString cursor) {
    ListFilesRequestProto.Builder request =
        ListFilesRequestProto.newBuilder().setLimit(pageSize).setWithDirectories(true);
    if (cursor != null) {
      request.setCursor(cursor);
    }
    return call("listFiles", p -> p.listFiles(null, request.build()));
  }

  /** One page of stripes; cursor may be null. */
  ListStripesResponseProto stripes(ByteString cursor) {
    ListStripesRequestProto.Builder request =
        ListStripesRequestProto.newBuilder().setLimit(pageSize);
    if (cursor != null) {
      request.setCursor(cursor);
    }
    return call("listStripes", p -> p.listStripes(null, request.build()));
  }

  /** One page of files; cursor and path may be null. */
  public ListFilesResponseProto files(String path, byte[] cursor, int limit) {
    ListFilesRequestProto.Builder request = ListFilesRequestProto.newBuilder().setLimit(limit);
    if (path != null) {
      request.setPath(path);
    }
    if (cursor != null) {
      request.setCursor(ByteString.copyFrom(cursor));
    }
    return call("listFiles", p -> p.listFiles(null, request.build()));
  }

  /** All stripes, page after page. */
  void eachStripe(Consumer<ListStripesResponseProto> page) {
    ByteString cursor = null;
    do {
      ListStripesResponseProto stripes = stripes(cursor);
      page.accept(stripes);
      cursor = stripes.hasCursor() ? stripes.getCursor() : null;
    } while (cursor != null);
  }

  /**
   * One page of transitions in these states, or in any if the list is empty; cursor may be null.
   */
  public ListTransitionsResponseProto transitions(
      Collection<TransitionStateProto> states, byte[] cursor, int limit) {
    ListTransitionsRequestProto.Builder request =
        ListTransitionsRequestProto.newBuilder().addAllStates(states).setLimit(limit);
    if (cursor != null) {
      request.setCursor(ByteString.copyFrom(cursor));
    }
    return call("listTransitions", p -> p.listTransitions(null, request.build()));
  }

  /** Transitions in these states; reading ends with the page that reaches the number wanted. */
  public List<TransitionRow> allTransitions(Collection<TransitionStateProto> states, int wanted) {
    List<TransitionRow> rows = new ArrayList<>();
    ByteString cursor = null;
    do {
      ListTransitionsResponseProto page = transitions(states, bytes(cursor), pageSize);
      rows.addAll(page.getTransitionsList());
      cursor = page.hasCursor() ? page.getCursor() : null;
    } while (cursor != null && rows.size() < wanted);
    return rows;
  }

  public List<TransitionRow> transitions(Collection<Long> ids) {
    if (ids.isEmpty()) {
      return List.of();
    }
    ListTransitionsRequestProto request =
        ListTransitionsRequestProto.newBuilder().addAllTransitionIds(ids).build();
    return call("listTransitions", p -> p.listTransitions(null, request)).getTransitionsList();
  }

  /**
   * Proposes decisions; the answers come in the same order. Once a call fails, the rest is not
   * proposed: each of the rest is answered with a refusal.
   *
   * @throws NamenodeException if the first call fails, so that there is no answer
   */
  public List<ProposedProto> propose(List<DecisionProto> decisions) {
    List<ProposedProto> results = new ArrayList<>();
    for (int from = 0; from < decisions.size(); from += DECISIONS_PER_CALL) {
      ProposeRequestProto request =
          ProposeRequestProto.newBuilder()
              .addAllDecisions(
                  decisions.subList(from, Math.min(from + DECISIONS_PER_CALL, decisions.size())))
              .build();
      try {
        results.addAll(call("propose", p -> p.propose(null, request)).getResultsList());
      } catch (NamenodeException e) {
        if (results.isEmpty()) {
          throw e;
        }
        ProposedProto refused = ProposedProto.newBuilder().setRefusal(e.getMessage()).build();
        results.addAll(Collections.nCopies(decisions.size() - results.size(), refused));
        return results;
      }
    }
    return results;
  }

  /** Ends an encoding or a conversion that is planned or running. */
  public CancelResponseProto cancel(long transitionId, String reason) {
    CancelRequestProto request =
        CancelRequestProto.newBuilder().setTransitionId(transitionId).setReason(reason).build();
    return call("cancel", p -> p.cancel(null, request));
  }

  /**
   * Begins or ends the drain of a server.
   *
   * @param end takes the server back
   * @param dryRun only tells what would be done
   */
  public DrainResponseProto drain(String serverUuid, boolean end, boolean dryRun) {
    DrainRequestProto request =
        DrainRequestProto.newBuilder()
            .setServerUuid(serverUuid)
            .setEnd(end)
            .setDryRun(dryRun)
            .build();
    return call("drain", p -> p.drain(null, request));
  }

  /** Lets a server hibernate, or wakes it. */
  public HibernateResponseProto hibernate(HibernateRequestProto request) {
    return call("hibernate", p -> p.hibernate(null, request));
  }

  /** Begins, changes or stops the rebalance, or asks how far it is. */
  public RebalanceResponseProto rebalance(RebalanceRequestProto request) {
    return call("rebalance", p -> p.rebalance(null, request));
  }

  /**
   * Sets the pin of a file or directory, or removes it.
   *
   * @param dryRun only tells what would be done
   */
  public PinResponseProto pin(String path, Pin pin, boolean dryRun) {
    PinRequestProto.Builder request = PinRequestProto.newBuilder().setPath(path).setDryRun(dryRun);
    if (pin != Pin.NONE) {
      request.setPin(pin.message());
    }
    return call("pin", p -> p.pin(null, request.build()));
  }

  /** Asks for a pass of the parity scrub; a raid-node begins it within some seconds. */
  public void requestScrub(long pass) {
    ReportScrubRequestProto request =
        ReportScrubRequestProto.newBuilder().setRequestedPass(pass).build();
    call("reportScrub", p -> p.reportScrub(null, request));
  }

  /**
   * Tells which files and directories are read most. A failure is no problem of the manager: a
   * namenode of an earlier version does not know the call.
   *
   * @throws ServiceException if the namenode does not take the report
   */
  public void reportHeat(ReportHeatRequestProto report) throws ServiceException {
    protocol.get().reportHeat(null, report);
  }

  private static byte[] bytes(ByteString cursor) {
    return cursor == null ? null : cursor.toByteArray();
  }
}
