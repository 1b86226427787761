package io.ebbfs.workloads.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class DegradedReadTest {
  private final Map<Integer, Long> bytes = new HashMap<>();
  private final Map<Integer, Integer> servers = new HashMap<>();

  /** A full stripe, each block of 100 bytes on a server of its own. */
  private ErasureCode full(String name) {
    ErasureCode code = Codes.byName(name);
    bytes.clear();
    servers.clear();
    for (int position = 0; position < code.size(); position++) {
      bytes.put(position, 100L);
      servers.put(position, position);
    }
    return code;
  }

  @Test
  void oneOfTheSourcesIsWhereItIsDecoded() {
    assertThat(DegradedRead.of(full(Codes.PC_FAST), bytes, servers, 0))
        .isEqualTo(new DegradedRead(2, 1));
    assertThat(DegradedRead.of(full("RS(10,4)"), bytes, servers, 3))
        .isEqualTo(new DegradedRead(10, 9));
  }

  @Test
  void bothSourcesOnOneServerCrossNoLink() {
    ErasureCode code = full(Codes.PC_FAST);
    DegradedRead apart = DegradedRead.of(code, bytes, servers, 0);
    // The other block of the column and the column's parity.
    servers.put(5, 20);
    for (int parity = code.dataCount(); parity < code.size(); parity++) {
      servers.put(parity, 20);
    }
    assertThat(apart.overLinks()).isEqualTo(1);
    assertThat(DegradedRead.of(code, bytes, servers, 0)).isEqualTo(new DegradedRead(2, 0));
  }

  @Test
  void ofACodeThatTakesAnyBlocksThoseThatAreTogetherAreTaken() {
    ErasureCode code = full("RS(10,4)");
    servers.put(12, 11);
    servers.put(13, 11);
    assertThat(DegradedRead.of(code, bytes, servers, 0)).isEqualTo(new DegradedRead(10, 7));
  }

  @Test
  void aShortSourceCountsByItsBytesAndTheLongerOneMayBeTheLocalOne() {
    ErasureCode code = full(Codes.PC_FAST);
    bytes.put(5, 40L);
    assertThat(DegradedRead.of(code, bytes, servers, 0)).isEqualTo(new DegradedRead(1.4, 0.4));
  }

  @Test
  void whatElseTheDeadServerHeldIsNotRead() {
    ErasureCode code = full(Codes.PC_FAST);
    servers.put(5, 0);
    assertThat(DegradedRead.of(code, bytes, servers, 0)).isEqualTo(new DegradedRead(5, 4));
  }
}
