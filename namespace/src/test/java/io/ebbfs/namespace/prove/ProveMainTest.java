package io.ebbfs.namespace.prove;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ProveMainTest {
  @Test
  void whatIsNotUnderstoodIsNamed() {
    refused("'--sed'", "placement", "--sed", "3");
    refused("'three'", "placement", "--seed", "three");
    refused("RS(99)", "packing", "RS(99)");
    refused("nothing to prove");
  }

  private static void refused(String named, String... arguments) {
    assertThatThrownBy(() -> ProveMain.run(arguments))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(named);
  }
}
