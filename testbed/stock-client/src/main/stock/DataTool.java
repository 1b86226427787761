import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.io.erasurecode.ErasureCodeNative;
import org.apache.hadoop.util.NativeCodeLoader;

/**
 * A stock HDFS client that writes and reads much data on request, by several threads, and compares
 * every byte that it reads. It runs with hadoop-client alone on the class path:
 *
 * <pre>java -cp TOOLS:HADOOP_CLIENT DataTool [NAME=VALUE ...]</pre>
 *
 * The names are Hadoop settings. A line on standard input is a request, a line on standard output
 * its answer; fields are separated by tabs and URL-encoded. The files of a request are PREFIX0,
 * PREFIX1 and so on, each of BYTES bytes; CLIENTS threads share them. MICROS is the time of the
 * whole request, MEDIAN that of the median part (a file, a read):
 *
 * <pre>
 * ID write PREFIX FILES BYTES REPLICATION CLIENTS        ->  ID ok MICROS MEDIAN
 * ID read PREFIX FILES BYTES CLIENTS                     ->  ID ok MICROS MEDIAN
 * ID pread PREFIX FILES BYTES CLIENTS LENGTH COUNT SEED  ->  ID ok MICROS MEDIAN
 * ID begin PREFIX FILES LENGTH                           ->  ID ok MICROS MEDIAN
 * ID first PREFIX FILES BYTES   ->  ID ok MICROS MEDIAN  (until the first byte of each file)
 * ID copy FROM TO FILES BYTES                            ->  ID ok MICROS MEDIAN
 * ID mkdirs PATH POLICY (empty: none) | delete PATH      ->  ID ok
 * ID native                                              ->  ID ok BOOLEAN BOOLEAN
 * (any)                                                  ->  ID error CLASS MESSAGE
 * </pre>
 *
 * It ends at the end of standard input.
 */
public final class DataTool {
  private static final int BUFFER_BYTES = 128 * 1024;

  /**
   * A prime, so that bytes of another block, chunk or file are different bytes. The native client
   * of the benchmark writes and expects the same (workloads/src/main/cpp/data_tool/content.cc).
   */
  private static final int PERIOD = 1_048_573;

  private final byte[] pattern = new byte[PERIOD + BUFFER_BYTES];
  private final FileSystem files;

  private DataTool(FileSystem files) {
    this.files = files;
    new Random(1).nextBytes(pattern);
    System.arraycopy(pattern, 0, pattern, PERIOD, BUFFER_BYTES);
  }

  public static void main(String[] arguments) throws Exception {
    Configuration configuration = new Configuration();
    for (String setting : arguments) {
      int equals = setting.indexOf('=');
      configuration.set(setting.substring(0, equals), setting.substring(equals + 1));
    }
    PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    try (FileSystem files = FileSystem.get(configuration);
        BufferedReader requests =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      DataTool tool = new DataTool(files);
      for (String line = requests.readLine(); line != null; line = requests.readLine()) {
        answers.println(tool.answer(line.split("\t", -1)));
      }
    }
  }

  private String answer(String[] request) {
    try {
      String[] fields =
          Arrays.stream(request)
              .skip(2)
              .map(field -> URLDecoder.decode(field, StandardCharsets.UTF_8))
              .toArray(String[]::new);
      return line(request[0], "ok", execute(request[1], fields));
    } catch (Exception | Error e) {
      return line(request[0], "error", e.getClass().getName(), String.valueOf(e.getMessage()));
    }
  }

  private static String line(String id, String kind, String... fields) {
    return id
        + Arrays.stream(fields)
            .map(field -> "\t" + URLEncoder.encode(field, StandardCharsets.UTF_8))
            .collect(Collectors.joining("", "\t" + kind, ""));
  }

  private String[] execute(String verb, String[] f) throws Exception {
    switch (verb) {
      case "write":
        short replication = Short.parseShort(f[3]);
        return timed(number(f[1]), number(f[4]), i -> write(f[0] + i, longOf(f[2]), replication));
      case "read":
        return timed(number(f[1]), number(f[3]), i -> read(f[0] + i, longOf(f[2])));
      case "begin":
        return timed(number(f[1]), 1, i -> begin(f[0] + i, longOf(f[2])));
      case "pread":
        return preads(f);
      case "first":
        return timed(number(f[1]), 1, i -> first(f[0] + i));
      case "copy":
        return timed(number(f[2]), 1, i -> copy(f[0] + i, f[1] + i, longOf(f[3])));
      case "mkdirs":
        mkdirs(new Path(f[0]), f[1]);
        return new String[0];
      case "delete":
        files.delete(new Path(f[0]), true);
        return new String[0];
      case "native":
        return new String[] {
          String.valueOf(NativeCodeLoader.isNativeCodeLoaded()),
          String.valueOf(ErasureCodeNative.isNativeCodeLoaded())
        };
      default:
        throw new IllegalArgumentException("unknown request " + verb);
    }
  }

  private static int number(String text) {
    return Integer.parseInt(text);
  }

  private static long longOf(String text) {
    return Long.parseLong(text);
  }

  // ---- parts of a request -----------------------------------------------------------------------

  private interface Part {
    void run(int number) throws IOException;
  }

  /** Runs the parts 0 to count - 1; each thread takes every threads-th part. */
  private static String[] timed(int count, int threads, Part part) throws Exception {
    long[] micros = new long[count];
    ExecutorService workers = Executors.newFixedThreadPool(threads);
    try {
      long begin = System.nanoTime();
      List<Future<?>> running = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        int first = t;
        running.add(workers.submit(() -> every(first, threads, micros, part)));
      }
      for (Future<?> one : running) {
        one.get();
      }
      long whole = (System.nanoTime() - begin) / 1000;
      Arrays.sort(micros);
      return new String[] {Long.toString(whole), Long.toString(micros[count / 2])};
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException failure ? failure : e;
    } finally {
      workers.shutdownNow();
    }
  }

  private static Void every(int first, int step, long[] micros, Part part) throws IOException {
    for (int i = first; i < micros.length; i += step) {
      long begin = System.nanoTime();
      part.run(i);
      micros[i] = (System.nanoTime() - begin) / 1000;
    }
    return null;
  }

  private void mkdirs(Path path, String policy) throws IOException {
    files.mkdirs(path);
    if (!policy.isEmpty()) {
      DistributedFileSystem hdfs = (DistributedFileSystem) files;
      hdfs.enableErasureCodingPolicy(policy);
      hdfs.setErasureCodingPolicy(path, policy);
    }
  }

  private void write(String path, long bytes, short replication) throws IOException {
    Path file = new Path(path);
    try (FSDataOutputStream out =
        files.create(file, true, BUFFER_BYTES, replication, files.getDefaultBlockSize(file))) {
      for (long done = 0; done < bytes; ) {
        int count = (int) Math.min(BUFFER_BYTES, bytes - done);
        out.write(pattern, place(path, done), count);
        done += count;
      }
    }
  }

  private void read(String path, long bytes) throws IOException {
    byte[] buffer = new byte[BUFFER_BYTES];
    try (FSDataInputStream in = files.open(new Path(path), BUFFER_BYTES)) {
      long done = 0;
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        compare(path, buffer, n, done);
        done += n;
      }
      if (done != bytes) {
        throw new EOFException(path + " has " + done + " bytes instead of " + bytes);
      }
    }
  }

  /** Reads the first bytes of a file, which may have more. */
  private void begin(String path, long bytes) throws IOException {
    byte[] buffer = new byte[BUFFER_BYTES];
    try (FSDataInputStream in = files.open(new Path(path), BUFFER_BYTES)) {
      for (long done = 0; done < bytes; ) {
        int count = (int) Math.min(BUFFER_BYTES, bytes - done);
        in.readFully(buffer, 0, count);
        compare(path, buffer, count, done);
        done += count;
      }
    }
  }

  private String[] preads(String[] f) throws Exception {
    int open = number(f[1]);
    long bytes = longOf(f[2]);
    int clients = number(f[3]);
    int length = number(f[4]);
    List<FSDataInputStream> streams = new ArrayList<>();
    try {
      for (int i = 0; i < open; i++) {
        streams.add(files.open(new Path(f[0] + i)));
      }
      return timed(
          number(f[5]),
          clients,
          i -> {
            Random random = new Random(longOf(f[6]) * 1_000_003 + i);
            int file = i % open;
            long at = (long) (random.nextDouble() * (bytes - length));
            byte[] buffer = new byte[length];
            streams.get(file).readFully(at, buffer);
            compare(f[0] + file, buffer, length, at);
          });
    } finally {
      for (FSDataInputStream stream : streams) {
        stream.close();
      }
    }
  }

  private void first(String path) throws IOException {
    byte[] buffer = new byte[1];
    try (FSDataInputStream in = files.open(new Path(path))) {
      in.readFully(buffer);
      compare(path, buffer, 1, 0);
    }
  }

  /** Copies a file as a change of its policy does: all bytes pass through the client. */
  private void copy(String from, String to, long bytes) throws IOException {
    byte[] buffer = new byte[BUFFER_BYTES];
    long done = 0;
    try (FSDataInputStream in = files.open(new Path(from), BUFFER_BYTES);
        FSDataOutputStream out = files.create(new Path(to), true)) {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        compare(from, buffer, n, done);
        out.write(buffer, 0, n);
        done += n;
      }
    }
    if (done != bytes) {
      throw new EOFException(from + " has " + done + " bytes instead of " + bytes);
    }
  }

  // ---- content ----------------------------------------------------------------------------------

  /** Where the pattern holds the byte of a file at this offset. A copy has the same name. */
  private static int place(String path, long offset) {
    int name = path.substring(path.lastIndexOf('/')).hashCode();
    return (int) ((Integer.toUnsignedLong(name) + offset) % PERIOD);
  }

  private void compare(String path, byte[] found, int count, long offset) throws IOException {
    for (int done = 0; done < count; ) {
      int step = Math.min(BUFFER_BYTES, count - done);
      int from = place(path, offset + done);
      int wrong = Arrays.mismatch(found, done, done + step, pattern, from, from + step);
      if (wrong >= 0) {
        throw new IOException(path + " is wrong at offset " + (offset + done + wrong));
      }
      done += step;
    }
  }
}
