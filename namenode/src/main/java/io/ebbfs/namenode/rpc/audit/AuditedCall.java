package io.ebbfs.namenode.rpc.audit;

import io.ebbfs.namenode.rpc.server.RemoteUser;
import java.net.InetAddress;

/**
 * A call as it was made; its bytes are read later.
 *
 * @param allowed false if the user lacked a permission
 * @param frame the bytes of the request are {@code length} bytes from {@code offset}
 * @param answer the bytes of the answer, if it holds the owner and the permissions; else null
 */
record AuditedCall(
    long millis,
    String method,
    boolean allowed,
    RemoteUser user,
    InetAddress address,
    byte[] frame,
    int offset,
    int length,
    byte[] answer) {}
