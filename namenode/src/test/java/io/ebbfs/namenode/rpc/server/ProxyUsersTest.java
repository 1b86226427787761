package io.ebbfs.namenode.rpc.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.Await;
import io.ebbfs.namenode.rpc.server.WireClient.Answer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeys;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcResponseHeaderProto.RpcErrorCodeProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcResponseHeaderProto.RpcStatusProto;
import org.apache.hadoop.security.GroupMappingServiceProvider;
import org.apache.hadoop.security.Groups;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.authorize.AuthorizationException;
import org.apache.hadoop.security.authorize.ProxyUsers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Users who act as other users, with a group service that takes long. */
@Timeout(120)
class ProxyUsersTest {
  private static final Semaphore GROUPS_PERMITS = new Semaphore(0);
  private static final AtomicInteger GROUPS_ASKED = new AtomicInteger();

  /** Asks nobody: who is named a member is one. Hadoop makes the object. */
  public static final class SlowGroups implements GroupMappingServiceProvider {
    @Override
    public List<String> getGroups(String user) throws IOException {
      return List.copyOf(getGroupsSet(user));
    }

    @Override
    public Set<String> getGroupsSet(String user) throws IOException {
      GROUPS_ASKED.incrementAndGet();
      GROUPS_PERMITS.acquireUninterruptibly();
      return user.startsWith("member") ? Set.of("staff") : Set.of("others");
    }

    @Override
    public void cacheGroupsRefresh() {}

    @Override
    public void cacheGroupsAdd(List<String> groups) {}
  }

  private final int held = 2 * Runtime.getRuntime().availableProcessors();
  private ServerFixture server;

  @BeforeEach
  void start() throws IOException {
    Configuration conf = new Configuration();
    conf.setClass(
        CommonConfigurationKeys.HADOOP_SECURITY_GROUP_MAPPING,
        SlowGroups.class,
        GroupMappingServiceProvider.class);
    conf.set("hadoop.proxyuser.boss.groups", "staff");
    conf.set("hadoop.proxyuser.boss.hosts", "*");
    useGroupsOf(conf);
    GROUPS_ASKED.set(0);
    GROUPS_PERMITS.drainPermits();
    server = ServerFixture.start(held, ServerLimits.DEFAULT, path -> path.getBytes(UTF_8));
  }

  @AfterEach
  void stop() throws InterruptedException {
    GROUPS_PERMITS.release(1_000);
    server.close();
    useGroupsOf(new Configuration());
  }

  private static void useGroupsOf(Configuration conf) {
    Groups.getUserToGroupsMappingServiceWithLoadedConfiguration(conf);
    UserGroupInformation.setConfiguration(conf);
    ProxyUsers.refreshSuperUserGroupsConfiguration(conf);
  }

  private WireClient connect(String user) throws IOException {
    return new WireClient(server.address())
        .send(WireClient.PREAMBLE)
        .send(WireClient.context(user, "boss"))
        .send(WireClient.call(1, "getFileInfo", "/as-" + user));
  }

  @Test
  void aSlowGroupServiceHoldsNoEventLoop() throws Exception {
    List<WireClient> waiting = new ArrayList<>();
    for (int i = 0; i < held; i++) {
      waiting.add(connect("member-" + i));
    }
    Await.until("all groups are asked for", () -> GROUPS_ASKED.get() == held);
    for (int i = 0; i < held; i++) {
      try (WireClient other = server.connect()) {
        assertThat(other.send(WireClient.call(2, "getFileInfo", "/x")).read().result())
            .asString(UTF_8)
            .isEqualTo("/x");
      }
    }
    GROUPS_PERMITS.release(held);
    for (int i = 0; i < held; i++) {
      try (WireClient client = waiting.get(i)) {
        assertThat(client.read().result()).asString(UTF_8).isEqualTo("/as-member-" + i);
      }
    }
  }

  @Test
  void whoMayNotActAsAnotherLearnsIt() throws Exception {
    GROUPS_PERMITS.release(1_000);
    try (WireClient client = connect("stranger")) {
      Answer answer = client.read();
      assertThat(answer.header().getStatus()).isEqualTo(RpcStatusProto.FATAL);
      assertThat(answer.header().getErrorDetail()).isEqualTo(RpcErrorCodeProto.FATAL_UNAUTHORIZED);
      assertThat(answer.header().getExceptionClassName())
          .isEqualTo(AuthorizationException.class.getName());
      assertThat(answer.header().getErrorMsg())
          .isEqualTo("User: boss is not allowed to impersonate stranger");
      assertThat(client.isClosedByServer()).isTrue();
    }
  }

  @Test
  void whoLeavesDuringTheCheckHarmsNobody() throws Exception {
    connect("member-who-leaves").close();
    Await.until("the groups are asked for", () -> GROUPS_ASKED.get() == 1);
    GROUPS_PERMITS.release(1_000);
    try (WireClient client = connect("member-who-stays")) {
      assertThat(client.read().result()).asString(UTF_8).isEqualTo("/as-member-who-stays");
    }
    Await.until("the connections are closed", () -> server.connections() == 0);
  }
}
