package io.ebbfs.namenode.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.hadoop.hdfs.protocol.ReconfigurationProtocol;
import org.apache.hadoop.hdfs.protocol.proto.ClientDatanodeProtocolProtos.ClientDatanodeProtocolService;
import org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol;
import org.junit.jupiter.api.Test;

/**
 * {@code docs/protocols.md} lists the calls that are refused. What a chunk server refuses is
 * compared with the page in {@code client_datanode_service_test.cc}.
 */
class RefusedCallsTest {
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| `(\\w+)` \\| ([^|]+) \\| [^|]{5,} \\| [^|]{5,} \\|$");
  private static final Pattern CALL = Pattern.compile("`([a-z]\\w+)`");

  private static String page() throws IOException {
    return Files.readString(Path.of("..", "docs", "protocols.md"));
  }

  private static Set<String> calls(String text) {
    return CALL.matcher(text)
        .results()
        .map(found -> found.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** The calls of a protocol in the table, each with a reason and a remedy. */
  private static Set<String> listed(String protocol) throws IOException {
    String section = page().split("\n## Refused calls\n")[1].split("\n## ")[0];
    Set<String> listed = new TreeSet<>();
    Matcher row = ROW.matcher(section);
    while (row.find()) {
      if (row.group(1).equals(protocol)) {
        listed.addAll(calls(row.group(2)));
      }
    }
    return listed;
  }

  private static Set<String> names(Method[] methods) {
    return Arrays.stream(methods)
        .map(Method::getName)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void thePageListsTheCallsOfClientsThatAreRefused() throws IOException {
    assertThat(listed("ClientProtocol"))
        .isEqualTo(new TreeSet<>(UnsupportedCalls.REASONS.keySet()));
    Set<String> refused =
        Arrays.stream(UnsupportedCalls.class.getDeclaredMethods())
            .filter(method -> Modifier.isPublic(method.getModifiers()))
            .map(Method::getName)
            .collect(Collectors.toSet());
    assertThat(refused).isNotEmpty().isSubsetOf(UnsupportedCalls.REASONS.keySet());
  }

  @Test
  void eachRefusalNamesTheCallTheReasonAndARemedy() {
    UnsupportedCalls.REASONS.forEach(
        (call, reason) -> {
          assertThat(reason).as(call).contains(": ");
          assertThat(UnsupportedCalls.unsupported(call))
              .hasMessage("EbbFS does not support the call %s of ClientProtocol: %s", call, reason);
        });
  }

  @Test
  void thePageListsTheCallsOfNamenodesThatAreRefused() throws Exception {
    BalancerCalls calls = new BalancerCalls(null, null, null, null, null, null);
    Set<String> refused = new TreeSet<>();
    for (Method method : NamenodeProtocol.class.getMethods()) {
      Object[] none =
          Arrays.stream(method.getParameterTypes()).map(RefusedCallsTest::none).toArray();
      try {
        method.invoke(calls, none);
      } catch (InvocationTargetException e) {
        if (e.getCause() instanceof UnsupportedOperationException refusal) {
          assertThat(refusal).hasMessageContainingAll(method.getName(), "ebb backup");
          refused.add(method.getName());
        }
      }
    }
    assertThat(refused).hasSizeGreaterThan(5).isEqualTo(listed("NamenodeProtocol"));
  }

  private static Object none(Class<?> type) {
    if (type == boolean.class) {
      return false;
    }
    if (type == long.class) {
      return 0L;
    }
    return type == int.class ? 0 : null;
  }

  @Test
  void thePageListsTheCallsOfAReconfiguration() throws IOException {
    assertThat(names(ReconfigurationProtocol.class.getMethods()))
        .isEqualTo(listed("ReconfigurationProtocol"));
  }

  @Test
  void thePageKnowsEachCallOfClientsToAChunkServer() throws IOException {
    Matcher sentence = Pattern.compile("A chunk server answers ([^.]+)\\.").matcher(page());
    assertThat(sentence.find()).isTrue();
    Set<String> known = new TreeSet<>(listed("ClientDatanodeProtocol"));
    Set<String> answered = calls(sentence.group(1));
    assertThat(known).isNotEmpty().doesNotContainAnyElementsOf(answered);
    known.addAll(answered);
    assertThat(known)
        .isEqualTo(names(ClientDatanodeProtocolService.BlockingInterface.class.getMethods()));
  }
}
