package io.ebbfs.namenode.peers;

import io.ebbfs.namenode.rpc.server.CurrentCall;
import io.ebbfs.namenode.rpc.server.LaterException;
import io.ebbfs.namenode.rpc.server.MethodHandler;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.protocol.proto.PeerProtos.ForwardedCallProto;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.ha.proto.HAServiceProtocolProtos.HAServiceStateProto;
import org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException;
import org.apache.hadoop.hdfs.protocol.RecoveryInProgressException;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.CompleteRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.CreateRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.HAServiceStateResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.RenewLeaseRequestProto;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * Decides where a namenode that does not lead has a call of ClientProtocol run: here, if rows and
 * the view of the chunk servers are all that it needs, or at the leader, which alone knows leases,
 * what chunk servers have just reported, and what they are to do. Thread-safe.
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
          "getXAttrs",
          "listXAttrs",
          "getStoragePolicy",
          "getErasureCodingPolicy",
          "getEZForPath",
          "isFileClosed",
          "checkAccess");

  /** Calls that change rows of the namespace alone; create and complete are among them at times. */
  private static final Set<String> CHANGES =
      Set.of("mkdirs", "rename", "rename2", "delete", "setPermission", "setOwner", "setTimes");

  /** HDFS calls a namenode that serves reads beside the active one an observer. */
  private static final byte[] SERVES =
      HAServiceStateResponseProto.newBuilder()
          .setState(HAServiceStateProto.OBSERVER)
          .build()
          .toByteArray();

  /** A writer is made known to the leader this often, much more often than its lease ends. */
  private static final long RENEW_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final int MAX_WRITERS = 100_000;

  private final LeaderLink link;
  private final BooleanSupplier knowsCluster;
  private final Map<String, Long> renewedNanos = new ConcurrentHashMap<>();

  /**
   * @param knowsCluster whether it is known here that files may be changed; else the leader decides
   */
  public FollowerCalls(LeaderLink link, BooleanSupplier knowsCluster) {
    this.link = link;
    this.knowsCluster = knowsCluster;
  }

  /** The handler of a method, of its name and the handler that runs the method here. */
  public MethodHandler around(String method, MethodHandler here) {
    return switch (method) {
      case "create" -> (frame, offset, length) -> create(here, frame, offset, length);
      case "complete" -> (frame, offset, length) -> complete(here, frame, offset, length);
      case "getHAServiceState" -> (frame, offset, length) -> SERVES.clone();
      default -> READS.contains(method) ? here : change(method, here);
    };
  }

  private MethodHandler change(String method, MethodHandler here) {
    boolean mayBeHere = CHANGES.contains(method);
    return (frame, offset, length) ->
        mayBeHere && knowsCluster.getAsBoolean()
            ? here.answer(frame, offset, length)
            : forward(method, frame, offset, length);
  }

  /** The leader ends the lease of a writer of whom it never hears. */
  private byte[] create(MethodHandler here, byte[] frame, int offset, int length)
      throws IOException {
    if (!knowsCluster.getAsBoolean()) {
      return forward("create", frame, offset, length);
    }
    String writer = CreateRequestProto.parser().parseFrom(frame, offset, length).getClientName();
    if (isKnown(writer)) {
      return createHere(here, frame, offset, length);
    }
    byte[] renewal =
        RenewLeaseRequestProto.newBuilder().setClientName(writer).build().toByteArray();
    CompletableFuture<byte[]> renewed =
        link.forward(message("renewLease", renewal, 0, renewal.length, null));
    throw new LaterException(
        renewed,
        () -> {
          resultOf(renewed);
          renewedNanos.put(writer, System.nanoTime());
          return createHere(here, frame, offset, length);
        });
  }

  private boolean isKnown(String writer) {
    if (renewedNanos.size() > MAX_WRITERS) {
      renewedNanos.clear();
    }
    Long last = renewedNanos.get(writer);
    return last != null && System.nanoTime() - last < RENEW_NANOS;
  }

  /** Whether a file may be taken from another writer depends on that writer's lease. */
  private byte[] createHere(MethodHandler here, byte[] frame, int offset, int length)
      throws IOException {
    try {
      return here.answer(frame, offset, length);
    } catch (AlreadyBeingCreatedException | RecoveryInProgressException e) {
      return forward("create", frame, offset, length);
    }
  }

  /** A file without blocks is closed here. Replicas of a block are reported to the leader. */
  private byte[] complete(MethodHandler here, byte[] frame, int offset, int length)
      throws IOException {
    return !knowsCluster.getAsBoolean()
            || CompleteRequestProto.parser().parseFrom(frame, offset, length).hasLast()
        ? forward("complete", frame, offset, length)
        : here.answer(frame, offset, length);
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
