import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;

/**
 * A user's program on the stock HDFS client: stores and reads many files in one process. It runs
 * with hadoop-client alone on the class path:
 *
 * <pre>java -cp TOOLS:HADOOP_CLIENT StockTool THREADS [NAME=VALUE ...]</pre>
 *
 * The names are Hadoop settings (fs.defaultFS=hdfs://host:port). A line on standard input is a
 * request, a line on standard output its answer, in any order; fields are separated by tabs and
 * URL-encoded:
 *
 * <pre>
 * ID put LOCAL REMOTE                ->  ID ok SHA256 BYTES MICROS
 * ID read REMOTE                     ->  ID ok SHA256 BYTES MICROS
 * ID readAt REMOTE OFFSET LENGTH     ->  ID ok SHA256 BYTES MICROS
 * ID touch REMOTE (open and close)   ->  ID ok SHA256 0 MICROS
 * (any)                              ->  ID error MESSAGE
 * </pre>
 *
 * It ends at the end of standard input.
 */
public final class StockTool {
  private static final int BUFFER_BYTES = 128 * 1024;

  public static void main(String[] arguments) throws Exception {
    Configuration configuration = new Configuration();
    for (String setting : Arrays.asList(arguments).subList(1, arguments.length)) {
      int equals = setting.indexOf('=');
      configuration.set(setting.substring(0, equals), setting.substring(equals + 1));
    }
    int threads = Integer.parseInt(arguments[0]);
    PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    ExecutorService workers = Executors.newFixedThreadPool(threads);
    Semaphore waiting = new Semaphore(64);
    try (FileSystem fileSystem = FileSystem.get(configuration);
        BufferedReader requests =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = requests.readLine(); line != null; line = requests.readLine()) {
        String[] request = line.split("\t");
        waiting.acquire();
        workers.execute(
            () -> {
              String answer = answer(fileSystem, request);
              waiting.release();
              synchronized (answers) {
                answers.println(answer);
                answers.flush();
              }
            });
      }
      waiting.acquire(64);
    }
    workers.shutdown();
  }

  private static String answer(FileSystem fileSystem, String[] request) {
    String id = request[0];
    try {
      long start = System.nanoTime();
      Copied copied =
          switch (request[1]) {
            case "put" -> put(fileSystem, Path.of(decode(request[2])), decode(request[3]));
            case "read" -> read(fileSystem, decode(request[2]));
            case "readAt" ->
                readAt(
                    fileSystem,
                    decode(request[2]),
                    Long.parseLong(request[3]),
                    Integer.parseInt(request[4]));
            case "touch" -> touch(fileSystem, decode(request[2]));
            default -> throw new IllegalArgumentException("unknown request " + request[1]);
          };
      long micros = (System.nanoTime() - start) / 1000;
      return String.join("\t", id, "ok", copied.sha256, "" + copied.bytes, "" + micros);
    } catch (Exception | Error e) {
      return String.join(
          "\t", id, "error", URLEncoder.encode(e.toString(), StandardCharsets.UTF_8));
    }
  }

  private record Copied(String sha256, long bytes) {}

  private static Copied put(FileSystem fileSystem, Path local, String remote) throws Exception {
    try (InputStream in = Files.newInputStream(local);
        OutputStream out = fileSystem.create(new org.apache.hadoop.fs.Path(remote), true)) {
      return copy(in, out);
    }
  }

  private static Copied read(FileSystem fileSystem, String remote) throws Exception {
    try (InputStream in = fileSystem.open(new org.apache.hadoop.fs.Path(remote), BUFFER_BYTES)) {
      return copy(in, OutputStream.nullOutputStream());
    }
  }

  private static Copied readAt(FileSystem fileSystem, String remote, long offset, int length)
      throws Exception {
    byte[] bytes = new byte[length];
    try (FSDataInputStream in =
        fileSystem.open(new org.apache.hadoop.fs.Path(remote), BUFFER_BYTES)) {
      in.seek(offset);
      in.readFully(bytes);
    }
    return copy(new ByteArrayInputStream(bytes), OutputStream.nullOutputStream());
  }

  private static Copied touch(FileSystem fileSystem, String remote) throws Exception {
    fileSystem.open(new org.apache.hadoop.fs.Path(remote), BUFFER_BYTES).close();
    return copy(InputStream.nullInputStream(), OutputStream.nullOutputStream());
  }

  private static Copied copy(InputStream in, OutputStream out) throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    byte[] buffer = new byte[BUFFER_BYTES];
    long bytes = 0;
    for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
      digest.update(buffer, 0, n);
      out.write(buffer, 0, n);
      bytes += n;
    }
    return new Copied(HexFormat.of().formatHex(digest.digest()), bytes);
  }

  private static String decode(String field) {
    return URLDecoder.decode(field, StandardCharsets.UTF_8);
  }
}
