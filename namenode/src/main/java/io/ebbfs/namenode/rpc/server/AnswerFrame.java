package io.ebbfs.namenode.rpc.server;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import org.apache.hadoop.ipc.RpcServerException;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcResponseHeaderProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcResponseHeaderProto.RpcErrorCodeProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcResponseHeaderProto.RpcStatusProto;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.CodedOutputStream;

/**
 * Frames that the server sends: a length, a RpcResponseHeaderProto, and for a success the result.
 */
final class AnswerFrame {
  static final int VERSION = 9;

  private static final int LENGTH_BYTES = 4;

  private AnswerFrame() {}

  /** The answer to a call that succeeded. Its header is written by hand, as each call needs it. */
  static byte[] success(RequestHeader call, byte[] result) {
    int header =
        CodedOutputStream.computeUInt32Size(
                RpcResponseHeaderProto.CALLID_FIELD_NUMBER, call.callId())
            + CodedOutputStream.computeEnumSize(
                RpcResponseHeaderProto.STATUS_FIELD_NUMBER, RpcStatusProto.SUCCESS_VALUE)
            + CodedOutputStream.computeUInt32Size(
                RpcResponseHeaderProto.SERVERIPCVERSIONNUM_FIELD_NUMBER, VERSION)
            + CodedOutputStream.computeByteArraySize(
                RpcResponseHeaderProto.CLIENTID_FIELD_NUMBER, call.clientId())
            + CodedOutputStream.computeSInt32Size(
                RpcResponseHeaderProto.RETRYCOUNT_FIELD_NUMBER, call.retryCount());
    int body = delimited(header) + delimited(result.length);
    byte[] frame = new byte[LENGTH_BYTES + body];
    try {
      CodedOutputStream out = begin(frame, body);
      out.writeUInt32NoTag(header);
      out.writeUInt32(RpcResponseHeaderProto.CALLID_FIELD_NUMBER, call.callId());
      out.writeEnum(RpcResponseHeaderProto.STATUS_FIELD_NUMBER, RpcStatusProto.SUCCESS_VALUE);
      out.writeUInt32(RpcResponseHeaderProto.SERVERIPCVERSIONNUM_FIELD_NUMBER, VERSION);
      out.writeByteArray(RpcResponseHeaderProto.CLIENTID_FIELD_NUMBER, call.clientId());
      out.writeSInt32(RpcResponseHeaderProto.RETRYCOUNT_FIELD_NUMBER, call.retryCount());
      out.writeByteArrayNoTag(result);
      out.checkNoSpaceLeft();
      return frame;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int delimited(int bytes) {
    return CodedOutputStream.computeUInt32SizeNoTag(bytes) + bytes;
  }

  private static CodedOutputStream begin(byte[] frame, int body) throws IOException {
    CodedOutputStream out = CodedOutputStream.newInstance(frame);
    // Protocol buffers know numbers with the lowest byte first only.
    out.writeFixed32NoTag(Integer.reverseBytes(body));
    return out;
  }

  /** The answer to a call that failed; the connection goes on. */
  static byte[] error(RequestHeader call, Throwable failure) {
    RpcResponseHeaderProto.Builder header =
        failed(call.callId(), nameOf(failure), messageOf(failure))
            .setStatus(RpcStatusProto.ERROR)
            .setErrorDetail(
                failure instanceof RpcServerException server
                    ? server.getRpcErrorCodeProto()
                    : RpcErrorCodeProto.ERROR_APPLICATION)
            .setClientId(ByteString.copyFrom(call.clientId()))
            .setRetryCount(call.retryCount());
    return headerOnly(header.build());
  }

  /** The answer to a call that was not run, because the server has too many. */
  static byte[] refusal(RequestHeader call, Exception reason) {
    return headerOnly(
        failed(call.callId(), reason.getClass().getName(), reason.getMessage())
            .setStatus(RpcStatusProto.ERROR)
            .setErrorDetail(RpcErrorCodeProto.ERROR_RPC_SERVER)
            .setClientId(ByteString.copyFrom(call.clientId()))
            .setRetryCount(call.retryCount())
            .build());
  }

  /** The last frame of a connection. */
  static byte[] fatal(FatalCallException failure) {
    return headerOnly(
        failed(failure.callId(), failure.className(), failure.getMessage())
            .setStatus(RpcStatusProto.FATAL)
            .setErrorDetail(failure.getRpcErrorCodeProto())
            .build());
  }

  private static RpcResponseHeaderProto.Builder failed(
      int callId, String className, String message) {
    return RpcResponseHeaderProto.newBuilder()
        .setCallId(callId)
        .setServerIpcVersionNum(VERSION)
        .setExceptionClassName(className)
        .setErrorMsg(message);
  }

  /** An anonymous class only adds to the class that a client knows. */
  static String nameOf(Throwable failure) {
    if (failure instanceof RelayedException relayed) {
      return relayed.className();
    }
    Class<?> type = failure.getClass();
    return (type.isAnonymousClass() ? type.getSuperclass() : type).getName();
  }

  /**
   * A mistake of the caller is told in a sentence; a failure of the server shows where it failed.
   */
  static String messageOf(Throwable failure) {
    if (!isUnexpected(failure)) {
      return failure.getMessage();
    }
    StringWriter trace = new StringWriter();
    failure.printStackTrace(new PrintWriter(trace, true));
    String name = failure.getClass().getName() + ": ";
    String text = trace.toString();
    return text.startsWith(name) ? text.substring(name.length()) : text;
  }

  static boolean isUnexpected(Throwable failure) {
    return failure.getMessage() == null
        || failure instanceof Error
        || failure instanceof RuntimeException
            && !(failure instanceof UnsupportedOperationException)
            && !(failure instanceof IllegalArgumentException);
  }

  private static byte[] headerOnly(RpcResponseHeaderProto header) {
    int body = delimited(header.getSerializedSize());
    byte[] frame = new byte[LENGTH_BYTES + body];
    try {
      CodedOutputStream out = begin(frame, body);
      out.writeMessageNoTag(header);
      out.checkNoSpaceLeft();
      return frame;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
