package io.ebbfs.namenode.rpc.server;

import io.ebbfs.protocol.rpc.ServiceKey;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import org.apache.hadoop.ipc.ProtocolMetaInfoPB;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.RpcNoSuchMethodException;
import org.apache.hadoop.ipc.RpcNoSuchProtocolException;
import org.apache.hadoop.ipc.RpcServerException;
import org.apache.hadoop.ipc.protobuf.ProtobufRpcEngine2Protos.RequestHeaderProto;
import org.apache.hadoop.ipc.protobuf.ProtocolInfoProtos.ProtocolInfoService;
import org.apache.hadoop.thirdparty.protobuf.BlockingService;
import org.apache.hadoop.thirdparty.protobuf.CodedInputStream;
import org.apache.hadoop.thirdparty.protobuf.Descriptors.MethodDescriptor;
import org.apache.hadoop.thirdparty.protobuf.Message;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** The protocols that a server speaks, and their methods. Not changed once the server runs. */
public final class RpcProtocols {
  private record Protocol(long version, Class<?> type, Map<String, RpcMethod> methods) {}

  private final Map<String, Protocol> protocols = new HashMap<>();

  /** Methods by the bytes of the RequestHeaderProto that all clients of a method send. */
  private final Map<Bytes, RpcMethod> byHeader = new HashMap<>();

  /**
   * How the methods of a protocol are run; see {@link RpcMethod}.
   *
   * @param once the names of the methods that must take effect once
   * @param quick the names of the methods that an event loop may run
   */
  public record Traits(Set<String> once, Set<String> quick) {
    public static final Traits NONE = new Traits(Set.of(), Set.of());
  }

  /** With the protocol that tells about the others. */
  public RpcProtocols() {
    add(
        ProtocolMetaInfoPB.class,
        ProtocolInfoService.newReflectiveBlockingService(new MetaInfoService(this)),
        Traits.NONE);
  }

  /**
   * Adds a protocol.
   *
   * @param type the interface with the protocol's name and version, as its clients know it
   */
  public void add(Class<?> type, BlockingService service, Traits traits) {
    Protocol protocol = new Protocol(RPC.getProtocolVersion(type), type, new HashMap<>());
    protocols.put(RPC.getProtocolName(type), protocol);
    for (MethodDescriptor method : service.getDescriptorForType().getMethods()) {
      String name = method.getName();
      put(
          protocol,
          new RpcMethod(
              name,
              traits.once().contains(name),
              traits.quick().contains(name),
              handler(service, method)));
    }
  }

  /** Answers a method of an added protocol in another way than by the protocol's service. */
  public void replace(Class<?> type, String method, MethodHandler handler) {
    Protocol protocol = protocols.get(RPC.getProtocolName(type));
    RpcMethod replaced = protocol.methods().get(method);
    put(protocol, new RpcMethod(method, replaced.once(), replaced.quick(), handler));
  }

  /**
   * Lets something run around the handler of each method of an added protocol.
   *
   * @param around makes a handler of the name of a method and its handler
   */
  public void wrap(Class<?> type, BiFunction<String, MethodHandler, MethodHandler> around) {
    Protocol protocol = protocols.get(RPC.getProtocolName(type));
    for (RpcMethod method : List.copyOf(protocol.methods().values())) {
      put(
          protocol,
          new RpcMethod(
              method.name(),
              method.once(),
              method.quick(),
              around.apply(method.name(), method.handler())));
    }
  }

  /**
   * Lets a method of one protocol run the methods of another, for callers who name the user.
   *
   * @param type the protocol of the method
   * @param methods the protocol whose methods are run; all its handlers are there
   * @param clockMillis the clock by which the callers tell how long they wait
   */
  public void forward(
      Class<?> type, String method, Class<?> methods, ServiceKey key, LongSupplier clockMillis) {
    Map<String, RpcMethod> run = protocols.get(RPC.getProtocolName(methods)).methods();
    replace(type, method, new ForwardedCallHandler(run, key, clockMillis));
  }

  /** Lets this process itself call the methods of a protocol, of which all handlers are there. */
  public OwnCalls ownCalls(Class<?> type, String user) {
    return new OwnCalls(protocols.get(RPC.getProtocolName(type)).methods(), user);
  }

  private void put(Protocol protocol, RpcMethod method) {
    protocol.methods().put(method.name(), method);
    byte[] header =
        RequestHeaderProto.newBuilder()
            .setMethodName(method.name())
            .setDeclaringClassProtocolName(RPC.getProtocolName(protocol.type()))
            .setClientProtocolVersion(protocol.version())
            .build()
            .toByteArray();
    byHeader.put(new Bytes(header, 0, header.length), method);
  }

  private static MethodHandler handler(BlockingService service, MethodDescriptor method) {
    Message prototype = service.getRequestPrototype(method);
    return (frame, offset, length) -> {
      Message request = prototype.getParserForType().parseFrom(frame, offset, length);
      try {
        return service.callBlockingMethod(method, null, request).toByteArray();
      } catch (ServiceException e) {
        throw e.getCause() instanceof IOException cause ? cause : new IOException(e);
      }
    };
  }

  /** The interface of a protocol by the name of the protocol or of the interface; or null. */
  Class<?> typeOf(String name) {
    for (Map.Entry<String, Protocol> entry : protocols.entrySet()) {
      Class<?> type = entry.getValue().type();
      if (entry.getKey().equals(name) || type.getName().equals(name)) {
        return type;
      }
    }
    return null;
  }

  /**
   * The method that a call asks for: reads a RequestHeaderProto with its length before it.
   *
   * @param in reads the frame
   * @throws RpcServerException if there is no such method, or the header is no header
   */
  RpcMethod find(CodedInputStream in, byte[] frame) throws RpcServerException {
    try {
      int length = in.readRawVarint32();
      int offset = in.getTotalBytesRead();
      in.skipRawBytes(length);
      RpcMethod method = byHeader.get(new Bytes(frame, offset, length));
      return method != null
          ? method
          : find(RequestHeaderProto.parser().parseFrom(frame, offset, length));
    } catch (RpcServerException e) {
      throw e;
    } catch (IOException e) {
      throw new RpcServerException("the header of the request is unreadable: " + e.getMessage());
    }
  }

  private RpcMethod find(RequestHeaderProto header) throws RpcServerException {
    String name = header.getDeclaringClassProtocolName();
    Protocol protocol = protocols.get(name);
    if (protocol == null) {
      throw new RpcNoSuchProtocolException("Unknown protocol: " + name);
    }
    if (protocol.version() != header.getClientProtocolVersion()) {
      throw new RPC.VersionMismatch(name, header.getClientProtocolVersion(), protocol.version());
    }
    RpcMethod method = protocol.methods().get(header.getMethodName());
    if (method == null) {
      throw new RpcNoSuchMethodException(
          "Unknown method %s called on protocol %s".formatted(header.getMethodName(), name));
    }
    return method;
  }

  /** A part of an array as the key of a map. */
  private record Bytes(byte[] array, int offset, int length) {
    private static final int HASHED = 16;

    @Override
    public int hashCode() {
      int hash = length;
      // The name of the method is at the beginning.
      for (int i = offset; i < offset + Math.min(length, HASHED); i++) {
        hash = 31 * hash + array[i];
      }
      return hash;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Bytes that
          && Arrays.equals(
              array, offset, offset + length, that.array, that.offset, that.offset + that.length);
    }
  }
}
