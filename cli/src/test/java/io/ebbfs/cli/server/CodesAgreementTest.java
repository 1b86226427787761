package io.ebbfs.cli.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.definitions.CodeDefinitions;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.DefinedCodeProto;
import io.ebbfs.protocol.proto.CodingProtos.DefinedCodesProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A control plane and a namenode that read different files of codes find out. */
@Timeout(600)
class CodesAgreementTest {
  private static final GetClusterResponseProto OLDER =
      GetClusterResponseProto.newBuilder()
          .setFiles(0)
          .setLogicalBytes(0)
          .setStoredBytes(0)
          .setUnderReplicatedBlocks(0)
          .setMissingBlocks(0)
          .setUnrecoverableStripes(0)
          .setSafeMode(false)
          .build();

  /** Answers of the namenode in their order; none is no connection. The last one stays. */
  private final Deque<GetClusterResponseProto> answers = new ArrayDeque<>();

  private int unanswered;

  private final CodingProtocol namenode =
      (CodingProtocol)
          Proxy.newProxyInstance(
              getClass().getClassLoader(),
              new Class<?>[] {CodingProtocol.class},
              (proxy, method, arguments) -> {
                assertThat(method.getName()).isEqualTo("getCluster");
                assertThat(((GetClusterRequestProto) arguments[1]).getWithCodes()).isTrue();
                if (unanswered > 0) {
                  unanswered--;
                  throw new ServiceException(new ConnectException("refused"));
                }
                return answers.size() > 1 ? answers.poll() : answers.peek();
              });

  private final CodesAgreement agreement =
      new CodesAgreement(CodeRegistry.builtIn(), () -> namenode, "here:1");

  /** What this process has, and perhaps a code more. */
  private static GetClusterResponseProto codes(String... more) {
    DefinedCodesProto.Builder codes = DefinedCodesProto.newBuilder();
    CodeDefinitions defined = CodeDefinitions.of(CodeRegistry.builtIn());
    defined.codes().forEach((name, definition) -> codes.addCodes(code(name, definition)));
    defined.pairs().forEach((name, definition) -> codes.addPairs(code(name, definition)));
    for (String name : more) {
      codes.addCodes(code(name, "1f"));
    }
    return OLDER.toBuilder().setDefinedCodes(codes).build();
  }

  private static DefinedCodeProto code(String name, String definition) {
    return DefinedCodeProto.newBuilder().setName(name).setDefinition(definition).build();
  }

  @Test
  void theSameCodesAgreeAndAnOlderNamenodeTellsNone() throws Exception {
    answers.add(codes());
    assertThat(agreement.check()).isEmpty();
    answers.clear();
    answers.add(OLDER);
    assertThat(agreement.check()).isEmpty();
  }

  @Test
  void whatDiffersIsNamedWithTheRemedy() throws Exception {
    answers.add(codes("wide"));
    assertThat(agreement.check())
        .hasValueSatisfying(
            what ->
                assertThat(what)
                    .contains(
                        "code wide is defined at namenode here:1 and not at this control plane",
                        "give both the same codes.yaml"));
  }

  @Test
  void aNamenodeThatIsAwayIsAskedUntilItAnswers() throws Exception {
    unanswered = 2;
    answers.add(codes("wide"));
    assertThatThrownBy(agreement::check)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("refused");
    LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();
    agreement.watch(told::add);
    assertThat(told.poll(30, TimeUnit.SECONDS)).contains("code wide");
    agreement.close();
    assertThat(told).isEmpty();
  }
}
