package io.ebbfs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class LaneLedgerTest {
  private static final UUID ANN = new UUID(1, 2);
  private static final UUID BOB = new UUID(3, 4);

  private static byte[] entry(UUID writer, long firstRecord, int lengthBytes, long end) {
    return entry(writer, firstRecord, 1, lengthBytes, end);
  }

  private static byte[] entry(
      UUID writer, long firstRecord, int records, int lengthBytes, long end) {
    ByteBuffer out = ByteBuffer.allocate(LaneLedger.ENTRY_BYTES);
    out.putLong(writer.getMostSignificantBits()).putLong(writer.getLeastSignificantBits());
    out.putLong(firstRecord).putInt(records).putInt(lengthBytes).putLong(end).putInt(77);
    CRC32C checksum = new CRC32C();
    checksum.update(out.array(), 0, 44);
    return out.putInt((int) checksum.getValue()).array();
  }

  private static byte[] join(byte[]... parts) {
    ByteBuffer out = ByteBuffer.allocate(1_000);
    for (byte[] part : parts) {
      out.put(part);
    }
    byte[] all = new byte[out.position()];
    out.flip().get(all);
    return all;
  }

  @Test
  void aBlockIsCutAfterItsLastWholeBatch() {
    LaneLedger ledger =
        LaneLedger.decode(
            join(entry(ANN, 0, 100, 100), entry(BOB, 0, 50, 150), entry(ANN, 1, 70, 220)));

    assertThat(ledger.wholeBytes(0)).isZero();
    assertThat(ledger.wholeBytes(99)).isZero();
    assertThat(ledger.wholeBytes(100)).isEqualTo(100);
    assertThat(ledger.wholeBytes(219)).isEqualTo(150);
    assertThat(ledger.wholeBytes(220)).isEqualTo(220);
    assertThat(ledger.holds(ANN, 1, 220)).isTrue();
    assertThat(ledger.holds(ANN, 1, 150)).isFalse();
    assertThat(ledger.holds(BOB, 1, 220)).isFalse();
  }

  @Test
  void theLastRecordOfAWriterIsTheLastOneThatIsPartOfTheFile() {
    byte[] whole =
        join(entry(ANN, 7, 3, 100, 100), entry(BOB, 0, 50, 150), entry(ANN, 10, 5, 70, 220));
    LaneLedger ledger = LaneLedger.decode(whole);

    assertThat(ledger.lastRecord(ANN, 220)).hasValue(14);
    assertThat(ledger.lastRecord(ANN, 219)).hasValue(9);
    assertThat(ledger.lastRecord(ANN, 99)).isEmpty();
    assertThat(ledger.lastRecord(BOB, 220)).hasValue(0);
    assertThat(ledger.lastRecord(new UUID(5, 6), 220)).isEmpty();
    byte[] half = java.util.Arrays.copyOf(whole, whole.length - LaneLedger.ENTRY_BYTES / 2);
    assertThat(LaneLedger.decode(half).lastRecord(ANN, 220)).hasValue(9);
  }

  @Test
  void aBlockWithBytesThatItsLedgerDoesNotKnowIsNotCut() throws Exception {
    LaneName name = new LaneName("/d/", 17, 0, 1);
    LaneLedger ledger = LaneLedger.decode(entry(ANN, 0, 100, 100));

    LaneSealer.refuseUnknownBytes(name, ledger, 100);
    assertThatThrownBy(() -> LaneSealer.refuseUnknownBytes(name, ledger, 101))
        .isInstanceOf(java.io.IOException.class)
        .hasMessageContaining("101 bytes")
        .hasMessageContaining("-truncate 100 /d/.append-lane-17-");
    assertThatThrownBy(() -> LaneSealer.refuseUnknownBytes(name, LaneLedger.decode(new byte[0]), 1))
        .hasMessageContaining("knows 0");
  }

  @Test
  void aTornOrDamagedEntryEndsTheLedger() {
    byte[] first = entry(ANN, 0, 100, 100);
    byte[] second = entry(BOB, 0, 50, 150);
    byte[] whole = join(first, second);

    for (int length = 0; length <= whole.length; length++) {
      byte[] torn = java.util.Arrays.copyOf(whole, length);
      assertThat(LaneLedger.decode(torn).entries()).hasSize(length / LaneLedger.ENTRY_BYTES);
    }
    for (int at = 0; at < LaneLedger.ENTRY_BYTES; at++) {
      byte[] damaged = whole.clone();
      damaged[at] ^= 1;
      assertThat(LaneLedger.decode(damaged).entries()).as("byte " + at).isEmpty();
    }
    assertThat(LaneLedger.decode(join(first, entry(BOB, 0, 50, 160))).entries()).hasSize(1);
  }
}
