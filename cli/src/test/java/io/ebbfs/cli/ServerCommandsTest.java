package io.ebbfs.cli;

import static io.ebbfs.cli.Ran.refused;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The command lines of the server processes. */
class ServerCommandsTest {
  private static final String[] CONTROL_PLANE = {
    "control", "--conf", "/none", "--data", "/none", "--http-port", "0", "--kafka", "k:9092"
  };

  private static String controlPlane(String... more) {
    String[] words = new String[CONTROL_PLANE.length + more.length];
    System.arraycopy(CONTROL_PLANE, 0, words, 0, CONTROL_PLANE.length);
    System.arraycopy(more, 0, words, CONTROL_PLANE.length, more.length);
    return refused(words);
  }

  @Test
  void theNamenodeNamesWrongArguments() {
    assertThat(refused("namenode", "--prot", "1")).contains("--prot", "--port?", "usage");
    assertThat(refused("namenode", "--port")).contains("--port has no value");
    assertThat(refused("namenode", "--set", "leaseSoftLimt=1s"))
        .contains("did you mean 'leaseSoftLimit'?");
    assertThat(refused("namenode", "--set", "leaseSoftLimit"))
        .contains("--set leaseSoftLimit is not KEY=VALUE");
    assertThat(refused("namenode", "--conf", "/no/such/file")).contains("cannot be read");
    assertThat(refused("namenode", "--port", "70000"))
        .startsWith("namenode: --port")
        .contains("70000");
  }

  @Test
  void theControlPlaneNamesWrongArguments() {
    assertThat(refused("control", "--conf", "x", "--port", "1"))
        .contains("unknown option --port", "usage:");
    assertThat(refused("control", "--conf")).startsWith("ebbfs: --conf has no value");
    assertThat(refused("control-plane", "--conf", "x")).contains("--namenode", "missing");
    assertThat(controlPlane())
        .startsWith("ebbfs: --namenode is missing, and cluster.yaml has no 'namenodes'");
    assertThat(refused("control", "--conf", "x", "--namenode", "n:1"))
        .contains("--kafka is missing");
    assertThat(controlPlane("--only", "both")).contains("--only", "raid-node");
    assertThat(controlPlane("--namenode", "here")).contains("--namenode", "here is not HOST:PORT");
    assertThat(controlPlane("--namenode", "here:0")).contains("'0' is not a port from 1 to 65535");
  }
}
