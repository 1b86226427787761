package io.ebbfs.namenode.rpc.server;

import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.protocol.PeerProtocol;
import io.ebbfs.protocol.proto.PeerProtos.ForwardedAnswerProto;
import io.ebbfs.protocol.proto.PeerProtos.ForwardedCallProto;
import io.ebbfs.protocol.rpc.ServiceKey;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Map;
import java.util.function.LongSupplier;
import org.apache.hadoop.ipc.RetriableException;
import org.apache.hadoop.ipc.RpcNoSuchMethodException;
import org.apache.hadoop.ipc.StandbyException;
import org.apache.hadoop.thirdparty.protobuf.UnsafeByteOperations;

/**
 * Runs calls of clients that another namenode has forwarded, as if the clients had sent them here.
 * Only a namenode that proves that it is a service may name the user of a call. A call that the
 * other namenode has given up is not run: its client was told so, and repeats it. Thread-safe.
 */
final class ForwardedCallHandler implements MethodHandler {
  private final Map<String, RpcMethod> methods;
  private final ServiceKey key;
  private final LongSupplier clockMillis;

  ForwardedCallHandler(Map<String, RpcMethod> methods, ServiceKey key, LongSupplier clockMillis) {
    this.methods = Map.copyOf(methods);
    this.key = key;
    this.clockMillis = clockMillis;
  }

  @Override
  public byte[] answer(byte[] frame, int offset, int length) throws IOException {
    CurrentCall peer = CurrentCall.get();
    key.check(PeerProtocol.NAME, peer.context(), peer.address());
    ForwardedCallProto call = ForwardedCallProto.parser().parseFrom(frame, offset, length);
    RpcMethod method = methods.get(call.getMethod());
    if (method == null) {
      throw new RpcNoSuchMethodException(
          "the forwarded method %s is not known here: the namenodes have different versions"
              .formatted(call.getMethod()));
    }
    CurrentCall caller =
        new CurrentCall(
            RemoteUser.named(call.getUser()),
            InetAddress.getByAddress(call.getAddress().toByteArray()),
            null);
    ClientCall once =
        call.hasClientId()
            ? ClientCall.of(
                    call.getClientId().toByteArray(),
                    call.getCallId(),
                    call.getUser(),
                    call.getRepeated())
                .orElse(null)
            : null;
    byte[] request = call.getRequest().toByteArray();
    return new Run(peer, caller, once, call)
        .of(() -> method.handler().answer(request, 0, request.length));
  }

  /** The run of a call; a call that waits for an event goes on in the same run. */
  private final class Run {
    private final CurrentCall peer;
    private final CurrentCall caller;
    private final ClientCall once;
    private final ForwardedCallProto call;

    Run(CurrentCall peer, CurrentCall caller, ClientCall once, ForwardedCallProto call) {
      this.peer = peer;
      this.caller = caller;
      this.once = once;
      this.call = call;
    }

    byte[] of(LaterException.Rest work) throws StandbyException, RetriableException {
      if (call.hasUntilMillis() && clockMillis.getAsLong() > call.getUntilMillis()) {
        throw new RetriableException("the namenode that forwarded this call has given it up");
      }
      CurrentCall.set(caller);
      try {
        return ForwardedAnswerProto.newBuilder()
            .setResult(UnsafeByteOperations.unsafeWrap(ClientCall.run(once, work::run)))
            .build()
            .toByteArray();
      } catch (StandbyException e) {
        throw e; // the other namenode sends the call to the next leader
      } catch (LaterException e) {
        throw new LaterException(e.event(), () -> of(e.rest()));
      } catch (IOException | RuntimeException e) {
        return ForwardedAnswerProto.newBuilder()
            .setFailureClass(AnswerFrame.nameOf(e))
            .setFailureMessage(AnswerFrame.messageOf(e))
            .build()
            .toByteArray();
      } finally {
        CurrentCall.set(peer);
      }
    }
  }
}
