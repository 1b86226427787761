package io.ebbfs.namenode.rpc.server;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.GetFileInfoRequestProto;
import org.apache.hadoop.ipc.protobuf.IpcConnectionContextProtos.IpcConnectionContextProto;
import org.apache.hadoop.ipc.protobuf.IpcConnectionContextProtos.UserInformationProto;
import org.apache.hadoop.ipc.protobuf.ProtobufRpcEngine2Protos.RequestHeaderProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcKindProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcRequestHeaderProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcRequestHeaderProto.OperationProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcResponseHeaderProto;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.CodedInputStream;
import org.apache.hadoop.thirdparty.protobuf.Message;

/** A client that sends any bytes, and reads answers with Hadoop's own messages. */
public final class WireClient implements Closeable {
  public static final byte[] PREAMBLE = {'h', 'r', 'p', 'c', 9, 0, 0};
  static final byte[] SASL_PREAMBLE = {'h', 'r', 'p', 'c', 9, 0, (byte) 0xDF};
  static final int CONTEXT = -3;
  static final int PING = -4;
  static final int SASL = -33;
  static final String CLIENT_PROTOCOL = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
  private static final String CLIENT_ID = "0123456789abcdef";
  private static final int READ_MILLIS = 60_000;

  /** A frame of the server: its header, and the bytes of the message after it. */
  record Answer(RpcResponseHeaderProto header, byte[] result) {}

  private final Socket socket = new Socket();
  private final DataInputStream in;

  WireClient(InetSocketAddress server) throws IOException {
    socket.setSoTimeout(READ_MILLIS);
    socket.setTcpNoDelay(true);
    socket.connect(server);
    in = new DataInputStream(socket.getInputStream());
  }

  /** A connection on which calls may follow. */
  static WireClient open(InetSocketAddress server) throws IOException {
    return new WireClient(server).send(PREAMBLE).send(context("somebody"));
  }

  WireClient send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    return this;
  }

  Answer read() throws IOException {
    byte[] frame = new byte[in.readInt()];
    in.readFully(frame);
    CodedInputStream message = CodedInputStream.newInstance(frame);
    RpcResponseHeaderProto header = RpcResponseHeaderProto.parseFrom(message.readByteArray());
    return new Answer(header, message.isAtEnd() ? new byte[0] : message.readByteArray());
  }

  /** Everything until the server closes the connection. */
  byte[] readAll() throws IOException {
    return in.readAllBytes();
  }

  boolean isClosedByServer() throws IOException {
    return in.read() < 0;
  }

  int available() throws IOException {
    return in.available();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  // ---- frames

  public static byte[] context(String user) {
    return context(UserInformationProto.newBuilder().setEffectiveUser(user));
  }

  /** A real user acts as another user. */
  static byte[] context(String user, String realUser) {
    return context(UserInformationProto.newBuilder().setEffectiveUser(user).setRealUser(realUser));
  }

  private static byte[] context(UserInformationProto.Builder user) {
    return frame(
        header(CONTEXT),
        IpcConnectionContextProto.newBuilder()
            .setProtocol(CLIENT_PROTOCOL)
            .setUserInfo(user)
            .build());
  }

  public static byte[] call(int callId, String method, String path) {
    return call(callId, 0, method, path);
  }

  static byte[] call(int callId, int retry, String method, String path) {
    return frame(
        header(callId).toBuilder().setRetryCount(retry).build(),
        RequestHeaderProto.newBuilder()
            .setMethodName(method)
            .setDeclaringClassProtocolName(CLIENT_PROTOCOL)
            .setClientProtocolVersion(1)
            .build(),
        GetFileInfoRequestProto.newBuilder().setSrc(path).build());
  }

  static RpcRequestHeaderProto header(int callId) {
    return RpcRequestHeaderProto.newBuilder()
        .setRpcKind(RpcKindProto.RPC_PROTOCOL_BUFFER)
        .setRpcOp(OperationProto.RPC_FINAL_PACKET)
        .setCallId(callId)
        .setClientId(ByteString.copyFrom(CLIENT_ID, StandardCharsets.US_ASCII))
        .setRetryCount(0)
        .build();
  }

  static byte[] frame(Message... messages) {
    try {
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      for (Message message : messages) {
        message.writeDelimitedTo(body);
      }
      ByteArrayOutputStream frame = new ByteArrayOutputStream();
      new DataOutputStream(frame).writeInt(body.size());
      body.writeTo(frame);
      return frame.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static byte[] join(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }
}
