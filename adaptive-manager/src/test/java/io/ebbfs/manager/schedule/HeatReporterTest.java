package io.ebbfs.manager.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.HalfLives;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.heat.DirectoryReads;
import io.ebbfs.manager.heat.ManagerStore;
import io.ebbfs.manager.heat.OpenEvent;
import io.ebbfs.manager.model.ModelNamenode;
import io.ebbfs.manager.view.NamenodeGateway;
import io.ebbfs.manager.view.NamespaceView;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesRequestProto;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HeatReporterTest {
  private static final HalfLives HALF_LIVES = new HalfLives(3_600_000, 24 * 3_600_000);
  private static final long NOW = 1_000 * 3_600_000L;

  @TempDir Path directory;
  private final ModelNamenode namenode = new ModelNamenode();
  private boolean counting;

  @Test
  void reportsWhileReadsAreCountedAndIsNoProblemForAnOldNamenode() throws Exception {
    long file = namenode.addFile("/a/f", 1, 5).id;
    try (ManagerStore store = ManagerStore.open(directory.resolve("store"))) {
      DirectoryReads reads = store.directoryReads(HALF_LIVES);
      try (NamespaceView view =
          NamespaceView.open(
              directory.resolve("view"), new PolicySet(List.of()), CodeRegistry.builtIn(), reads)) {
        view.putPage(
            namenode.listFiles(
                null, ListFilesRequestProto.newBuilder().setWithDirectories(true).build()));
        store.count(
            List.of(new OpenEvent(file, NOW, 4)),
            new ManagerStore.Position("ebbfs.opens", 0, 1),
            HALF_LIVES);
        NamenodeGateway gateway = new NamenodeGateway(() -> namenode, 100);
        gateway.cluster();
        HeatReporter reporter =
            new HeatReporter(reads, view::hasFile, () -> counting, gateway, 10_000);
        counting = true;
        reporter.report(NOW);
        assertThat(namenode.heat).as("the files are not placed yet").isNull();
        while (view.tellListener(10)) {
          // Until all are placed.
        }
        counting = false;
        reporter.report(NOW);
        assertThat(namenode.heat).as("Kafka is away").isNull();
        counting = true;
        reporter.report(NOW);
        assertThat(namenode.heat.getInodeIdsList())
            .containsExactlyInAnyOrder(file, namenode.directories.get("/a"), 16_385L);
        assertThat(namenode.heat.getReadsList()).containsOnly(4f);
        assertThat(namenode.heat.getOtherFilesAtMost()).isZero();
        assertThat(namenode.heat.getValidMillis()).isEqualTo(60_000);
        namenode.down = true;
        reporter.report(NOW);
        assertThat(gateway.problem()).isNull();
      }
    }
  }
}
