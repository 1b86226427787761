package io.ebbfs.namenode.rpc.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.ipc.IpcException;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcResponseHeaderProto.RpcErrorCodeProto;

/** The first seven bytes of a connection, and what a stranger who sends others is told. */
final class Preamble {
  static final int BYTES = 7;

  private static final int MAGIC = 0x68727063; // "hrpc"
  private static final int HTTP_GET = 0x47455420; // "GET "
  private static final int NO_CALL = -1;
  private static final byte NO_AUTHENTICATION = 0;
  private static final byte SASL = (byte) 0xDF;
  private static final int FIRST_VERSION_WITH_PROTOCOL_BUFFERS = 9;
  private static final int FIRST_VERSION_WITH_STATUS = 3;
  private static final int OLD_FATAL_STATUS = -1;

  private static final byte[] HTTP_ANSWER =
      ("HTTP/1.1 404 Not Found\r\nContent-type: text/plain\r\n\r\n"
              + "This is the Hadoop RPC port of an EbbFS namenode, not a web page.\r\n")
          .getBytes(StandardCharsets.US_ASCII);

  /**
   * @param sasl whether the client wants to negotiate before it sends its context
   * @param refusal what to send before closing; null if the connection may go on
   */
  record Reading(boolean sasl, byte[] refusal) {}

  private Preamble() {}

  /** Reads the preamble from a buffer that has all of it. */
  static Reading read(ByteBuf in) {
    int magic = in.readInt();
    int version = in.readByte();
    in.readByte(); // the service class says nothing to this server
    byte authentication = in.readByte();
    if (magic == HTTP_GET) {
      return new Reading(false, HTTP_ANSWER);
    }
    if (magic != MAGIC || version != AnswerFrame.VERSION) {
      return new Reading(false, otherVersion(version));
    }
    if (authentication != NO_AUTHENTICATION && authentication != SASL) {
      return new Reading(
          false,
          AnswerFrame.fatal(
              FatalCallException.unauthorized(
                  NO_CALL,
                  IpcException.class,
                  "authentication protocol %d is not supported, use SIMPLE"
                      .formatted(authentication))));
    }
    return new Reading(authentication == SASL, null);
  }

  /** Says that the versions differ, in the words of the client's version. */
  private static byte[] otherVersion(int version) {
    String message =
        "RPC version %d of the client is not supported, use version %d"
            .formatted(version, AnswerFrame.VERSION);
    Class<?> mismatch = RPC.VersionMismatch.class;
    if (version >= FIRST_VERSION_WITH_PROTOCOL_BUFFERS) {
      return AnswerFrame.fatal(
          new FatalCallException(
              NO_CALL, RpcErrorCodeProto.FATAL_VERSION_MISMATCH, mismatch, message));
    }
    ByteBuf old = Unpooled.buffer();
    if (version >= FIRST_VERSION_WITH_STATUS) {
      old.writeInt(NO_CALL).writeInt(OLD_FATAL_STATUS);
    } else {
      old.writeInt(0).writeBoolean(true);
    }
    writeText(old, mismatch.getName());
    writeText(old, message);
    byte[] answer = new byte[old.readableBytes()];
    old.readBytes(answer);
    return answer;
  }

  private static void writeText(ByteBuf out, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeInt(bytes.length).writeBytes(bytes);
  }
}
