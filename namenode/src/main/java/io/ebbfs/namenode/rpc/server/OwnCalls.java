package io.ebbfs.namenode.rpc.server;

import java.io.IOException;
import java.net.InetAddress;
import java.util.Map;

/**
 * Calls that this process makes of its own protocol, without the network. The handlers of clients
 * answer them, so that they are audited, counted and refused as calls of clients are. They run on
 * the thread of the caller, and their changes are on the disk when they return. Thread-safe.
 */
public final class OwnCalls {
  private final Map<String, RpcMethod> methods;
  private final CurrentCall caller;

  OwnCalls(Map<String, RpcMethod> methods, String user) {
    this.methods = Map.copyOf(methods);
    this.caller = new CurrentCall(RemoteUser.named(user), InetAddress.getLoopbackAddress(), null);
  }

  /**
   * Calls a method whose answer depends on no later event.
   *
   * @param request the bytes of its request
   * @return the bytes of the answer
   * @throws IOException as a client gets it
   */
  public byte[] run(String method, byte[] request) throws IOException {
    CurrentCall.set(caller);
    try {
      return methods.get(method).handler().answer(request, 0, request.length);
    } finally {
      CurrentCall.clear();
    }
  }
}
