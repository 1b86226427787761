package io.ebbfs.namenode.rpc.server;

/**
 * A method of a protocol.
 *
 * @param once whether a call that arrives twice must take effect once
 */
public record RpcMethod(String name, boolean once, MethodHandler handler) {}
