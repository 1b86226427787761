package io.ebbfs.namenode.rpc;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.RpcSettings;
import io.ebbfs.protocol.rpc.ServiceKey;
import org.apache.hadoop.ipc.StandbyException;
import org.junit.jupiter.api.Test;

/** What services of the cluster see at a standby's port. */
class StandbyCallsTest {
  @Test
  void aServiceLearnsThatAnotherNamenodeServes() throws Exception {
    try (RpcEndpoint endpoint = new RpcEndpoint(2, RpcEndpoint.newRetryAnswers())) {
      StandbyCalls.addTo(endpoint, () -> "nn2:8020");
      endpoint.start("127.0.0.1", 0);
      try (NamenodeClient client =
          new NamenodeClient(endpoint.address(), RpcSettings.tryOnce(60_000), ServiceKey.NONE)) {
        assertThatThrownBy(client::cluster)
            .isInstanceOf(StandbyException.class)
            .hasMessageContaining("the leader is nn2:8020");
      }
    }
  }
}
