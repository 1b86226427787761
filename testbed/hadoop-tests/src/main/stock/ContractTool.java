import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs Hadoop's contract tests of file systems:
 *
 * <pre>java -cp HADOOP_TESTS ContractTool DIRECTORY SUBJECTS [NAME=VALUE ...]</pre>
 *
 * DIRECTORY is for the files of HDFS, which runs in this process unless a value names {@code
 * fs.defaultFS}. SUBJECTS are names of {@link ContractTests} between commas, or {@code all}.
 * Standard output has a line for each test: {@code passed}, {@code failed} or {@code leftOut}, its
 * name and its reason, between tabs and encoded as in a URL.
 */
public final class ContractTool implements TestExecutionListener {
  private final PrintStream out;

  private ContractTool(PrintStream out) {
    this.out = out;
  }

  public static void main(String[] arguments) throws Exception {
    PrintStream out = System.out;
    System.setOut(System.err); // the tests print, too
    Map<String, String> settings = new HashMap<>();
    for (String setting : Arrays.asList(arguments).subList(2, arguments.length)) {
      int equals = setting.indexOf('=');
      settings.put(setting.substring(0, equals), setting.substring(equals + 1));
    }
    boolean isHdfs = !settings.containsKey("fs.defaultFS");
    try (TestedCluster cluster =
        isHdfs ? TestedCluster.hdfs(Path.of(arguments[0])) : TestedCluster.of(settings)) {
      ClusterContract.cluster = cluster;
      LauncherFactory.create().execute(request(arguments[1]), new ContractTool(out));
    }
    System.exit(0); // threads of the clients go on
  }

  private static LauncherDiscoveryRequest request(String subjects) {
    List<String> wanted = List.of(subjects.split(","));
    LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request();
    for (Class<?> tests : ContractTests.ALL) {
      if (subjects.equals("all") || wanted.contains(tests.getSimpleName())) {
        request.selectors(selectClass(tests));
      }
    }
    return request.build();
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    switch (result.getStatus()) {
      case SUCCESSFUL -> {
        if (test.isTest()) {
          tell("passed", test, "");
        }
      }
      case ABORTED -> tell("leftOut", test, reason(result));
      case FAILED -> tell("failed", test, reason(result));
    }
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    tell("leftOut", test, reason);
  }

  private static String reason(TestExecutionResult result) {
    return result.getThrowable().map(Throwable::toString).orElse("no reason is given");
  }

  private void tell(String end, TestIdentifier test, String reason) {
    out.println(
        end
            + "\t"
            + URLEncoder.encode(name(test), StandardCharsets.UTF_8)
            + "\t"
            + URLEncoder.encode(reason, StandardCharsets.UTF_8));
    out.flush();
  }

  /** Subject, method, and the numbers of its parameters: {@code Append.testAppendTwice#1}. */
  private static String name(TestIdentifier test) {
    List<String> parts = new ArrayList<>();
    test.getSource()
        .ifPresent(
            source -> {
              if (source instanceof MethodSource method) {
                parts.add(method.getJavaClass().getSimpleName() + "." + method.getMethodName());
              } else if (source instanceof ClassSource tests) {
                parts.add(tests.getJavaClass().getSimpleName());
              }
            });
    for (UniqueId.Segment segment : test.getUniqueIdObject().getSegments()) {
      if (segment.getType().endsWith("invocation")) {
        parts.add(segment.getValue());
      }
    }
    return String.join("", parts);
  }
}
