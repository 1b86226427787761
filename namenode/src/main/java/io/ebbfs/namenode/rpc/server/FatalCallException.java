package io.ebbfs.namenode.rpc.server;

import org.apache.hadoop.ipc.RetriableException;
import org.apache.hadoop.ipc.RpcServerException;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcResponseHeaderProto.RpcErrorCodeProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcResponseHeaderProto.RpcStatusProto;

/** A frame after which the connection cannot go on: the server answers it, and closes. */
final class FatalCallException extends RpcServerException {
  private static final int NO_CALL = -1;

  private final int callId;
  private final RpcErrorCodeProto code;
  private final String className;

  FatalCallException(int callId, RpcErrorCodeProto code, Class<?> shownAs, String message) {
    super(message);
    this.callId = callId;
    this.code = code;
    this.className = shownAs.getName();
  }

  static FatalCallException unreadable(String message) {
    return new FatalCallException(
        NO_CALL, RpcErrorCodeProto.FATAL_DESERIALIZING_REQUEST, RpcServerException.class, message);
  }

  static FatalCallException badHeader(int callId, String message) {
    return new FatalCallException(
        callId, RpcErrorCodeProto.FATAL_INVALID_RPC_HEADER, RpcServerException.class, message);
  }

  static FatalCallException unauthorized(int callId, Class<?> shownAs, String message) {
    return new FatalCallException(callId, RpcErrorCodeProto.FATAL_UNAUTHORIZED, shownAs, message);
  }

  static FatalCallException overloaded(String message) {
    return new FatalCallException(
        NO_CALL, RpcErrorCodeProto.FATAL_UNKNOWN, RetriableException.class, message);
  }

  int callId() {
    return callId;
  }

  /** The class of the exception that the client throws. */
  String className() {
    return className;
  }

  @Override
  public RpcStatusProto getRpcStatusProto() {
    return RpcStatusProto.FATAL;
  }

  @Override
  public RpcErrorCodeProto getRpcErrorCodeProto() {
    return code;
  }
}
