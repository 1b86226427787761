import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.Grep;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.ReflectionUtils;
import org.apache.hadoop.util.ToolRunner;

/**
 * Runs Hadoop's unchanged example job grep in Hadoop's local job runner and prints one line: a
 * word, seconds, bytes of the input, matches. Arguments: input, output (is removed), pattern, the
 * number of maps at once. Exit code 3: there is no such input.
 */
public final class GrepTool {
  private GrepTool() {}

  public static void main(String[] arguments) throws Exception {
    Configuration conf = new Configuration();
    conf.set("mapreduce.framework.name", "local");
    conf.set("mapreduce.local.map.tasks.maximum", arguments[3]);
    conf.set("mapreduce.input.fileinputformat.input.dir.recursive", "true");
    conf.set("mapreduce.task.io.sort.mb", "8");
    // The default of a second would delay the notice of a job's end.
    conf.set("mapreduce.client.progressmonitor.pollinterval", "20");
    conf.set("mapreduce.client.completion.pollinterval", "20");
    conf.set("hadoop.tmp.dir", System.getProperty("java.io.tmpdir"));
    Path input = new Path(arguments[0]);
    Path output = new Path(arguments[1]);
    FileSystem files = FileSystem.get(conf);
    if (!files.exists(input)) {
      System.err.println(input + " does not exist");
      System.exit(3);
    }
    long bytes = files.getContentSummary(input).getLength();
    try {
      long start = System.nanoTime();
      int failed =
          ToolRunner.run(
              conf,
              ReflectionUtils.newInstance(Grep.class, conf), // its constructor is private
              new String[] {input.toString(), output.toString(), arguments[2]});
      double seconds = (System.nanoTime() - start) / 1e9;
      if (failed != 0) {
        System.exit(1);
      }
      System.out.printf(
          Locale.ROOT, "grep\t%.3f\t%d\t%d%n", seconds, bytes, matches(files, output));
    } finally {
      files.delete(output, true);
    }
    System.exit(0);
  }

  private static long matches(FileSystem files, Path output) throws Exception {
    long matches = 0;
    for (FileStatus part : files.globStatus(new Path(output, "part-*"))) {
      try (BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(files.open(part.getPath()), StandardCharsets.UTF_8))) {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          matches += Long.parseLong(line.substring(0, line.indexOf('\t')));
        }
      }
    }
    return matches;
  }
}
