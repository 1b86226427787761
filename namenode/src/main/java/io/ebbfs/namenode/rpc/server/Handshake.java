package io.ebbfs.namenode.rpc.server;

import java.io.IOException;
import java.net.InetAddress;
import org.apache.hadoop.ipc.protobuf.IpcConnectionContextProtos.IpcConnectionContextProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcSaslProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcSaslProto.SaslState;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.authorize.AuthorizationException;
import org.apache.hadoop.security.authorize.ProxyUsers;
import org.apache.hadoop.thirdparty.protobuf.CodedInputStream;
import org.apache.hadoop.thirdparty.protobuf.Parser;
import org.apache.hadoop.util.ProtoUtil;

/**
 * What a connection says about itself in frames without a call: its user, after a negotiation if
 * the client wants one. Authentication is SIMPLE: the client's word for its user is taken. Used by
 * one thread at a time.
 */
final class Handshake {
  private static final int CONTEXT = -3;
  private static final int PING = -4;
  private static final int SASL = -33;

  private final InetAddress peer;
  private boolean negotiating;
  private UserGroupInformation proxied;
  private CurrentCall caller;

  Handshake(InetAddress peer) {
    this.peer = peer;
  }

  /**
   * @param sasl whether the client wants to negotiate first
   */
  void begin(boolean sasl) {
    negotiating = sasl;
  }

  /**
   * Who calls.
   *
   * @throws FatalCallException if the connection has not said it yet
   */
  CurrentCall caller(int callId) throws FatalCallException {
    if (caller == null) {
      throw FatalCallException.badHeader(callId, "a call comes before the connection context");
    }
    return caller;
  }

  /**
   * Takes a frame that is no call.
   *
   * @return the answer; null if the frame has none
   */
  byte[] accept(RequestHeader header, CodedInputStream in) throws FatalCallException {
    switch (header.callId()) {
      case PING -> {}
      case CONTEXT -> acceptContext(message(in, IpcConnectionContextProto.parser()));
      case SASL -> {
        return negotiate(header, message(in, RpcSaslProto.parser()));
      }
      default ->
          throw FatalCallException.badHeader(
              header.callId(), "call id %d has no meaning".formatted(header.callId()));
    }
    return null;
  }

  private static <M> M message(CodedInputStream in, Parser<M> parser) throws FatalCallException {
    try {
      return parser.parseFrom(in.readByteArray());
    } catch (IOException e) {
      throw FatalCallException.unreadable("the frame is unreadable: " + e.getMessage());
    }
  }

  private void acceptContext(IpcConnectionContextProto context) throws FatalCallException {
    if (negotiating || caller != null || proxied != null) {
      throw FatalCallException.badHeader(
          CONTEXT,
          negotiating
              ? "the connection context comes before the end of the negotiation"
              : "the connection context comes twice");
    }
    try {
      UserGroupInformation user = ProtoUtil.getUgi(context);
      if (user == null) {
        throw unauthorized("the connection context names no user");
      }
      if (user.getRealUser() == null) {
        caller = new CurrentCall(new RemoteUser(user), peer, null);
      } else {
        proxied = user;
      }
    } catch (IllegalArgumentException e) {
      throw unauthorized(e.getMessage());
    }
  }

  private static FatalCallException unauthorized(String why) {
    return FatalCallException.unauthorized(CONTEXT, AuthorizationException.class, why);
  }

  /** Whether one user wants to act as another, so that {@link #authorize} must come next. */
  boolean needsAuthorization() {
    return proxied != null && caller == null;
  }

  /**
   * Authorizes a user to act as another. May ask the system for groups, which takes long.
   *
   * @throws FatalCallException if the user may not
   */
  void authorize() throws FatalCallException {
    try {
      ProxyUsers.authorize(proxied, peer);
      caller = new CurrentCall(new RemoteUser(proxied), peer, null);
    } catch (AuthorizationException | IllegalArgumentException e) {
      throw unauthorized(e.getMessage());
    }
  }

  /** To the wish to negotiate, a server that knows SIMPLE only answers success. */
  private byte[] negotiate(RequestHeader header, RpcSaslProto wish) throws FatalCallException {
    if (!negotiating) {
      throw FatalCallException.badHeader(SASL, "the preamble did not ask for SASL");
    }
    if (wish.getState() != SaslState.NEGOTIATE) {
      throw FatalCallException.unauthorized(
          SASL,
          AccessControlException.class,
          "SASL state %s is refused: this server knows SIMPLE authentication only"
              .formatted(wish.getState()));
    }
    negotiating = false;
    return AnswerFrame.success(
        header, RpcSaslProto.newBuilder().setState(SaslState.SUCCESS).build().toByteArray());
  }
}
