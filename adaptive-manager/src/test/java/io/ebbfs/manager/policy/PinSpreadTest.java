package io.ebbfs.manager.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.NamespaceView;
import io.ebbfs.manager.view.Pin;
import io.ebbfs.manager.view.SnapshotReader;
import io.ebbfs.manager.view.WorkingSet;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesRequestProto;
import io.ebbfs.protocol.proto.StoreProtos.PinProto;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pin of a directory holds for the next run, though it has not reached the files below. */
class PinSpreadTest {
  private final PolicyWorld world = new PolicyWorld(PolicyWorld.rule("p", "product", null));

  @TempDir Path directory;
  private NamespaceView view;
  private long pinned;

  /** Two files of 30 blocks below /p/d, one of which is read. */
  @BeforeEach
  void fill() throws Exception {
    view = NamespaceView.open(directory, world.policies, CodeRegistry.builtIn());
    world.file("/p/d/below/read", 30, 1_000);
    long unread = world.file("/p/d/below/unread", 30, 0);
    world.heat.remove(unread);
    pinned = world.namenode.directories.get("/p/d");
    view.putPage(
        world.namenode.listFiles(
            null,
            ListFilesRequestProto.newBuilder().setLimit(100).setWithDirectories(true).build()));
  }

  @AfterEach
  void close() {
    view.close();
  }

  private void pin(PinProto pin) throws Exception {
    world.namenode.pins.put(pinned, pin);
    view.putPins(
        List.of(pinned),
        world.namenode.listFiles(
            null, ListFilesRequestProto.newBuilder().addInodeIds(pinned).build()));
  }

  private ClusterSnapshot take() throws Exception {
    ClusterSnapshot whole = world.snapshot();
    return new WorkingSet(view)
        .take(
            SnapshotReader.surroundings(
                world.namenode.getCluster(null, GetClusterRequestProto.getDefaultInstance()),
                whole.transitions(),
                world.now,
                whole.limits(),
                whole.heat(),
                whole.experience()));
  }

  private List<Decision> decisions() throws Exception {
    return Policy.decide(CodeRegistry.builtIn(), take()).decisions();
  }

  @Test
  void filesBelowADirectoryThatWasPinnedToReplicasAreNotEncoded() throws Exception {
    assertThat(decisions()).as("without a pin").hasSize(2);
    pin(PinProto.REPLICAS);
    assertThat(take().files()).hasSize(2).allMatch(file -> file.pin() == Pin.REPLICAS);
    assertThat(decisions()).isEmpty();
    assertThat(view.file(take().files().iterator().next().id()).pin())
        .as("the pin has not spread")
        .isEqualTo(Pin.NONE);
  }

  @Test
  void filesBelowADirectoryThatWasPinnedToACodeAreEncodedIntoThatCode() throws Exception {
    pin(PinProto.COMPACT);
    assertThat(decisions()).isNotEmpty().allMatch(d -> d.toCode().equals("PC(6x5)"));
    pin(PinProto.FAST);
    assertThat(decisions()).isNotEmpty().allMatch(d -> d.toCode().equals("PC(2x5)"));
  }
}
