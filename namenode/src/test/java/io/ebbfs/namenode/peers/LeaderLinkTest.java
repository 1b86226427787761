package io.ebbfs.namenode.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.leader.Leadership.Leader;
import io.ebbfs.protocol.proto.PeerProtos.ForwardedCallProto;
import io.ebbfs.protocol.rpc.ServiceKey;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.ipc.RetriableException;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class LeaderLinkTest {
  private static final ForwardedCallProto CALL =
      ForwardedCallProto.newBuilder()
          .setMethod("getFsStats")
          .setRequest(ByteString.EMPTY)
          .setUser("somebody")
          .setAddress(ByteString.copyFrom(new byte[] {127, 0, 0, 1}))
          .build();

  private static Leader nobody() throws IOException {
    try (ServerSocket closed = new ServerSocket(0)) {
      return new Leader("127.0.0.1:" + closed.getLocalPort(), 1);
    }
  }

  private static LeaderLink link(Optional<Leader> leader, long patienceMillis) {
    return new LeaderLink(() -> leader, ended -> {}, ServiceKey.NONE, patienceMillis);
  }

  private static void assertRefused(CompletableFuture<byte[]> answer) {
    assertThatThrownBy(() -> answer.get(10, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(RetriableException.class);
  }

  @Test
  void callsThatWaitForALeaderAreAnsweredWhenTheLinkIsClosed() throws Exception {
    for (Optional<Leader> leader : List.of(Optional.<Leader>empty(), Optional.of(nobody()))) {
      CompletableFuture<byte[]> answer;
      try (LeaderLink link = link(leader, 60_000)) {
        answer = link.forward(CALL);
        Thread.sleep(200);
        assertThat(answer).isNotDone();
      }
      assertRefused(answer);
    }
  }

  @Test
  void aCallDoesNotWaitForEver() throws Exception {
    try (LeaderLink link = link(Optional.of(nobody()), 300)) {
      assertRefused(link.forward(CALL));
    }
  }

  @Test
  void aClosedLinkRefusesCalls() {
    LeaderLink link = link(Optional.empty(), 60_000);
    link.close();
    assertRefused(link.forward(CALL));
  }
}
