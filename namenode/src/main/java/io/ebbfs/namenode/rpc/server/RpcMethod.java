package io.ebbfs.namenode.rpc.server;

/**
 * A method of a protocol.
 *
 * @param once whether a call that arrives twice must take effect once
 * @param quick whether calls mostly need neither wait nor compute long, so that an event loop may
 *     run them
 */
public record RpcMethod(String name, boolean once, boolean quick, MethodHandler handler) {}
