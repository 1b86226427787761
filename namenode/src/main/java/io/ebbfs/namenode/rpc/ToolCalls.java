package io.ebbfs.namenode.rpc;

import io.ebbfs.namenode.rpc.server.RemoteUser;
import io.ebbfs.namenode.rpc.server.RpcProtocols;
import io.ebbfs.namenode.rpc.server.RpcProtocols.Traits;
import java.util.Collection;
import java.util.List;
import org.apache.hadoop.conf.ReconfigurationTaskStatus;
import org.apache.hadoop.hdfs.protocol.ReconfigurationProtocol;
import org.apache.hadoop.hdfs.protocol.proto.ReconfigurationProtocolProtos.ReconfigurationProtocolService;
import org.apache.hadoop.hdfs.protocolPB.ReconfigurationProtocolPB;
import org.apache.hadoop.hdfs.protocolPB.ReconfigurationProtocolServerSideTranslatorPB;
import org.apache.hadoop.ipc.GenericRefreshProtocol;
import org.apache.hadoop.ipc.RefreshCallQueueProtocol;
import org.apache.hadoop.ipc.RefreshResponse;
import org.apache.hadoop.ipc.proto.GenericRefreshProtocolProtos.GenericRefreshProtocolService;
import org.apache.hadoop.ipc.proto.RefreshCallQueueProtocolProtos.RefreshCallQueueProtocolService;
import org.apache.hadoop.ipc.protocolPB.GenericRefreshProtocolPB;
import org.apache.hadoop.ipc.protocolPB.GenericRefreshProtocolServerSideTranslatorPB;
import org.apache.hadoop.ipc.protocolPB.RefreshCallQueueProtocolPB;
import org.apache.hadoop.ipc.protocolPB.RefreshCallQueueProtocolServerSideTranslatorPB;
import org.apache.hadoop.security.Groups;
import org.apache.hadoop.security.RefreshUserMappingsProtocol;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.authorize.AuthorizationException;
import org.apache.hadoop.security.authorize.RefreshAuthorizationPolicyProtocol;
import org.apache.hadoop.security.proto.RefreshAuthorizationPolicyProtocolProtos.RefreshAuthorizationPolicyProtocolService;
import org.apache.hadoop.security.proto.RefreshUserMappingsProtocolProtos.RefreshUserMappingsProtocolService;
import org.apache.hadoop.security.protocolPB.RefreshAuthorizationPolicyProtocolPB;
import org.apache.hadoop.security.protocolPB.RefreshAuthorizationPolicyProtocolServerSideTranslatorPB;
import org.apache.hadoop.security.protocolPB.RefreshUserMappingsProtocolPB;
import org.apache.hadoop.security.protocolPB.RefreshUserMappingsProtocolServerSideTranslatorPB;
import org.apache.hadoop.tools.GetUserMappingsProtocol;
import org.apache.hadoop.tools.proto.GetUserMappingsProtocolProtos.GetUserMappingsProtocolService;
import org.apache.hadoop.tools.protocolPB.GetUserMappingsProtocolPB;
import org.apache.hadoop.tools.protocolPB.GetUserMappingsProtocolServerSideTranslatorPB;

/**
 * The small protocols of HDFS's tools: {@code hdfs groups}, and the options {@code -refresh...} and
 * {@code -reconfig} of {@code hdfs dfsadmin}. They concern the process that is asked, so every
 * namenode answers them, whether it leads or not. As in HDFS, every user may call them.
 * Thread-safe.
 */
final class ToolCalls
    implements GetUserMappingsProtocol,
        RefreshUserMappingsProtocol,
        RefreshAuthorizationPolicyProtocol,
        RefreshCallQueueProtocol,
        GenericRefreshProtocol,
        ReconfigurationProtocol {
  private ToolCalls() {}

  static void addTo(RpcProtocols protocols) {
    ToolCalls calls = new ToolCalls();
    protocols.add(
        GetUserMappingsProtocolPB.class,
        GetUserMappingsProtocolService.newReflectiveBlockingService(
            new GetUserMappingsProtocolServerSideTranslatorPB(calls)),
        Traits.NONE);
    protocols.add(
        RefreshUserMappingsProtocolPB.class,
        RefreshUserMappingsProtocolService.newReflectiveBlockingService(
            new RefreshUserMappingsProtocolServerSideTranslatorPB(calls)),
        Traits.NONE);
    protocols.add(
        RefreshAuthorizationPolicyProtocolPB.class,
        RefreshAuthorizationPolicyProtocolService.newReflectiveBlockingService(
            new RefreshAuthorizationPolicyProtocolServerSideTranslatorPB(calls)),
        Traits.NONE);
    protocols.add(
        RefreshCallQueueProtocolPB.class,
        RefreshCallQueueProtocolService.newReflectiveBlockingService(
            new RefreshCallQueueProtocolServerSideTranslatorPB(calls)),
        Traits.NONE);
    protocols.add(
        GenericRefreshProtocolPB.class,
        GenericRefreshProtocolService.newReflectiveBlockingService(
            new GenericRefreshProtocolServerSideTranslatorPB(calls)),
        Traits.NONE);
    protocols.add(
        ReconfigurationProtocolPB.class,
        ReconfigurationProtocolService.newReflectiveBlockingService(
            new ReconfigurationProtocolServerSideTranslatorPB(calls)),
        Traits.NONE);
  }

  /** The groups of a user on this machine, which decide on permissions. */
  @Override
  public String[] getGroupsForUser(String user) {
    return UserGroupInformation.createRemoteUser(user).getGroupNames();
  }

  @Override
  public void refreshUserToGroupsMappings() {
    Groups.getUserToGroupsMappingService().refresh();
    RemoteUser.forgetGroups();
  }

  /** Looks up anew who may act as others; {@code proxyUsers} is read at the start only. */
  @Override
  public void refreshSuperUserGroupsConfiguration() {
    ProxyUserSettings.refresh();
  }

  /** EbbFS has no lists of who may call a protocol, as HDFS without service authorization. */
  @Override
  public void refreshServiceAcl() throws AuthorizationException {
    throw new AuthorizationException("Service Level Authorization not enabled!");
  }

  /** The queue of calls has nothing that a configuration changes: there is nothing to do. */
  @Override
  public void refreshCallQueue() {}

  /** Nothing has registered under any name. */
  @Override
  public Collection<RefreshResponse> refresh(String identifier, String[] arguments) {
    throw new IllegalArgumentException(
        "nothing of a namenode is refreshed by the name '%s': change the configuration and restart the process"
            .formatted(identifier));
  }

  private static UnsupportedOperationException notWhileItRuns(String call) {
    return new UnsupportedOperationException(
        "EbbFS does not support the call "
            + call
            + " of ReconfigurationProtocol: a namenode reads its configuration when it starts:"
            + " change namenode.yaml and restart the process");
  }

  @Override
  public void startReconfiguration() {
    throw notWhileItRuns("startReconfiguration");
  }

  @Override
  public ReconfigurationTaskStatus getReconfigurationStatus() {
    throw notWhileItRuns("getReconfigurationStatus");
  }

  @Override
  public List<String> listReconfigurableProperties() {
    throw notWhileItRuns("listReconfigurableProperties");
  }
}
