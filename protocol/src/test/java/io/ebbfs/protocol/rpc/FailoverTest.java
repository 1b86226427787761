package io.ebbfs.protocol.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.ClaimRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.CodingProtocolService;
import io.ebbfs.protocol.proto.CodingProtos.ListTransitionsRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListTransitionsResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.StandbyException;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls of CodingProtocol at one of several namenodes, over sockets. */
@Timeout(120)
class FailoverTest {
  private static final ListTransitionsRequestProto LIST =
      ListTransitionsRequestProto.newBuilder().setLimit(1).build();
  private static final ClaimRequestProto CLAIM =
      ClaimRequestProto.newBuilder()
          .setWorker("w")
          .setLimit(1)
          .setLeaseMillis(1)
          .addKinds(TransitionKindProto.REPAIR)
          .build();

  private final FakeNamenode first = new FakeNamenode();
  private final FakeNamenode second = new FakeNamenode();
  private final List<CodingProtocol> clients = new ArrayList<>();

  FailoverTest() throws IOException {}

  /** Answers every call, refuses it as a standby, or keeps it. */
  private static final class FakeNamenode implements AutoCloseable {
    private final AtomicInteger claims = new AtomicInteger();
    private final AtomicInteger lists = new AtomicInteger();
    private final AtomicInteger refusals = new AtomicInteger();
    private final CountDownLatch awake = new CountDownLatch(1);
    private final RPC.Server server;
    private volatile boolean standby;
    private volatile boolean frozen;
    private volatile IOException refusal;

    FakeNamenode() throws IOException {
      Configuration conf = new Configuration(false);
      RPC.setProtocolEngine(conf, CodingProtocol.class, ProtobufRpcEngine2.class);
      CodingProtocol answers =
          (CodingProtocol)
              Proxy.newProxyInstance(
                  getClass().getClassLoader(),
                  new Class<?>[] {CodingProtocol.class},
                  (proxy, method, arguments) -> answer(method.getName()));
      server =
          new RPC.Builder(conf)
              .setProtocol(CodingProtocol.class)
              .setInstance(CodingProtocolService.newReflectiveBlockingService(answers))
              .setBindAddress("127.0.0.1")
              .setPort(0)
              .setNumHandlers(8)
              .build();
      server.start();
    }

    private Object answer(String method) throws ServiceException, InterruptedException {
      if (frozen) {
        awake.await();
      }
      if (standby) {
        refusals.incrementAndGet();
        throw new ServiceException(new StandbyException("another namenode serves"));
      }
      if (method.equals("claim")) {
        claims.incrementAndGet();
        return ClaimResponseProto.getDefaultInstance();
      }
      lists.incrementAndGet();
      if (refusal != null) {
        throw new ServiceException(refusal);
      }
      return ListTransitionsResponseProto.getDefaultInstance();
    }

    void awaitRefusals(int number) {
      while (refusals.get() < number) {
        LockSupport.parkNanos(1_000_000);
      }
    }

    InetSocketAddress address() {
      return new InetSocketAddress("127.0.0.1", server.getListenerAddress().getPort());
    }

    @Override
    public void close() {
      awake.countDown();
      server.stop();
    }
  }

  @AfterEach
  void stop() {
    clients.forEach(RpcProxies::stop);
    first.close();
    second.close();
  }

  private CodingProtocol client(long silenceMillis, long searchMillis) throws IOException {
    CodingProtocol client =
        RpcProxies.coding(
            new NamenodeAddresses(List.of(first.address(), second.address())),
            RpcSettings.tryOnce(60_000).withConnectTimeout(5_000),
            ServiceKey.NONE,
            new FailoverCalls.Patience(silenceMillis, searchMillis));
    clients.add(client);
    return client;
  }

  @Test
  void goesToTheNamenodeThatServesAndStaysThere() throws Exception {
    first.standby = true;
    CodingProtocol client = client(5_000, 60_000);
    // A standby has not executed the call, so that any call may be repeated.
    client.claim(null, CLAIM);
    client.listTransitions(null, LIST);
    assertThat(second.claims).hasValue(1);
    assertThat(first.claims).hasValue(0);
    first.standby = false;
    second.standby = true;
    client.claim(null, CLAIM);
    assertThat(first.claims).hasValue(1);
  }

  @Test
  void waitsUntilOneServes() throws Exception {
    first.standby = true;
    second.standby = true;
    CodingProtocol client = client(5_000, 60_000);
    Thread later =
        new Thread(
            () -> {
              second.awaitRefusals(2);
              second.standby = false;
            });
    later.start();
    client.claim(null, CLAIM);
    later.join();
    assertThat(second.claims).hasValue(1);
  }

  @Test
  void aNamenodeThatDiedIsLeft() throws Exception {
    CodingProtocol client = client(5_000, 60_000);
    client.listTransitions(null, LIST);
    first.close();
    client.listTransitions(null, LIST);
    client.claim(null, CLAIM);
    assertThat(second.claims).hasValue(1);
  }

  @Test
  void aFrozenNamenodeIsLeftOnceAnotherServes() throws Exception {
    first.frozen = true;
    CodingProtocol client = client(200, 60_000);
    client.listTransitions(null, LIST);
    assertThat(second.lists).hasValueGreaterThan(0);
    client.claim(null, CLAIM);
    assertThat(second.claims).hasValue(1);
  }

  @Test
  void aCallThatMayHaveBeenExecutedIsNotRepeated() throws Exception {
    first.frozen = true;
    CodingProtocol client = client(200, 60_000);
    assertThatThrownBy(() -> client.claim(null, CLAIM))
        .isInstanceOf(ServiceException.class)
        .cause()
        .hasMessageContaining("has not answered claim");
    assertThat(second.claims).hasValue(0);
    client.claim(null, CLAIM);
    assertThat(second.claims).hasValue(1);
  }

  @Test
  void aSlowNamenodeIsAwaitedWhileNoOtherServes() throws Exception {
    first.frozen = true;
    second.standby = true;
    CodingProtocol client = client(50, 60_000);
    Thread call =
        new Thread(
            () -> {
              try {
                client.claim(null, CLAIM);
              } catch (ServiceException e) {
                throw new IllegalStateException(e);
              }
            });
    call.start();
    second.awaitRefusals(3);
    assertThat(call.isAlive()).isTrue();
    first.awake.countDown();
    call.join();
    assertThat(first.claims).hasValue(1);
  }

  @Test
  void theAnswerOfTheNamenodeThatServesIsTheAnswer() throws Exception {
    first.refusal = new FileNotFoundException("no such transition");
    CodingProtocol client = client(5_000, 60_000);
    assertThatThrownBy(() -> RemoteCall.answerOf(() -> client.listTransitions(null, LIST)))
        .isInstanceOf(FileNotFoundException.class);
    assertThat(first.lists).hasValue(1);
    assertThat(second.lists).hasValue(0);
  }

  @Test
  void givesUpIfNoneServesInTime() throws Exception {
    first.standby = true;
    second.standby = true;
    CodingProtocol client = client(5_000, 300);
    assertThatThrownBy(() -> RemoteCall.answerOf(() -> client.listTransitions(null, LIST)))
        .isInstanceOf(StandbyException.class);
  }

  @Test
  void addressesAreWrittenAsTheyAreRead() {
    String text = "127.0.0.1:8020,127.0.0.2:8021";
    assertThat(NamenodeAddresses.parse(text)).hasToString(text);
    assertThat(NamenodeAddresses.parse(text).all()).hasSize(2);
    assertThatThrownBy(() -> new NamenodeAddresses(Stream.<InetSocketAddress>empty().toList()))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
