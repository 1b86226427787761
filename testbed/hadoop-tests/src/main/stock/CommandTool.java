import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.hdfs.tools.CacheAdmin;
import org.apache.hadoop.hdfs.tools.CryptoAdmin;
import org.apache.hadoop.hdfs.tools.DFSAdmin;
import org.apache.hadoop.hdfs.tools.DFSHAAdmin;
import org.apache.hadoop.hdfs.tools.DFSck;
import org.apache.hadoop.hdfs.tools.DebugAdmin;
import org.apache.hadoop.hdfs.tools.ECAdmin;
import org.apache.hadoop.hdfs.tools.GetGroups;
import org.apache.hadoop.hdfs.tools.StoragePolicyAdmin;
import org.apache.hadoop.hdfs.tools.snapshot.LsSnapshot;
import org.apache.hadoop.hdfs.tools.snapshot.LsSnapshottableDir;
import org.apache.hadoop.hdfs.tools.snapshot.SnapshotDiff;
import org.apache.hadoop.tools.DistCp;
import org.apache.hadoop.tools.HadoopArchives;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * Runs the classes behind the words of {@code hdfs}, many in one process:
 *
 * <pre>java -cp HADOOP_TESTS CommandTool DIRECTORY [NAME=VALUE ...]</pre>
 *
 * DIRECTORY is for the files of HDFS, which runs in this process unless a value names {@code
 * fs.defaultFS}. A line on standard input is an id, the word of a tool such as {@code dfsadmin},
 * and its arguments; its answer is the id, {@code ok}, the exit code and what the tool has printed.
 * All are between tabs, and encoded as in a URL.
 */
public final class CommandTool {
  private static final Map<String, Function<Configuration, Tool>> TOOLS =
      Map.ofEntries(
          Map.entry("dfs", FsShell::new),
          Map.entry("archive", HadoopArchives::new),
          Map.entry("dfsadmin", DFSAdmin::new),
          Map.entry("distcp", CommandTool::distCp),
          Map.entry("storagepolicies", StoragePolicyAdmin::new),
          Map.entry("ec", ECAdmin::new),
          Map.entry("cacheadmin", CacheAdmin::new),
          Map.entry("crypto", CryptoAdmin::new),
          Map.entry("debug", DebugAdmin::new),
          Map.entry("fsck", CommandTool::fsck),
          Map.entry("groups", GetGroups::new),
          Map.entry("lsSnapshot", conf -> new LsSnapshot()),
          Map.entry("lsSnapshottableDir", conf -> new LsSnapshottableDir()),
          Map.entry("snapshotDiff", conf -> new SnapshotDiff()),
          Map.entry("haadmin", conf -> new DFSHAAdmin()));

  private CommandTool() {}

  private static Tool distCp(Configuration conf) {
    try {
      return new DistCp(conf, null);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static Tool fsck(Configuration conf) {
    try {
      return new DFSck(conf);
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  public static void main(String[] arguments) throws Exception {
    PrintStream answers = System.out;
    System.setOut(System.err);
    Map<String, String> settings = new HashMap<>();
    for (String setting : Arrays.asList(arguments).subList(1, arguments.length)) {
      int equals = setting.indexOf('=');
      settings.put(setting.substring(0, equals), setting.substring(equals + 1));
    }
    boolean isHdfs = !settings.containsKey("fs.defaultFS");
    try (TestedCluster cluster =
            isHdfs ? TestedCluster.hdfs(Path.of(arguments[0])) : TestedCluster.of(settings);
        BufferedReader requests =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = requests.readLine(); line != null; line = requests.readLine()) {
        String[] fields = line.split("\t", -1);
        for (int i = 2; i < fields.length; i++) {
          fields[i] = URLDecoder.decode(fields[i], StandardCharsets.UTF_8);
        }
        answers.println(answer(cluster.client(), fields));
        answers.flush();
      }
    }
    System.exit(0); // threads of the clients go on
  }

  private static String answer(Configuration conf, String[] fields) {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream errors = System.err;
    PrintStream both = new PrintStream(printed, true, StandardCharsets.UTF_8);
    System.setOut(both);
    System.setErr(both);
    int exit;
    try {
      String[] arguments = Arrays.copyOfRange(fields, 2, fields.length);
      exit = run(conf, fields[1], arguments);
    } catch (Throwable e) {
      both.println(e);
      exit = -1;
    } finally {
      System.setOut(errors);
      System.setErr(errors);
    }
    return fields[0]
        + "\tok\t"
        + exit
        + "\t"
        + URLEncoder.encode(printed.toString(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }

  private static int run(Configuration conf, String word, String[] arguments) throws Exception {
    Function<Configuration, Tool> tool = TOOLS.get(word);
    if (tool == null) {
      throw new IllegalArgumentException(
          "'" + word + "' is none of the words " + TOOLS.keySet().stream().sorted().toList());
    }
    Configuration own = new Configuration(conf);
    // A file system that an earlier command has opened would not know the settings of this one.
    if (Arrays.stream(arguments).anyMatch(argument -> argument.startsWith("-D"))) {
      own.setBoolean("fs.hdfs.impl.disable.cache", true);
    }
    return ToolRunner.run(own, tool.apply(own), arguments);
  }
}
