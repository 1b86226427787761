package io.ebbfs.namenode.rpc.server;

import java.io.IOException;
import org.apache.hadoop.ipc.CallerContext;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RPCCallerContextProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcKindProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcRequestHeaderProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcRequestHeaderProto.OperationProto;
import org.apache.hadoop.thirdparty.protobuf.CodedInputStream;
import org.apache.hadoop.thirdparty.protobuf.InvalidProtocolBufferException;
import org.apache.hadoop.thirdparty.protobuf.WireFormat;

/**
 * What the server needs of a RpcRequestHeaderProto, parsed in place.
 *
 * @param context null if the call has none
 */
record RequestHeader(int callId, int retryCount, byte[] clientId, CallerContext context) {
  private static final int ABSENT = -1;
  private static final int INVALID_RETRY_COUNT = -1;
  private static final int MAX_CLIENT_ID_BYTES = 64;

  private static final int KIND =
      WireFormat.WIRETYPE_VARINT | RpcRequestHeaderProto.RPCKIND_FIELD_NUMBER << 3;
  private static final int OPERATION =
      WireFormat.WIRETYPE_VARINT | RpcRequestHeaderProto.RPCOP_FIELD_NUMBER << 3;
  private static final int CALL_ID =
      WireFormat.WIRETYPE_VARINT | RpcRequestHeaderProto.CALLID_FIELD_NUMBER << 3;
  private static final int CLIENT_ID =
      WireFormat.WIRETYPE_LENGTH_DELIMITED | RpcRequestHeaderProto.CLIENTID_FIELD_NUMBER << 3;
  private static final int RETRY_COUNT =
      WireFormat.WIRETYPE_VARINT | RpcRequestHeaderProto.RETRYCOUNT_FIELD_NUMBER << 3;
  private static final int CONTEXT =
      WireFormat.WIRETYPE_LENGTH_DELIMITED | RpcRequestHeaderProto.CALLERCONTEXT_FIELD_NUMBER << 3;

  /** Fields that make up a header while it is read. */
  private static final class Fields {
    private int kind = ABSENT;
    private int operation = ABSENT;
    private int callId;
    private byte[] clientId;
    private int retryCount = INVALID_RETRY_COUNT;
    private CallerContext context;
  }

  /**
   * Reads a header with its length before it.
   *
   * @throws FatalCallException if the header is no header, or none of a call that this server knows
   */
  static RequestHeader read(CodedInputStream frame) throws FatalCallException {
    Fields fields = new Fields();
    try {
      int outer = frame.pushLimit(frame.readRawVarint32());
      readFields(frame, fields);
      frame.popLimit(outer);
      if (fields.clientId == null) {
        throw new InvalidProtocolBufferException("the client id is missing");
      }
    } catch (IOException e) {
      throw FatalCallException.unreadable("Error decoding RpcRequestHeaderProto: " + e);
    }
    check(fields);
    return new RequestHeader(fields.callId, fields.retryCount, fields.clientId, fields.context);
  }

  private static void readFields(CodedInputStream in, Fields fields) throws IOException {
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      if (tag == KIND) {
        fields.kind = in.readEnum();
      } else if (tag == OPERATION) {
        fields.operation = in.readEnum();
      } else if (tag == CALL_ID) {
        fields.callId = in.readSInt32();
      } else if (tag == CLIENT_ID) {
        fields.clientId = in.readByteArray();
      } else if (tag == RETRY_COUNT) {
        fields.retryCount = in.readSInt32();
      } else if (tag == CONTEXT) {
        fields.context = context(RPCCallerContextProto.parseFrom(in.readByteArray()));
      } else {
        in.skipField(tag);
      }
    }
  }

  private static CallerContext context(RPCCallerContextProto context) {
    return new CallerContext.Builder(context.getContext())
        .setSignature(context.getSignature().toByteArray())
        .build();
  }

  private static void check(Fields fields) throws FatalCallException {
    if (fields.operation != OperationProto.RPC_FINAL_PACKET_VALUE) {
      throw FatalCallException.badHeader(
          fields.callId, "RPC operation %d is not supported".formatted(fields.operation));
    }
    if (fields.kind != RpcKindProto.RPC_PROTOCOL_BUFFER_VALUE) {
      throw FatalCallException.badHeader(
          fields.callId,
          "RPC kind %d is not supported: speak protocol buffers (%d)"
              .formatted(fields.kind, RpcKindProto.RPC_PROTOCOL_BUFFER_VALUE));
    }
    if (fields.clientId.length > MAX_CLIENT_ID_BYTES) {
      throw FatalCallException.badHeader(
          fields.callId,
          "a client id of %d bytes is too long: send 16 bytes".formatted(fields.clientId.length));
    }
  }
}
