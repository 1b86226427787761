package io.ebbfs.namenode.peers;

import io.ebbfs.namenode.files.xattrs.ReportedHeat;
import io.ebbfs.namenode.rpc.server.ChangingCalls;
import io.ebbfs.namenode.rpc.server.CurrentCall;
import io.ebbfs.namenode.rpc.server.LaterException;
import io.ebbfs.namenode.rpc.server.MethodHandler;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.protocol.proto.PeerProtos.ForwardedCallProto;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.ha.proto.HAServiceProtocolProtos.HAServiceStateProto;
import org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException;
import org.apache.hadoop.hdfs.protocol.RecoveryInProgressException;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.AppendRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.CreateRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.HAServiceStateResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.RenewLeaseRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.XAttrProtos.GetXAttrsRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.XAttrProtos.XAttrProto;
import org.apache.hadoop.hdfs.protocol.proto.XAttrProtos.XAttrProto.XAttrNamespaceProto;
import org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * Decides where a namenode that does not lead has a call of ClientProtocol run: here, if rows and
 * the view of the chunk servers are all that it needs, or at the leader, which alone ends leases,
 * hears what chunk servers report, and tells them what to do. Thread-safe.
 */
public final class FollowerCalls {
  /** Calls that read rows. */
  private static final Set<String> READS =
      Set.of(
          "getFileInfo",
          "getFileLinkInfo",
          "getLocatedFileInfo",
          "getListing",
          "getBlockLocations",
          "getContentSummary",
          "getQuotaUsage",
          "getPreferredBlockSize",
          "getServerDefaults",
          "getAclStatus",
          "listXAttrs",
          "getStoragePolicy",
          "getStoragePolicies",
          "getErasureCodingPolicy",
          "getEZForPath",
          "isFileClosed",
          "checkAccess");

  private static final byte[] NOTHING = {};

  /** HDFS calls a namenode that serves reads beside the active one an observer. */
  private static final byte[] SERVES =
      HAServiceStateResponseProto.newBuilder()
          .setState(HAServiceStateProto.OBSERVER)
          .build()
          .toByteArray();

  private final LeaderLink link;
  private final BooleanSupplier knows;

  /**
   * @param knows whether it is known here if files may be changed; else the leader decides
   */
  public FollowerCalls(LeaderLink link, BooleanSupplier knows) {
    this.link = link;
    this.knows = knows;
  }

  /** The handler of a method, of its name and the handler that runs the method here. */
  public MethodHandler around(String method, MethodHandler here) {
    if (method.equals("getXAttrs")) {
      return (frame, offset, length) -> attributes(here, frame, offset, length);
    }
    if (READS.contains(method)) {
      return here;
    }
    return switch (method) {
      case "renewLease" -> this::renewLease;
      case "getHAServiceState" -> (frame, offset, length) -> SERVES.clone();
      default -> (frame, offset, length) -> change(method, here, frame, offset, length);
    };
  }

  /** Attributes come from rows, but for the heat, which the manager reports to the leader alone. */
  private byte[] attributes(MethodHandler here, byte[] frame, int offset, int length)
      throws IOException {
    GetXAttrsRequestProto request = GetXAttrsRequestProto.parser().parseFrom(frame, offset, length);
    return request.getXAttrsList().stream().anyMatch(FollowerCalls::isHeat)
        ? forward("getXAttrs", frame, offset, length)
        : here.answer(frame, offset, length);
  }

  private static boolean isHeat(XAttrProto attribute) {
    return attribute.getNamespace() == XAttrNamespaceProto.USER
        && attribute.getName().equals(ReportedHeat.NAME);
  }

  private byte[] change(String method, MethodHandler here, byte[] frame, int offset, int length)
      throws IOException {
    boolean writes = ChangingCalls.OF_WRITERS.contains(method);
    if (!knows.getAsBoolean()
        || !writes && !ChangingCalls.OF_NAMESPACE.contains(method)
        || !isHeard(method, frame, offset, length)) {
      return forward(method, frame, offset, length);
    }
    if (!writes) {
      return here.answer(frame, offset, length);
    }
    try {
      return here.answer(frame, offset, length);
    } catch (LaterException e) {
      return forward(method, frame, offset, length);
    } catch (IOException e) {
      if (mayEndOtherwiseAtLeader(e)) {
        return forward(method, frame, offset, length);
      }
      throw e;
    }
  }

  /**
   * Whether a call may have failed because of what is not known here yet: that a lease has ended,
   * that a replica is reported, that a chunk server has come (these failures have no class of their
   * own).
   */
  public static boolean mayEndOtherwiseAtLeader(IOException failure) {
    return failure instanceof AlreadyBeingCreatedException
        || failure instanceof RecoveryInProgressException
        || failure instanceof NotReplicatedYetException
        || failure.getClass() == IOException.class;
  }

  /** Whether the leader will hear of the client, if the call opens a file. */
  private boolean isHeard(String method, byte[] frame, int offset, int length) throws IOException {
    return switch (method) {
      case "create" ->
          link.hear(CreateRequestProto.parser().parseFrom(frame, offset, length).getClientName());
      case "append" ->
          link.hear(AppendRequestProto.parser().parseFrom(frame, offset, length).getClientName());
      default -> true;
    };
  }

  private byte[] renewLease(byte[] frame, int offset, int length) throws IOException {
    String client =
        RenewLeaseRequestProto.parser().parseFrom(frame, offset, length).getClientName();
    return link.hear(client) ? NOTHING : forward("renewLease", frame, offset, length);
  }

  private byte[] forward(String method, byte[] frame, int offset, int length) {
    CompletableFuture<byte[]> answer =
        link.forward(message(method, frame, offset, length, ClientCall.current()));
    throw new LaterException(answer, () -> resultOf(answer));
  }

  private static ForwardedCallProto message(
      String method, byte[] frame, int offset, int length, ClientCall once) {
    CurrentCall caller = CurrentCall.get();
    ForwardedCallProto.Builder message =
        ForwardedCallProto.newBuilder()
            .setMethod(method)
            .setRequest(ByteString.copyFrom(frame, offset, length))
            .setUser(caller.user().name())
            .setAddress(ByteString.copyFrom(caller.address().getAddress()));
    if (once != null) {
      message
          .setClientId(ByteString.copyFrom(once.clientId()))
          .setCallId(once.callId())
          .setRepeated(once.isRepeated());
    }
    return message.build();
  }

  /** The result of an answer that is there. */
  private static byte[] resultOf(CompletableFuture<byte[]> answer) throws IOException {
    try {
      return answer.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof IOException io ? io : new IOException(e.getCause());
    }
  }
}
