package io.ebbfs.manager.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.manager.config.FileCriteria;
import io.ebbfs.manager.config.Pace;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.economics.Prices;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The stripes of which a policy may free deleted data are those in its own codes. */
class WornIndexTest {
  private static final long STRIPE = 7;
  private static final CodeFamily LRC = CodeRegistry.builtIn().family("lrc");

  @TempDir Path directory;
  private NamespaceView view;

  @BeforeEach
  void open() throws Exception {
    view = NamespaceView.open(directory, policies(LRC), CodeRegistry.builtIn());
  }

  @AfterEach
  void close() {
    view.close();
  }

  private static PolicySet policies(CodeFamily family) {
    return new PolicySet(
        List.of(
            new PolicyRule(
                "p",
                FileCriteria.below("/p"),
                family,
                OptionalDouble.empty(),
                0,
                ReadHot.NEVER,
                2,
                0,
                0,
                0,
                1,
                1,
                Pace.FREE,
                Prices.DEFAULT,
                false,
                false)));
  }

  /** Half of the data of a full stripe of LRC(12,2,2) is deleted. */
  private static ListStripesResponseProto halfDead() {
    StripeRow.Builder row =
        StripeRow.newBuilder()
            .setId(STRIPE)
            .setCode("LRC(12,2,2)")
            .setPolicy("p")
            .setUnitLengthBytes(1)
            .setGeneration(1)
            .setCreatedMillis(1);
    for (int position = 0; position < 16; position++) {
      boolean dead = position < 6;
      row.addMembers(
          StripeMemberProto.newBuilder()
              .setPosition(position)
              .setBlockId(100 + position)
              .setGenerationStamp(1)
              .setLengthBytes(1)
              .setOwnerId(dead || position >= 12 ? STRIPE : 50)
              .setOwnerIndex(position)
              .setTombstone(dead));
    }
    return ListStripesResponseProto.newBuilder()
        .addStripes(
            StripeStatusProto.newBuilder()
                .setStripe(row)
                .setLiveBytes(6)
                .setDeadBytes(6)
                .setParityBytes(4))
        .build();
  }

  @Test
  void itFollowsTheCodesOfThePolicy() {
    view.putStripes(List.of(), halfDead());
    assertThat(view.worn("p", 10)).containsExactly(STRIPE);
    view.usePolicies(policies(CodeRegistry.builtIn().family("product")));
    assertThat(view.worn("p", 10)).as("on its way into another code").isEmpty();
    view.putStripes(List.of(), halfDead());
    assertThat(view.worn("p", 10)).isEmpty();
    view.usePolicies(policies(CodeFamily.single(Codes.byName("LRC(12,2,2)"))));
    assertThat(view.worn("p", 10)).as("a single code").containsExactly(STRIPE);
  }
}
