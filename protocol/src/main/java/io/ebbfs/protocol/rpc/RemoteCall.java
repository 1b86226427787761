package io.ebbfs.protocol.rpc;

import java.io.IOException;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** One call of a protocol, whose failure comes wrapped into a ServiceException. */
@FunctionalInterface
public interface RemoteCall<T> {
  T run() throws ServiceException;

  /**
   * Runs a call.
   *
   * @throws IOException with the {@link #cause} of a failure
   */
  static <T> T answerOf(RemoteCall<T> call) throws IOException {
    try {
      return call.run();
    } catch (ServiceException e) {
      throw cause(e);
    }
  }

  /** Why a call failed: the exception that the server threw, or that of the connection. */
  static IOException cause(ServiceException e) {
    if (e.getCause() instanceof RemoteException remote) {
      return remote.unwrapRemoteException();
    }
    return e.getCause() instanceof IOException io ? io : new IOException(e);
  }
}
