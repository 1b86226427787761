package io.ebbfs.namenode.rpc.server;

import org.apache.hadoop.ipc.ProtocolSignature;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.RPC.RpcKind;
import org.apache.hadoop.ipc.protobuf.ProtocolInfoProtos.GetProtocolSignatureRequestProto;
import org.apache.hadoop.ipc.protobuf.ProtocolInfoProtos.GetProtocolSignatureResponseProto;
import org.apache.hadoop.ipc.protobuf.ProtocolInfoProtos.GetProtocolVersionsRequestProto;
import org.apache.hadoop.ipc.protobuf.ProtocolInfoProtos.GetProtocolVersionsResponseProto;
import org.apache.hadoop.ipc.protobuf.ProtocolInfoProtos.ProtocolInfoService;
import org.apache.hadoop.ipc.protobuf.ProtocolInfoProtos.ProtocolSignatureProto;
import org.apache.hadoop.ipc.protobuf.ProtocolInfoProtos.ProtocolVersionProto;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** Tells clients which versions of a protocol the server speaks, and which methods it has. */
final class MetaInfoService implements ProtocolInfoService.BlockingInterface {
  private static final String KIND = RpcKind.RPC_PROTOCOL_BUFFER.toString();

  private final RpcProtocols protocols;

  MetaInfoService(RpcProtocols protocols) {
    this.protocols = protocols;
  }

  @Override
  public GetProtocolVersionsResponseProto getProtocolVersions(
      RpcController ignored, GetProtocolVersionsRequestProto request) {
    GetProtocolVersionsResponseProto.Builder answer = GetProtocolVersionsResponseProto.newBuilder();
    Class<?> type = protocols.typeOf(request.getProtocol());
    if (type != null) {
      answer.addProtocolVersions(
          ProtocolVersionProto.newBuilder()
              .setRpcKind(KIND)
              .addVersions(RPC.getProtocolVersion(type)));
    }
    return answer.build();
  }

  @Override
  public GetProtocolSignatureResponseProto getProtocolSignature(
      RpcController ignored, GetProtocolSignatureRequestProto request) throws ServiceException {
    GetProtocolSignatureResponseProto.Builder answer =
        GetProtocolSignatureResponseProto.newBuilder();
    Class<?> type = protocols.typeOf(request.getProtocol());
    if (type != null && request.getRpcKind().equals(KIND)) {
      answer.addProtocolSignature(signature(type));
    }
    return answer.build();
  }

  private static ProtocolSignatureProto signature(Class<?> type) throws ServiceException {
    long version = RPC.getProtocolVersion(type);
    try {
      ProtocolSignatureProto.Builder signature =
          ProtocolSignatureProto.newBuilder().setVersion(version);
      for (int method :
          ProtocolSignature.getProtocolSignature(type.getName(), version).getMethods()) {
        signature.addMethods(method);
      }
      return signature.build();
    } catch (ClassNotFoundException e) {
      throw new ServiceException(e);
    }
  }
}
