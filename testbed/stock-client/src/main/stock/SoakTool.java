import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/**
 * A user's program on the stock HDFS client that keeps files open: writes, appends, flushes, reads,
 * renames and deletes on request. The byte at each offset of a file follows from the file's seed,
 * so that a reader knows what it must find and nothing is stored beside the file. It runs with
 * hadoop-client alone on the class path:
 *
 * <pre>java -cp TOOLS:HADOOP_CLIENT SoakTool [NAME=VALUE ...]</pre>
 *
 * A line on standard input is a request, a line on standard output its answer, in any order; fields
 * are separated by tabs and URL-encoded. USER names one of several clients in this process, each
 * with a lease of its own; HANDLE names an open stream:
 *
 * <pre>
 * ID create USER HANDLE PATH               ->  ID ok
 * ID append USER HANDLE PATH               ->  ID ok LENGTH
 * ID write HANDLE SEED COUNT               ->  ID ok POSITION
 * ID hflush|hsync|close HANDLE             ->  ID ok
 * ID read USER PATH SEED                   ->  ID ok LENGTH MISMATCH   (-1: none)
 * ID pread USER PATH SEED OFFSET COUNT     ->  ID ok COUNT MISMATCH
 * ID status USER PATH                      ->  ID ok LENGTH            (-1: no such file)
 * ID list USER PATH                        ->  ID ok NAME ...
 * ID rename USER FROM TO                   ->  ID ok true|false
 * ID delete|recover|closed|mkdirs USER PATH  ->  ID ok true|false
 * (any)                                    ->  ID error CLASS MESSAGE
 * </pre>
 *
 * It ends at the end of standard input.
 */
public final class SoakTool {
  private static final int BUFFER_BYTES = 64 * 1024;

  private final Configuration configuration;
  private final Map<String, DistributedFileSystem> users = new ConcurrentHashMap<>();
  private final Map<String, FSDataOutputStream> streams = new ConcurrentHashMap<>();

  private SoakTool(Configuration configuration) {
    this.configuration = configuration;
  }

  public static void main(String[] arguments) throws Exception {
    Configuration configuration = new Configuration();
    for (String setting : arguments) {
      int equals = setting.indexOf('=');
      configuration.set(setting.substring(0, equals), setting.substring(equals + 1));
    }
    SoakTool tool = new SoakTool(configuration);
    PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    ExecutorService workers = Executors.newCachedThreadPool();
    try (BufferedReader requests =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = requests.readLine(); line != null; line = requests.readLine()) {
        String[] request = line.split("\t", -1);
        workers.execute(
            () -> {
              String answer = tool.answer(request);
              synchronized (answers) {
                answers.println(answer);
                answers.flush();
              }
            });
      }
    }
    // A stream that is still open stays open at the namenode, as after a crash.
    Runtime.getRuntime().halt(0);
  }

  private String answer(String[] request) {
    try {
      String[] fields = new String[request.length - 2];
      for (int i = 0; i < fields.length; i++) {
        fields[i] = URLDecoder.decode(request[i + 2], StandardCharsets.UTF_8);
      }
      return line(request[0], "ok", execute(request[1], fields));
    } catch (Exception | Error e) {
      return line(request[0], "error", e.getClass().getName(), String.valueOf(e.getMessage()));
    }
  }

  private static String line(String id, String kind, String... fields) {
    StringBuilder line = new StringBuilder(id).append('\t').append(kind);
    for (String field : fields) {
      line.append('\t').append(URLEncoder.encode(field, StandardCharsets.UTF_8));
    }
    return line.toString();
  }

  private String[] execute(String verb, String[] f) throws Exception {
    switch (verb) {
      case "create":
        streams.put(f[1], user(f[0]).create(new Path(f[2]), false));
        return new String[0];
      case "append":
        FSDataOutputStream appended = user(f[0]).append(new Path(f[2]));
        streams.put(f[1], appended);
        return strings(appended.getPos());
      case "write":
        return strings(write(f[0], Long.parseLong(f[1]), Integer.parseInt(f[2])));
      case "hflush":
        stream(f[0]).hflush();
        return new String[0];
      case "hsync":
        stream(f[0]).hsync();
        return new String[0];
      case "close":
        FSDataOutputStream closed = streams.remove(f[0]);
        if (closed == null) {
          throw new IOException("no open stream " + f[0]);
        }
        closed.close();
        return new String[0];
      case "read":
        try (FSDataInputStream in = user(f[0]).open(new Path(f[1]), BUFFER_BYTES)) {
          return read(in, Long.parseLong(f[2]), 0, Long.MAX_VALUE);
        }
      case "pread":
        try (FSDataInputStream in = user(f[0]).open(new Path(f[1]), BUFFER_BYTES)) {
          in.seek(Long.parseLong(f[3]));
          return read(in, Long.parseLong(f[2]), Long.parseLong(f[3]), Long.parseLong(f[4]));
        }
      case "status":
        return strings(length(user(f[0]), new Path(f[1])));
      case "list":
        return Arrays.stream(user(f[0]).listStatus(new Path(f[1])))
            .map(FileStatus::getPath)
            .map(Path::getName)
            .toArray(String[]::new);
      case "rename":
        return strings(user(f[0]).rename(new Path(f[1]), new Path(f[2])));
      case "delete":
        return strings(user(f[0]).delete(new Path(f[1]), false));
      case "recover":
        return strings(user(f[0]).recoverLease(new Path(f[1])));
      case "closed":
        return strings(user(f[0]).isFileClosed(new Path(f[1])));
      case "mkdirs":
        return strings(user(f[0]).mkdirs(new Path(f[1])));
      default:
        throw new IllegalArgumentException("unknown request " + verb);
    }
  }

  private static String[] strings(Object value) {
    return new String[] {String.valueOf(value)};
  }

  private DistributedFileSystem user(String name) {
    return users.computeIfAbsent(
        name,
        n -> {
          try {
            return (DistributedFileSystem) FileSystem.newInstance(configuration);
          } catch (IOException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  private FSDataOutputStream stream(String handle) throws IOException {
    FSDataOutputStream stream = streams.get(handle);
    if (stream == null) {
      throw new IOException("no open stream " + handle);
    }
    return stream;
  }

  private static long length(FileSystem files, Path path) throws IOException {
    try {
      return files.getFileStatus(path).getLen();
    } catch (FileNotFoundException e) {
      return -1;
    }
  }

  private long write(String handle, long seed, int count) throws IOException {
    FSDataOutputStream out = stream(handle);
    byte[] bytes = new byte[count];
    fill(bytes, count, seed, out.getPos());
    out.write(bytes);
    return out.getPos();
  }

  /** Reads and compares; the position of the first wrong byte, or -1, is the second value. */
  private static String[] read(FSDataInputStream in, long seed, long from, long most)
      throws IOException {
    byte[] found = new byte[BUFFER_BYTES];
    byte[] wanted = new byte[BUFFER_BYTES];
    long done = 0;
    while (done < most) {
      int n = in.read(found, 0, (int) Math.min(found.length, most - done));
      if (n < 0) {
        break;
      }
      fill(wanted, n, seed, from + done);
      int mismatch = Arrays.mismatch(found, 0, n, wanted, 0, n);
      if (mismatch >= 0) {
        return new String[] {
          Long.toString(done + n),
          Long.toString(from + done + mismatch),
          excerpt(found, mismatch, n)
        };
      }
      done += n;
    }
    return new String[] {Long.toString(done), "-1"};
  }

  private static String excerpt(byte[] bytes, int from, int end) {
    StringBuilder text = new StringBuilder();
    for (int i = from; i < Math.min(end, from + 16); i++) {
      text.append(String.format("%02x", bytes[i]));
    }
    return text.toString();
  }

  /** The content of the file with this seed from an offset on. */
  private static void fill(byte[] bytes, int count, long seed, long offset) {
    long word = 0;
    for (int i = 0; i < count; i++) {
      long at = offset + i;
      if (i == 0 || (at & 7) == 0) {
        word = mix(seed + (at >>> 3));
      }
      bytes[i] = (byte) (word >>> (8 * (at & 7)));
    }
  }

  /** The finalizer of SplitMix64. */
  private static long mix(long value) {
    long z = value * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
