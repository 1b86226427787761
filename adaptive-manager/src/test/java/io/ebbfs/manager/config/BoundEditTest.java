package io.ebbfs.manager.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.common.config.ConfigException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class BoundEditTest {
  private static final Path FILE = Path.of("policies.yaml");

  private static String edit(String text, String policy, double bound) throws ConfigException {
    return BoundEdit.apply(FILE, text, policy, bound, CodeRegistry.builtIn());
  }

  @Test
  void aBoundIsAddedBehindTheName() throws Exception {
    String text =
        """
        policies:
        # 𝄞 a comment beyond the 16-bit characters
        - paths: [/a]
          name: a # why
          family: product
        - name: b
          paths: [/b]
          family: lrc
          storageBound: 1.4""";
    assertThat(edit(text, "a", 2)).isEqualTo(text.replace("# why\n", "# why\n  storageBound: 2\n"));
    assertThat(edit(text, "b", 1.55)).isEqualTo(text.replace("1.4", "1.55"));
  }

  @Test
  void policiesInOneLineAreEditedToo() throws Exception {
    String text = "policies: [{name: a, paths: [/a], family: product}]";
    assertThat(edit(text, "a", 1.5))
        .isEqualTo(text.replace("name: a,", "name: a, storageBound: 1.5,"));
  }

  private static String editCluster(String text, double bound) throws ConfigException {
    return BoundEdit.applyToCluster(FILE, text, bound, CodeRegistry.builtIn());
  }

  @Test
  void theBoundOfTheClusterComesBeforeThePolicies() throws Exception {
    String text =
        """
        # 𝄞 all of them
        policies:
        - {name: a, paths: [/a], family: product, storageBound: 1.45}
        """;
    String edited = editCluster(text, 1.5);
    assertThat(edited).isEqualTo(text.replace("policies:", "storageBound: 1.5\npolicies:"));
    assertThat(editCluster(edited, 2)).isEqualTo(edited.replace("1.5\n", "2\n"));
    String inOneLine = "{policies: [{name: a, paths: [/a], family: product}]}";
    assertThat(editCluster(inOneLine, 1.5))
        .isEqualTo(inOneLine.replace("{policies", "{storageBound: 1.5, policies"));
  }

  @Test
  void aBoundOfTheClusterThatWouldChangeMoreOrCannotHoldIsRefused() {
    String text =
        """
        storageBound: &bound 1.5
        policies:
          - {name: a, paths: [/a], family: product, storageBound: *bound}
        """;
    assertThatThrownBy(() -> editCluster(text, 1.6)).isInstanceOf(ConfigException.class);
    assertThatThrownBy(() -> editCluster(text.replace("*bound", "1.5"), 1.3))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("of the cluster is below");
  }

  @Test
  void anEditThatWouldChangeMoreIsRefused() {
    // An alias gives both policies one bound.
    String text =
        """
        policies:
          - {name: a, paths: [/a], family: product, storageBound: &bound 1.5}
          - {name: b, paths: [/b], family: product, storageBound: *bound}
        """;
    assertThatThrownBy(() -> edit(text, "a", 1.6)).isInstanceOf(ConfigException.class);
    assertThatThrownBy(() -> edit(text, "c", 1.6))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("no policy 'c'")
        .hasMessageContaining("[a, b]");
  }
}
