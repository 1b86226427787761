package io.ebbfs.manager.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.view.NamespaceView;
import io.ebbfs.manager.view.Pin;
import io.ebbfs.protocol.proto.ManagerProtos.ViewPositionRow;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an operator hears of a pin before the manager knows the files. */
class PinPlanTest {
  private static final String POLICIES =
      """
      policies:
        - name: cold
          paths: [/cold]
          family: product
      """;

  @TempDir Path directory;

  @Test
  void whileTheViewIsBeingFilledNoNumberIsTold() throws Exception {
    PolicySet policies =
        PolicySet.parse(directory.resolve(PolicySet.FILE), POLICIES, CodeRegistry.builtIn());
    try (NamespaceView view =
        NamespaceView.open(directory.resolve("view"), policies, CodeRegistry.builtIn())) {
      PinPlan early = PinPlan.of(view, "/cold", Pin.FAST, Pin.NONE);
      assertThat(early.summary())
          .anyMatch(line -> line.contains("not known yet") && line.contains("is being filled"))
          .noneMatch(line -> line.contains("0 files"));
      assertThat(early.figures()).isEmpty();

      view.setPosition(
          ViewPositionRow.newBuilder().setNextOffset(0).setChangesLost(0).setTopicId("").build());
      PinPlan later = PinPlan.of(view, "/cold", Pin.FAST, Pin.NONE);
      assertThat(later.summary()).anyMatch(line -> line.contains("It concerns 0 files"));
      assertThat(later.figures()).isEqualTo(Map.of("files", 0L, "dataBytes", 0L, "alike", 0L));
    }
  }
}
