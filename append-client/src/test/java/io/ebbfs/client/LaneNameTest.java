package io.ebbfs.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LaneNameTest {
  private static final LaneName LANE = new LaneName("/d/", 17, 3, 1_700_000_000_000L);

  @Test
  void theNameOfALedgerTellsItsLane() {
    String ledger = LANE.ledger().substring("/d/".length());

    assertThat(ledger).isEqualTo(".append-ledger-17-03-001700000000000");
    String ledgers = LaneName.ledgers(17);
    assertThat(LaneName.of("/d/", ledgers, 17, ledger)).contains(LANE);
    assertThat(LaneName.of("/d/", LaneName.ledgers(1), 1, ledger)).isEmpty();
    assertThat(LaneName.of("/d/", ledgers, 17, ledger + "x")).isEqualTo(Optional.empty());
    assertThat(LaneName.of("/d/", ledgers, 17, ".append-ledger-17-draft")).isEmpty();
    String block = LANE.block().substring("/d/".length());
    assertThat(LaneName.of("/d/", LaneName.blocks(17), 17, block)).contains(LANE);
    assertThat(LaneName.of("/d/", ledgers, 17, block)).isEmpty();
  }

  @Test
  void theNamesAreTheSameWhateverDigitsThePlatformWrites() {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag("fa-IR-u-nu-arabext"));
    try {
      assertThat("%d".formatted(1)).as("a digit of this locale").isNotEqualTo("1");
      assertThat(LANE.ledger()).isEqualTo("/d/.append-ledger-17-03-001700000000000");
      assertThat(LANE.block()).isEqualTo("/d/.append-lane-17-03-001700000000000");
      assertThat(LANE.block()).startsWith("/d/" + LaneName.blocks(17) + LaneName.slotPrefix(3));
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void theNextLaneHasOtherNames() {
    assertThat(LANE.next().ledger()).isGreaterThan(LANE.ledger());
    assertThat(LANE.next().block()).isNotEqualTo(LANE.block());
  }
}
