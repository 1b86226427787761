package io.ebbfs.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class WriterNameTest {
  private static final UUID WRITER = UUID.fromString("01234567-89ab-cdef-0123-456789abcdef");
  private static final LaneName LANE = new LaneName("/d/", 17, 3, 1_700_000_000_000L);

  private static String nameOf(WriterName writer) {
    return writer.path().substring("/d/".length());
  }

  @Test
  void theNameTellsTheLaneAndTheNextRecord() {
    WriterName first = WriterName.first("/d/", 17, WRITER);
    WriterName inLane = first.takenOver(0).inLane(LANE, 1234);

    assertThat(nameOf(inLane))
        .isEqualTo(
            ".append-writer-17-01234567-89ab-cdef-0123-456789abcdef"
                + "-000000000000003-03-001700000000000-000000000000001234");
    for (WriterName name : List.of(first, inLane, inLane.withoutLane(Long.MAX_VALUE / 10))) {
      assertThat(WriterName.of("/d/", 17, nameOf(name))).contains(name);
      assertThat(nameOf(name)).startsWith(WriterName.prefix(17, Optional.empty()));
      assertThat(nameOf(name)).startsWith(WriterName.prefix(17, Optional.of(WRITER)));
      assertThat(WriterName.of("/d/", 1, nameOf(name))).isEmpty();
      assertThat(WriterName.of("/d/", 17, nameOf(name) + "x")).isEmpty();
    }
    assertThat(WriterName.of("/d/", 17, LANE.ledger().substring("/d/".length()))).isEmpty();
    assertThat(WriterName.of("/d/", 17, ".append-writer-17-")).isEmpty();
  }

  @Test
  void theNameIsTheSameWhateverDigitsThePlatformWrites() {
    WriterName name = WriterName.first("/d/", 17, WRITER).inLane(LANE, 1234);
    String path = name.path();
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag("fa-IR-u-nu-arabext"));
    try {
      assertThat("%d".formatted(1)).as("a digit of this locale").isNotEqualTo("1");
      assertThat(name.path()).isEqualTo(path);
      assertThat(WriterName.of("/d/", 17, nameOf(name))).contains(name);
    } finally {
      Locale.setDefault(before);
    }
  }

  /** So a listing that is read page by page sees a file that is renamed meanwhile. */
  @Test
  void eachRenameGivesALaterName() {
    WriterName name = WriterName.first("/d/", 17, WRITER).inLane(LANE, 5);

    assertThat(name.takenOver(0).path()).isGreaterThan(name.path());
    assertThat(name.withoutLane(5).path()).isGreaterThan(name.path());
    assertThat(name.inLane(new LaneName("/d/", 17, 0, 1), 5).path()).isGreaterThan(name.path());
    assertThat(name.takenOver(0).lane()).contains(LANE);
    assertThat(name.takenOver(0).nextRecord()).isEqualTo(5);
  }

  @Test
  void theVersionBeginsWithTheTime() {
    WriterName first = WriterName.first("/d/", 17, WRITER);

    assertThat(first.takenOver(1_700_000_000_000L).version()).isEqualTo(1_700_000_000_000L);
    assertThat(first.takenOver(1_000).takenOver(999).version()).isEqualTo(1_001);
  }
}
