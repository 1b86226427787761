package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.namenode.store.ChangeLog;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.protocol.proto.CodingProtos.BadBlockProto;
import io.ebbfs.protocol.proto.CodingProtos.CountProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ReportScrubRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ScrubFindingProto;
import io.ebbfs.protocol.proto.CodingProtos.ScrubStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ScrubSuspectProto;
import io.ebbfs.protocol.proto.CodingProtos.StoredMemberProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ScrubReportServiceTest {
  private static final int PARITY = 17;

  private CodingCluster cluster;

  @BeforeEach
  void encode() throws Exception {
    cluster = new CodingCluster(12, 6, 1);
    cluster.createFile(10, 1000, true);
    cluster.propose(TransitionKindProto.ENCODE, Codes.PC_FAST, cluster.fileIds(), List.of());
    cluster.runAll();
  }

  private StripeStatusProto stripe() throws Exception {
    return cluster
        .coding
        .listStripes(null, ListStripesRequestProto.newBuilder().setWithLocations(true).build())
        .getStripes(0);
  }

  private static StoredMemberProto parity(StripeStatusProto stripe) {
    return stripe.getStoredList().stream()
        .filter(m -> m.getPosition() == PARITY)
        .findFirst()
        .orElseThrow();
  }

  private static ReportScrubRequestProto report(StripeStatusProto stripe, long generation) {
    StoredMemberProto parity = parity(stripe);
    return ReportScrubRequestProto.newBuilder()
        .addFindings(
            ScrubFindingProto.newBuilder()
                .setStripeId(stripe.getStripe().getId())
                .setGeneration(generation)
                .setBad(
                    BadBlockProto.newBuilder()
                        .setBlock(parity.getBlock().getBlock())
                        .setLocation(parity.getBlock().getLocations(0))
                        .setReason("test")))
        .build();
  }

  @Test
  void stripesAreListedWithTheirPlaces() throws Exception {
    StripeStatusProto stripe = stripe();
    assertThat(stripe.getStoredList()).hasSize(18);
    for (StoredMemberProto member : stripe.getStoredList()) {
      assertThat(member.getBlock().getLocationsCount()).as("%s", member).isEqualTo(1);
      assertThat(
              cluster
                  .servers
                  .on(member.getBlock().getLocations(0).getStorageUuid())
                  .containsKey(member.getBlock().getBlock().getBlockId()))
          .isTrue();
    }
    assertThat(
            cluster
                .coding
                .listStripes(null, ListStripesRequestProto.getDefaultInstance())
                .getStripes(0)
                .getStoredCount())
        .isZero();
  }

  @Test
  void aBadParityIsLostAndRepaired() throws Exception {
    StripeStatusProto before = stripe();
    var answer =
        cluster.coding.reportScrub(null, report(before, before.getStripe().getGeneration()));
    assertThat(answer.getAcceptedList()).containsExactly(true);
    assertThat(stripe().getLostPositionsList()).containsExactly(PARITY);
    cluster.runAll();
    assertThat(stripe().getLostPositionsList()).isEmpty();
    assertThat(parity(stripe()).getBlock().getLocationsList())
        .doesNotContainAnyElementsOf(parity(before).getBlock().getLocationsList());
  }

  @Test
  void aFindingAboutAnEarlierStripeIsForgotten() throws Exception {
    StripeStatusProto now = stripe();
    var answer = cluster.coding.reportScrub(null, report(now, now.getStripe().getGeneration() - 1));
    assertThat(answer.getAcceptedList()).containsExactly(false);
    assertThat(stripe().getLostPositionsList()).isEmpty();
    StripeStatusProto gone =
        now.toBuilder().setStripe(now.getStripe().toBuilder().setId(999_999)).build();
    answer = cluster.coding.reportScrub(null, report(gone, gone.getStripe().getGeneration()));
    assertThat(answer.getAcceptedList()).containsExactly(false);
  }

  @Test
  void whereItStandsAndWhatWasCountedOutliveTheProcess() throws Exception {
    assertThat(cluster.cluster().hasScrub()).isFalse();
    ScrubStatusProto status =
        ScrubStatusProto.newBuilder()
            .setPass(3)
            .setPassStartedMillis(5)
            .setCursor(ByteString.copyFrom(new byte[] {0, (byte) 0xff, '"', '\n'}))
            .setPassStripes(7)
            .setPassFindings(1)
            .setPeriodMillis(9)
            .addSuspects(
                ScrubSuspectProto.newBuilder()
                    .setStripeId(4)
                    .addPositions(2)
                    .setMessage("\"why\" – ünicode")
                    .setFoundMillis(1))
            .build();
    cluster.coding.reportScrub(
        null,
        ReportScrubRequestProto.newBuilder()
            .setStatus(status)
            .addCounts(CountProto.newBuilder().setName("stripes").setValue(7))
            .build());
    cluster.coding.tick();
    cluster.restart();
    assertThat(cluster.cluster().getScrub()).isEqualTo(status);
    assertThat(cluster.counter("scrub.stripes")).isEqualTo(7);
  }

  @Test
  void aRequestStaysUntilItsPassHasBegun() throws Exception {
    assertThatThrownBy(() -> request(1))
        .hasRootCauseInstanceOf(IOException.class)
        .hasMessageContaining("begins by itself");
    report(pass(3));
    request(4);
    report(pass(3)); // a raid-node that did not see the request
    cluster.restart();
    assertThat(cluster.cluster().getScrub().getRequestedPass()).isEqualTo(4);
    report(pass(4));
    assertThat(cluster.cluster().getScrub().hasRequestedPass()).isFalse();
    request(4); // it came late
    assertThat(cluster.cluster().getScrub().hasRequestedPass()).isFalse();
  }

  /** The last transaction of the report of a request is the one that stores the request. */
  private final class WatchedStore implements MetadataStore {
    private Durability last;

    @Override
    public <R> R transact(long hint, Durability durability, TransactionBody<R> body)
        throws IOException {
      last = durability;
      return cluster.store.transact(hint, durability, body);
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit) {
      return cluster.store.scanAll(table, after, limit);
    }

    @Override
    public ChangeLog changes() {
      return cluster.store.changes();
    }

    @Override
    public void close() {}
  }

  @Test
  void aRequestIsOnDiskBeforeItIsAnswered() throws Exception {
    WatchedStore watched = new WatchedStore();
    cluster.restart(watched);
    report(pass(3));
    watched.last = null;
    request(4);
    assertThat(watched.last).isEqualTo(MetadataStore.Durability.SYNCED);
  }

  private void request(long pass) throws Exception {
    cluster.coding.reportScrub(
        null, ReportScrubRequestProto.newBuilder().setRequestedPass(pass).build());
  }

  private void report(ScrubStatusProto status) throws Exception {
    cluster.coding.reportScrub(
        null, ReportScrubRequestProto.newBuilder().setStatus(status).build());
  }

  private static ScrubStatusProto pass(long pass) {
    return ScrubStatusProto.newBuilder()
        .setPass(pass)
        .setPassStartedMillis(5)
        .setPassStripes(7)
        .setPassFindings(0)
        .setPeriodMillis(9)
        .build();
  }
}
