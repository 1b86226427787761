package io.ebbfs.manager.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.protocol.proto.CodingProtos.DirectoryStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.PinProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A reading of everything: what it costs if the view is empty, and what it removes if not. */
class FirstFillTest {
  private static final int FILES = 1_000;
  private static final int FILES_OF_A_STRIPE = 10;
  private static final long FIRST = 20_000;
  private static final long FIRST_STRIPE = 50_000;
  private static final long ROOT = InodeListener.ROOT;
  private static final long TOP = 17_001;
  private static final long PINNED = 17_002;

  @TempDir Path directory;
  private NamespaceView view;

  @BeforeEach
  void open() throws Exception {
    view =
        NamespaceView.open(
            directory,
            PolicySet.parse(
                Path.of("policies.yaml"),
                "policies:\n  - {name: a, paths: [/top], family: product}\n",
                CodeRegistry.builtIn()),
            CodeRegistry.builtIn());
  }

  @AfterEach
  void close() {
    view.close();
  }

  private static long stripeOf(int file) {
    return FIRST_STRIPE + file / FILES_OF_A_STRIPE;
  }

  private static ListStripesResponseProto stripes() {
    ListStripesResponseProto.Builder page = ListStripesResponseProto.newBuilder();
    for (int first = 0; first < FILES; first += FILES_OF_A_STRIPE) {
      StripeRow.Builder row =
          StripeRow.newBuilder()
              .setId(stripeOf(first))
              .setCode("PC(6x5)")
              .setUnitLengthBytes(100)
              .setGeneration(1)
              .setPolicy("a")
              .setCreatedMillis(1);
      for (int i = 0; i < FILES_OF_A_STRIPE; i++) {
        row.addMembers(
            StripeMemberProto.newBuilder()
                .setPosition(i)
                .setBlockId(first + i)
                .setGenerationStamp(1)
                .setLengthBytes(100)
                .setOwnerId(FIRST + first + i)
                .setOwnerIndex(0));
      }
      page.addStripes(
          StripeStatusProto.newBuilder()
              .setStripe(row)
              .setLiveBytes(100L * FILES_OF_A_STRIPE)
              .setDeadBytes(0)
              .setParityBytes(500));
    }
    return page.build();
  }

  private static DirectoryStatusProto directory(long id, long parent, String path, PinProto pin) {
    DirectoryStatusProto.Builder directory =
        DirectoryStatusProto.newBuilder().setDirectoryId(id).setParentId(parent).setPath(path);
    return (pin == null ? directory : directory.setPin(pin)).build();
  }

  private static FileStatusProto file(int number, long parent, String path) {
    return FileStatusProto.newBuilder()
        .setFileId(FIRST + number)
        .setPath(path)
        .setParentId(parent)
        .setOwner("o")
        .setGroup("g")
        .setLengthBytes(100)
        .setModifiedMillis(number)
        .setUnderConstruction(false)
        .setBlocks(1)
        .setStripedBlocks(1)
        .setStoredBytes(100)
        .setReplicatedBytes(0)
        .setReplicatedStoredBytes(0)
        .addStripeIds(stripeOf(number))
        .build();
  }

  private static ListFilesResponseProto.Builder inodes(int files) {
    return inodes(files, PinProto.FAST);
  }

  /** Half of the files are in a directory with a pin. */
  private static ListFilesResponseProto.Builder inodes(int files, PinProto pin) {
    ListFilesResponseProto.Builder page =
        ListFilesResponseProto.newBuilder()
            .addDirectories(directory(TOP, ROOT, "/top", null))
            .addDirectories(directory(PINNED, TOP, "/top/pinned", pin));
    for (int i = 0; i < files; i++) {
      boolean pinned = i >= FILES / 2;
      page.addFiles(file(i, pinned ? PINNED : TOP, "/top/" + (pinned ? "pinned/f" : "f") + i));
    }
    return page;
  }

  private void readAll(int files) {
    view.beginReading();
    view.putStripes(List.of(), stripes());
    view.putPage(inodes(files).build());
    view.endReading();
  }

  @Test
  void aFirstReadingLooksForEachFileOnceAndReadsEachStripeAFewTimes() {
    view.beginReading();
    view.putStripes(List.of(), stripes());
    view.putPage(inodes(FILES, null).build());
    view.endReading();
    long stripes = FILES / FILES_OF_A_STRIPE;
    // Each stripe looks for its files, and asks each of them to follow; then the files come.
    assertThat(view.visited()).isLessThan(3 * FILES + 3 * stripes + 50);
    assertThat(view.files()).isEqualTo(FILES);
    assertThat(view.sums().get("a").files(FileState.COMPACT).files()).isEqualTo(FILES);
  }

  @Test
  void filesOfOnePageGetThePinsOfTheirDirectories() {
    readAll(FILES);
    for (int i = 0; i < FILES; i++) {
      assertThat(view.file(FIRST + i).pin()).isEqualTo(i < FILES / 2 ? Pin.NONE : Pin.FAST);
    }
    assertThat(view.stripe(stripeOf(0)).pin()).isEqualTo(Pin.NONE);
    assertThat(view.stripe(stripeOf(FILES - 1)).pin()).isEqualTo(Pin.FAST);
  }

  @Test
  void aReadingThatWasBrokenOffLeavesNoRowsOfFilesThatAreGone() {
    view.beginReading();
    view.putPage(inodes(FILES).build()); // and the process ends
    readAll(FILES - 10);
    assertThat(view.files()).isEqualTo(FILES - 10);
    assertThat(view.hasFile(FIRST + FILES - 1)).isFalse();
  }

  @Test
  void stripesAloneAreRowsToRemoveToo() {
    view.putStripes(List.of(), stripes());
    view.beginReading();
    view.putPage(ListFilesResponseProto.getDefaultInstance());
    view.endReading();
    assertThat(view.stripe(stripeOf(0))).isNull();
  }
}
