package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.rpc.server.CurrentCall;
import java.io.IOException;
import org.apache.hadoop.security.UserGroupInformation;

/** The caller of the call that this thread handles. Thread-safe. */
final class CallContext {
  private final Caller.Superuser superuser;

  CallContext(Caller.Superuser superuser) {
    this.superuser = superuser;
  }

  /** The user of the connection; for a call from within this process, the user of the process. */
  Caller caller() throws IOException {
    CurrentCall call = CurrentCall.get();
    if (call != null) {
      return new Caller(call.user().name(), call.user()::groups, superuser);
    }
    UserGroupInformation user = UserGroupInformation.getCurrentUser();
    return new Caller(user.getShortUserName(), user::getGroupsSet, superuser);
  }

  /** The address of the client, as HDFS names its machine. */
  String clientMachine() {
    CurrentCall call = CurrentCall.get();
    return call == null ? "" : call.address().getHostAddress();
  }
}
