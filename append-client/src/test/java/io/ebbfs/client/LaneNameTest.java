package io.ebbfs.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class LaneNameTest {
  private static final LaneName LANE = new LaneName("/d/", "f", 17, 3, 1_700_000_000_000L);

  @Test
  void theNameOfALedgerTellsItsLane() {
    String ledger = LANE.ledger().substring("/d/".length());

    assertThat(ledger).isEqualTo(".f.ledger-17-03-001700000000000");
    assertThat(LaneName.ofLedger("/d/", "f", 17, ledger)).contains(LANE);
    assertThat(LaneName.ofLedger("/d/", "f", 1, ledger)).isEmpty();
    assertThat(LaneName.ofLedger("/d/", "f", 17, ledger + "x")).isEqualTo(Optional.empty());
    assertThat(LaneName.ofLedger("/d/", "f", 17, ".f.ledger-17-draft")).isEmpty();
  }

  @Test
  void theNextLaneHasOtherNames() {
    assertThat(LANE.next().ledger()).isGreaterThan(LANE.ledger());
    assertThat(LANE.next().block()).isNotEqualTo(LANE.block());
  }
}
