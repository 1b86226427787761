package io.ebbfs.testbed.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.testbed.ClusterException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class PortsTest {
  @Test
  void fixedPortsFollowTheNamenodes() throws Exception {
    Ports ports = Ports.fixed(8020, null, 12);
    assertThat(ports.kafka()).isEqualTo(8021);
    assertThat(ports.http()).isEqualTo(8023);
    assertThat(ports.transfer().get(11)).isEqualTo(8142);
    assertThat(ports.ipc().get(11)).isEqualTo(8143);
    assertThat(ports.all()).hasSize(5 + 24);
    assertThat(ports.web()).containsExactly(8050);
    assertThat(ports.withWebHdfs().webHdfs()).isEqualTo(8024);
    assertThat(ports.withWebHdfs().all()).hasSize(6 + 24);
  }

  @Test
  void freePortsAreFreeAndDistinct() throws Exception {
    Ports ports = Ports.free(null, 64);
    assertThat(ports.all()).hasSize(5 + 128);
    assertThat(Ports.free(null, 4).withWebHdfs().all()).as("no port twice").hasSize(6 + 8);
    ports.checkFree();
  }

  @Test
  void portsThatWereFoundAreNotGivenAgainSoonAndNotToOtherProcesses() throws Exception {
    List<Integer> ports = new ArrayList<>(FreePorts.find(150));
    ports.addAll(FreePorts.find(150));
    for (int port : FreePorts.findTriples(50)) {
      ports.addAll(List.of(port, port + 1, port + 2));
    }
    assertThat(ports).doesNotHaveDuplicates();
    assertThat(ports)
        .as("this process listens at the first port of each slot")
        .noneMatch(port -> FreePorts.isFree(port / 200 * 200));
  }

  @Test
  void aPortInUseIsNamedWithTheRemedy() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Ports ports = Ports.free(taken.getLocalPort(), 2);
      assertThatThrownBy(ports::checkFree)
          .isInstanceOf(ClusterException.class)
          .hasMessageContaining("port " + taken.getLocalPort() + " (http) is in use")
          .hasMessageContaining("--http-port");
    }
  }

  @Test
  void portsBeyondTheRangeAreRefused() {
    assertThatThrownBy(() -> Ports.fixed(65_500, null, 12))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("choose one from 1 to 65412");
  }
}
