package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A repair waits for servers that may come back, unless the next failure would lose the stripe. */
final class RepairDelayTest {
  private static final long DELAY_MILLIS = 60_000;
  private static final int BLOCK = 64;

  private final Map<String, Long> deaths = new HashMap<>();
  private CodingCluster cluster;

  /** A cluster with one stripe of RS(6,3). */
  private void encoded(int servers) throws Exception {
    cluster =
        new CodingCluster(
            servers, 6, 20_261_123L, CodingCluster.SETTINGS.withRepairDelay(DELAY_MILLIS));
    cluster.servers.lostSince = disk -> deaths.getOrDefault(cluster.servers.serverOf(disk), 0L);
    long file = cluster.createFile(6, BLOCK, true);
    cluster.propose(TransitionKindProto.ENCODE, Codes.RS_FAST, List.of(file), List.of());
    cluster.runAll();
    assertThat(cluster.stripeIds()).hasSize(1);
  }

  private void kill(String server) {
    deaths.put(server, cluster.now());
    cluster.servers.kill(server);
  }

  /** The servers of the data blocks. */
  private List<String> holders() throws Exception {
    List<String> holders = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      holders.add(cluster.servers.serverOf(cluster.live(cluster.fileIds().get(0), i).get(0)));
    }
    return holders;
  }

  private List<TransitionKindProto> active() throws Exception {
    cluster.coding.tick();
    return cluster.active().stream().map(TransitionRow::getKind).toList();
  }

  @Test
  void aRepairWaits() throws Exception {
    encoded(14);
    kill(holders().get(0));
    assertThat(active()).isEmpty();
    assertThat(cluster.cluster().getStripesByLossList()).containsExactly(1L);
    cluster.advance(DELAY_MILLIS - 1);
    assertThat(active()).isEmpty();
    cluster.advance(2);
    assertThat(active()).containsExactly(TransitionKindProto.REPAIR);
  }

  @Test
  void aServerThatComesBackNeedsNoRepair() throws Exception {
    encoded(14);
    String server = holders().get(0);
    kill(server);
    assertThat(active()).isEmpty();
    cluster.servers.revive(server);
    cluster.advance(DELAY_MILLIS + 1);
    assertThat(active()).isEmpty();
    assertThat(cluster.counter("transitions.REPAIR.DONE")).isZero();
  }

  @Test
  void aFurtherLossDoesNotProlongTheWait() throws Exception {
    encoded(14);
    List<String> holders = holders();
    kill(holders.get(0));
    assertThat(active()).isEmpty();
    cluster.advance(DELAY_MILLIS - 10);
    kill(holders.get(1));
    assertThat(active()).isEmpty();
    cluster.advance(20);
    assertThat(active()).containsExactly(TransitionKindProto.REPAIR);
  }

  @Test
  void aConversionIsNotInterruptedMeanwhile() throws Exception {
    encoded(14);
    cluster.createFile(6, BLOCK, true);
    cluster.propose(TransitionKindProto.ENCODE, Codes.RS_FAST, cluster.fileIds(), List.of());
    cluster.runAll();
    cluster.propose(TransitionKindProto.UPCODE, Codes.RS_COMPACT, List.of(), cluster.stripeIds());
    List<TransitionKindProto> before = active();
    assertThat(before).isNotEmpty();
    kill(holders().get(0));
    assertThat(active()).isEqualTo(before);
    cluster.advance(DELAY_MILLIS + 1);
    cluster.coding.tick(); // drops the conversion; the next one plans the repair
    assertThat(active()).contains(TransitionKindProto.REPAIR);
  }

  @Test
  void aStripeThatTheNextBlockWouldLoseDoesNotWait() throws Exception {
    encoded(14);
    Set<String> three = Set.copyOf(holders().subList(0, 3));
    assertThat(three).hasSize(3);
    three.forEach(this::kill);
    assertThat(active()).containsExactly(TransitionKindProto.REPAIR);
  }

  @Test
  void nothingIsRepairedForAServerThatHibernatesUntilTheStripeIsAtRisk() throws Exception {
    encoded(14);
    List<String> holders = holders();
    cluster.servers.hibernating.add(holders.get(0));
    kill(holders.get(0));
    cluster.advance(100 * DELAY_MILLIS);
    assertThat(active()).isEmpty();
    cluster.servers.hibernating.add(holders.get(1));
    kill(holders.get(1));
    cluster.advance(100 * DELAY_MILLIS);
    assertThat(active()).isEmpty();
    kill(holders.get(2));
    assertThat(active())
        .as("the next loss would be fatal")
        .containsExactly(TransitionKindProto.REPAIR);
  }

  @Test
  void aRepairBeginsWhenAHibernationIsOver() throws Exception {
    encoded(14);
    String server = holders().get(0);
    cluster.servers.hibernating.add(server);
    kill(server);
    cluster.advance(DELAY_MILLIS + 1);
    assertThat(active()).isEmpty();
    cluster.servers.hibernating.remove(server);
    assertThat(active()).containsExactly(TransitionKindProto.REPAIR);
  }

  /** Servers with two blocks each: the loss of a second one leaves five of nine blocks. */
  @Test
  void aStripeThatTheNextServerWouldLoseDoesNotWait() throws Exception {
    encoded(6);
    cluster.blocks.reportAll();
    List<String> withTwo =
        cluster.servers.servers().stream().filter(server -> blocksOn(server) == 2).toList();
    assertThat(withTwo).hasSizeGreaterThan(1);
    kill(withTwo.get(0));
    assertThat(active()).containsExactly(TransitionKindProto.REPAIR);
    assertThat(cluster.cluster().getStripesByLossList()).containsExactly(0L, 1L);
  }

  private int blocksOn(String server) {
    return cluster.servers.disks().stream()
        .filter(disk -> cluster.servers.serverOf(disk).equals(server))
        .mapToInt(disk -> cluster.servers.on(disk).size())
        .sum();
  }
}
