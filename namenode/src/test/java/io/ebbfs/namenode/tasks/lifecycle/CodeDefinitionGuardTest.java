package io.ebbfs.namenode.tasks.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CodeDefinitionGuardTest {
  private final InMemoryStore store = new InMemoryStore();

  private void stripe(long id, String code) throws IOException {
    StripeRow row =
        StripeRow.newBuilder()
            .setId(id)
            .setCode(code)
            .setUnitLengthBytes(1)
            .setGeneration(1)
            .setPolicy("p")
            .setCreatedMillis(1)
            .buildPartial();
    store.transact(
        id,
        transaction -> {
          transaction.put(Tables.STRIPE, Tables.stripe(id), row);
          return null;
        });
  }

  private void transition(long id, String code, TransitionStateProto state) throws IOException {
    TransitionRow row =
        TransitionRow.newBuilder()
            .setId(id)
            .setKind(TransitionKindProto.ENCODE)
            .setState(state)
            .setPolicy("p")
            .setToCode(code)
            .setReason("r")
            .setCreatedMillis(1)
            .setUpdatedMillis(1)
            .setPriority(1)
            .setAttempt(0)
            .build();
    store.transact(
        id,
        transaction -> {
          transaction.put(Tables.TRANSITION, Tables.transition(id), row);
          return null;
        });
  }

  private void fingerprint(String code, String value) throws IOException {
    Key key = Tables.named("code." + code);
    store.transact(
        key.partition(),
        transaction -> {
          transaction.put(Tables.SETTING, key, SettingRow.newBuilder().setValue(value).build());
          return null;
        });
  }

  private Optional<String> fingerprint(String code) throws IOException {
    Key key = Tables.named("code." + code);
    return store.transact(
        key.partition(),
        transaction -> transaction.get(Tables.SETTING, key).map(SettingRow::getValue));
  }

  @Test
  void codesInUseAreRemembered() throws Exception {
    stripe(1, "PC(2x5)");
    CodeDefinitionGuard book = CodeDefinitionGuard.open(CodeRegistry.builtIn(), store);
    assertThat(fingerprint("PC(2x5)")).contains(Codes.byName("PC(2x5)").fingerprint());
    assertThat(fingerprint("RS(6,3)")).isEmpty();
    book.remember(Codes.byName("RS(6,3)"));
    assertThat(fingerprint("RS(6,3)")).contains(Codes.byName("RS(6,3)").fingerprint());
    CodeDefinitionGuard.open(CodeRegistry.builtIn(), store);
  }

  @Test
  void aStripeOfACodeThatIsNotDefinedKeepsTheNamenodeFromStarting() throws Exception {
    stripe(7, "somebodys-code");
    assertThatThrownBy(() -> CodeDefinitionGuard.open(CodeRegistry.builtIn(), store))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("stripe 7")
        .hasMessageContaining("somebodys-code")
        .hasMessageContaining("--codes");
  }

  @Test
  void aPlannedTransitionNeedsItsCodeAndAFinishedOneDoesNot() throws Exception {
    transition(3, "gone-code", TransitionStateProto.DONE);
    CodeDefinitionGuard.open(CodeRegistry.builtIn(), store);
    fingerprint("gone-code", "0123456789abcdef"); // as before each transition to a code
    transition(4, "gone-code", TransitionStateProto.PLANNED);
    assertThatThrownBy(() -> CodeDefinitionGuard.open(CodeRegistry.builtIn(), store))
        .hasMessageContaining("transition 4");
  }

  @Test
  void aChangedCodeIsRefusedWhileStripesUseIt() throws Exception {
    fingerprint("LRC(12,2,2)", "0123456789abcdef");
    CodeDefinitionGuard book = CodeDefinitionGuard.open(CodeRegistry.builtIn(), store);
    stripe(9, "LRC(12,2,2)");
    assertThatThrownBy(() -> CodeDefinitionGuard.open(CodeRegistry.builtIn(), store))
        .hasMessageContaining("stripe 9")
        .hasMessageContaining("LRC(12,2,2)")
        .hasMessageContaining("0123456789abcdef")
        .hasMessageContaining("another name");
    assertThat(fingerprint("LRC(12,2,2)")).contains("0123456789abcdef");
    book.remember(Codes.byName("LRC(12,2,2)"));
    CodeDefinitionGuard.open(CodeRegistry.builtIn(), store);
  }

  @Test
  void twoNamenodesOfOneProcessKnowTheirOwnCodesOnly() throws Exception {
    CodeRegistry narrow =
        CodeRegistry.of(List.of(Codes.named("somebodys-code", 2, "RS(4,2)")), List.of());
    CodeRegistry wide =
        CodeRegistry.of(List.of(Codes.named("somebodys-code", 2, "RS(6,2)")), List.of());
    stripe(7, "somebodys-code");
    CodeDefinitionGuard.open(narrow, store);
    CodeDefinitionGuard.open(narrow, store);
    assertThatThrownBy(() -> CodeDefinitionGuard.open(wide, store))
        .hasMessageContaining(narrow.byName("somebodys-code").fingerprint())
        .hasMessageContaining(wide.byName("somebodys-code").fingerprint());
    assertThatThrownBy(() -> CodeDefinitionGuard.open(CodeRegistry.builtIn(), store))
        .hasMessageContaining("not defined");
  }

  /** So the time of a start does not grow with the number of stripes. */
  @Test
  void stripesAreReadOnlyIfAFingerprintIsUnknown() throws Exception {
    stripe(1, "PC(2x5)");
    CodeDefinitionGuard.open(CodeRegistry.builtIn(), store);
    // No namenode makes such a stripe: it stores the fingerprint before.
    stripe(2, "somebodys-code");
    CodeDefinitionGuard.open(CodeRegistry.builtIn(), store);
    fingerprint("somebodys-code", "0123456789abcdef");
    assertThatThrownBy(() -> CodeDefinitionGuard.open(CodeRegistry.builtIn(), store))
        .hasMessageContaining("stripe 2");
  }
}
