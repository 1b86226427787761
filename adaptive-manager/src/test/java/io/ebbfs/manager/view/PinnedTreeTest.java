package io.ebbfs.manager.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.protocol.proto.CodingProtos.DirectoryStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.PinProto;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pin of a directory with many files reaches the files in small steps. */
class PinnedTreeTest {
  private static final long ROOT = 16_385;
  private static final long DIRECTORY = 20_000;
  private static final long FIRST = 30_000;
  private static final int FILES = 500;
  private static final Duration LONG = Duration.ofHours(1);

  @TempDir Path directory;
  private NamespaceView view;

  @BeforeEach
  void fill() throws Exception {
    open();
    ListFilesResponseProto.Builder page =
        ListFilesResponseProto.newBuilder().addDirectories(directory("/d", null));
    for (int i = 0; i < FILES; i++) {
      page.addFiles(file(FIRST + i, "/d/" + i));
    }
    view.putPage(page.build());
  }

  private void open() throws Exception {
    view = NamespaceView.open(directory, new PolicySet(List.of()), CodeRegistry.builtIn());
  }

  @AfterEach
  void close() {
    view.close();
  }

  private static DirectoryStatusProto directory(String path, PinProto pin) {
    DirectoryStatusProto.Builder row =
        DirectoryStatusProto.newBuilder().setDirectoryId(DIRECTORY).setParentId(ROOT).setPath(path);
    if (pin != null) {
      row.setPin(pin);
    }
    return row.build();
  }

  private static FileStatusProto file(long id, String path) {
    return FileStatusProto.newBuilder()
        .setFileId(id)
        .setPath(path)
        .setLengthBytes(1)
        .setModifiedMillis(1)
        .setUnderConstruction(false)
        .setBlocks(1)
        .setStripedBlocks(0)
        .setStoredBytes(3)
        .setReplicatedBytes(1)
        .setReplicatedStoredBytes(3)
        .setParentId(DIRECTORY)
        .build();
  }

  private void pin(PinProto pin) {
    view.putPins(
        List.of(DIRECTORY),
        ListFilesResponseProto.newBuilder().addDirectories(directory("/d", pin)).build());
  }

  private long pinned(Pin pin) {
    long count = 0;
    for (int i = 0; i < FILES; i++) {
      count += view.file(FIRST + i).pin() == pin ? 1 : 0;
    }
    return count;
  }

  @Test
  void aStepLooksAtSoManyFilesAndARestartGoesOn() throws Exception {
    pin(PinProto.FAST);
    assertThat(pinned(Pin.FAST)).isZero();
    assertThat(view.spread(100, LONG)).isTrue();
    assertThat(pinned(Pin.FAST)).isEqualTo(100);
    view.close();
    open();
    assertThat(pinned(Pin.FAST)).isEqualTo(100);
    while (view.spread(100, LONG)) {
      // Step after step.
    }
    assertThat(pinned(Pin.FAST)).isEqualTo(FILES);
  }

  @Test
  void aStepEndsWhenItsTimeIsOver() {
    pin(PinProto.FAST);
    assertThat(view.spread(FILES + 1, Duration.ZERO)).isTrue();
    assertThat(pinned(Pin.FAST)).isLessThan(FILES);
    for (int steps = 0; view.spread(FILES + 1, Duration.ZERO); steps++) {
      assertThat(steps).isLessThan(FILES);
    }
    assertThat(pinned(Pin.FAST)).isEqualTo(FILES);
  }

  @Test
  void anotherPinBeginsAnew() {
    pin(PinProto.FAST);
    view.spread(100, LONG);
    pin(PinProto.COMPACT);
    assertThat(view.spread(FILES + 1, LONG)).isFalse();
    assertThat(pinned(Pin.COMPACT)).isEqualTo(FILES);
    pin(null);
    assertThat(view.spread(FILES + 1, LONG)).isFalse();
    assertThat(pinned(Pin.NONE)).isEqualTo(FILES);
  }

  @Test
  void aFileThatComesMeanwhileHasThePinAtOnce() {
    pin(PinProto.COMPACT);
    view.putInodes(
        List.of(7L), ListFilesResponseProto.newBuilder().addFiles(file(7, "/d/new")).build());
    assertThat(view.file(7).pin()).isEqualTo(Pin.COMPACT);
  }
}
