package io.ebbfs.namenode.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.leader.Leadership.Leader;
import io.ebbfs.namenode.rpc.RpcEndpoint;
import io.ebbfs.protocol.proto.PeerProtos.ClusterViewProto;
import io.ebbfs.protocol.proto.PeerProtos.ForwardedCallProto;
import io.ebbfs.protocol.rpc.PeerClient;
import io.ebbfs.protocol.rpc.RpcSettings;
import io.ebbfs.protocol.rpc.ServiceKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.protocol.proto.AclProtos.FsPermissionProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.GetFsStatusRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.MkdirsRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.SaveNamespaceRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.SaveNamespaceResponseProto;
import org.apache.hadoop.ipc.RetriableException;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.Message;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A leader that is slow, and a namenode whose patience with it ends. */
@Timeout(60)
class GivenUpCallsTest {
  private static final int CALL_TIMEOUT_MILLIS = 500;

  private final List<String> made = new CopyOnWriteArrayList<>();
  private final CountDownLatch busy = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private RpcEndpoint leader;
  private PeerClient direct;
  private LeaderLink link;

  @BeforeEach
  void start() throws Exception {
    leader = new RpcEndpoint(1, RpcEndpoint.newRetryAnswers());
    leader.addClients(
        (ClientProtocol)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {ClientProtocol.class},
                (proxy, method, arguments) -> answer(method, arguments)));
    leader.addPeers(
        writers -> ClusterViewProto.newBuilder().setAwaitsServers(false).build(), ServiceKey.NONE);
    leader.start("127.0.0.1", 0);
    direct = new PeerClient(leader.address(), RpcSettings.tryOnce(60_000), ServiceKey.NONE);
    Leader known = new Leader("127.0.0.1:" + leader.address().getPort(), 1);
    link =
        new LeaderLink(
            () -> Optional.of(known), ended -> {}, ServiceKey.NONE, 400, CALL_TIMEOUT_MILLIS);
  }

  @AfterEach
  void stop() throws Exception {
    goOn.countDown();
    link.close();
    direct.close();
    leader.close();
  }

  private Object answer(Method method, Object[] arguments) throws InterruptedException {
    switch (method.getName()) {
      case "mkdirs" -> made.add((String) arguments[0]);
      case "getStats" -> {
        busy.countDown();
        goOn.await();
        return new long[8];
      }
      case "saveNamespace" -> {
        made.add("backup");
        Thread.sleep(4 * CALL_TIMEOUT_MILLIS);
      }
      default -> throw new UnsupportedOperationException(method.getName());
    }
    return true;
  }

  private static ForwardedCallProto call(String method, Message request) {
    return ForwardedCallProto.newBuilder()
        .setMethod(method)
        .setRequest(ByteString.copyFrom(request.toByteArray()))
        .setUser("somebody")
        .setAddress(ByteString.copyFrom(new byte[] {127, 0, 0, 1}))
        .build();
  }

  private static ForwardedCallProto mkdirs(String path) {
    return call(
        "mkdirs",
        MkdirsRequestProto.newBuilder()
            .setSrc(path)
            .setMasked(FsPermissionProto.newBuilder().setPerm(0755))
            .setCreateParent(true)
            .build());
  }

  @Test
  void aBackupIsWaitedForAndTakenOnce() throws Exception {
    byte[] answer =
        link.forward(call("saveNamespace", SaveNamespaceRequestProto.getDefaultInstance()))
            .get(30, TimeUnit.SECONDS);
    assertThat(SaveNamespaceResponseProto.parseFrom(answer).getSaved()).isTrue();
    assertThat(made).containsExactly("backup");
  }

  /** Afterwards the connection is there, and the link knows the leader's clock. */
  private void awaitFirstCall() throws Exception {
    while (true) {
      try {
        link.forward(mkdirs("/first")).get(30, TimeUnit.SECONDS);
        return;
      } catch (ExecutionException e) {
        assertThat(e).hasCauseInstanceOf(RetriableException.class);
      }
    }
  }

  @Test
  void aCallIsNotRunAfterItsClientWasToldToRepeatIt() throws Exception {
    awaitFirstCall();
    CompletableFuture<Boolean> stats =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return direct
                    .forward(call("getFsStats", GetFsStatusRequestProto.getDefaultInstance()))
                    .hasResult();
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    busy.await();
    assertThatThrownBy(() -> link.forward(mkdirs("/late")).get(30, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(RetriableException.class);
    goOn.countDown();
    assertThat(stats.get(30, TimeUnit.SECONDS)).isTrue();
    // The leader runs one call at a time, in their order.
    assertThat(direct.forward(mkdirs("/after")).hasResult()).isTrue();
    assertThat(made).contains("/first", "/after").doesNotContain("/late");
  }
}
