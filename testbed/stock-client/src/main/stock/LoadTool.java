import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * Users' threads on the stock HDFS client, each with a connection of its own, that load a namenode.
 * It runs with hadoop-client alone on the class path:
 *
 * <pre>java -cp TOOLS:HADOOP_CLIENT LoadTool CONNECTIONS SERVER_PID ROOT [NAME=VALUE ...]</pre>
 *
 * A line on standard input is a request, a line of JSON on standard output its answer:
 *
 * <pre>
 * prepare             creates the directories and files of the rows
 * run ROW SECONDS     measures a row: every thread does one operation after the other
 * remove              deletes what was created
 * </pre>
 *
 * The rows, the tree and the mix are those of the native load generator. It ends at the end of
 * standard input.
 */
public final class LoadTool {
  private static final int LEVELS = 4;
  private static final int FILES_PER_DIRECTORY = 16;
  private static final int LARGE_DIRECTORY_FILES = 1000;
  private static final int SMALL_FILE_BYTES = 1024;

  /** HDFS's least size of a block, so that many small files fit into what a disk promises. */
  private static final long SMALL_BLOCK_BYTES = 1 << 20;

  private static final int BUFFER_BYTES = 4096;
  private static final long TICK_MICROS = 10_000;

  /** Fields of /proc/PID/stat, counted from the one behind the name. */
  private static final int USER = 11;

  private static final int KERNEL = 12;

  /** One operation. */
  private interface Operation {
    void run(User user) throws Exception;
  }

  /** The tree and the connection of one thread. */
  private static final class User {
    final FileSystem files;
    final Random random;
    final String home;
    final int index;
    final List<String> directories = new ArrayList<>();
    final List<String> paths = new ArrayList<>();
    final List<String> mixDirectories = new ArrayList<>();
    List<String> own = new ArrayList<>();
    List<String> shared = new ArrayList<>();
    int names;

    User(FileSystem files, String root, int index) {
      this.files = files;
      this.random = new Random(index);
      this.index = index;
      this.home = root + "/" + name("client-", index);
      grow(home, 0, LEVELS, directories);
      grow(root + "/" + name("mixer-", index), 0, LEVELS - 1, mixDirectories);
      addFiles(directories, paths);
      addFiles(mixDirectories, own);
    }

    private static void grow(String directory, int level, int full, List<String> last) {
      if (level == LEVELS) {
        last.add(directory);
        return;
      }
      for (int i = 0; i < (level + full >= LEVELS ? 2 : 1); i++) {
        grow(directory + "/" + name("directory-", i), level + 1, full, last);
      }
    }

    private static void addFiles(List<String> directories, List<String> files) {
      for (String directory : directories) {
        for (int i = 0; i < FILES_PER_DIRECTORY; i++) {
          files.add(directory + "/" + name("file-", i));
        }
      }
    }

    String work(String word, int run) {
      return String.join(
          "/", home, name(word, run), name("a", 0), name("b", 0), name("c", 0), name("n", names++));
    }

    <T> T any(List<T> list) {
      return list.get(random.nextInt(list.size()));
    }
  }

  private final List<User> users = new ArrayList<>();
  private final Queue<String> created = new ConcurrentLinkedQueue<>();
  private final String serverPid;
  private final String root;
  private final String largeDirectory;
  private final String sharedDirectory;
  private final ExecutorService threads;
  private boolean sharedPrepared;
  private boolean mixPrepared;
  private int runs;

  private LoadTool(int connections, String serverPid, String root, Configuration configuration)
      throws Exception {
    this.serverPid = serverPid;
    this.root = root;
    this.largeDirectory = root + "/" + name("large-", 0);
    this.sharedDirectory = root + "/" + name("shared-", 0);
    this.threads = Executors.newFixedThreadPool(connections);
    for (int i = 0; i < connections; i++) {
      users.add(new User(connect(configuration), root, i));
    }
  }

  /** Users that are not the same object have connections of their own, also with the same name. */
  private static FileSystem connect(Configuration configuration) throws Exception {
    return UserGroupInformation.createRemoteUser(System.getProperty("user.name"))
        .doAs((PrivilegedExceptionAction<FileSystem>) () -> FileSystem.newInstance(configuration));
  }

  public static void main(String[] arguments) throws Exception {
    Configuration configuration = new Configuration();
    for (String setting : Arrays.asList(arguments).subList(3, arguments.length)) {
      int equals = setting.indexOf('=');
      configuration.set(setting.substring(0, equals), setting.substring(equals + 1));
    }
    LoadTool tool =
        new LoadTool(Integer.parseInt(arguments[0]), arguments[1], arguments[2], configuration);
    try (BufferedReader requests =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = requests.readLine(); line != null; line = requests.readLine()) {
        System.out.println(tool.answer(line.split(" ")));
        System.out.flush();
      }
    }
    // Threads of the clients must not keep a process alive that has nothing to do.
    System.exit(0);
  }

  private String answer(String[] request) {
    try {
      return switch (request[0]) {
        case "prepare" -> prepare();
        case "run" -> run(request[1], Double.parseDouble(request[2]));
        case "remove" -> remove();
        default -> throw new IllegalArgumentException("no request '" + request[0] + "'");
      };
    } catch (Exception e) {
      return "{\"error\":\"" + quoted(e.toString()) + "\"}";
    }
  }

  private static String quoted(String text) {
    return text.lines().findFirst().orElse("").replace("\\", "\\\\").replace("\"", "\\\"");
  }

  private String prepare() throws Exception {
    each(
        i ->
            () -> {
              User user = users.get(i);
              for (String path : user.paths) {
                user.files.create(new Path(path)).close();
              }
              int width = users.size();
              for (int f = i; f < LARGE_DIRECTORY_FILES; f += width) {
                user.files.create(new Path(largeDirectory, name("file-", f))).close();
              }
              return null;
            });
    return "{\"ok\":true}";
  }

  private void prepareMix(boolean shared) throws Exception {
    if (!mixPrepared) {
      mixPrepared = true;
      each(i -> () -> createAll(users.get(i), users.get(i).own));
    }
    if (shared && !sharedPrepared) {
      sharedPrepared = true;
      for (int i = 0; i < users.size(); i++) {
        for (int f = 0; f < users.get(i).own.size(); f++) {
          users.get(i).shared.add(sharedDirectory + "/" + name("old-" + i + "-", f));
        }
      }
      each(i -> () -> createAll(users.get(i), users.get(i).shared));
    }
  }

  private static Void createAll(User user, List<String> paths) throws IOException {
    for (String path : paths) {
      user.files.create(new Path(path)).close();
    }
    return null;
  }

  private void each(IntFunction<Callable<Void>> task) throws Exception {
    List<Future<Void>> running = new ArrayList<>();
    for (int i = 0; i < users.size(); i++) {
      running.add(threads.submit(task.apply(i)));
    }
    for (Future<Void> one : running) {
      one.get();
    }
  }

  private String remove() throws IOException {
    created.clear();
    users.get(0).files.delete(new Path(root), true);
    return "{\"ok\":true}";
  }

  // ---- rows

  private Operation operation(String row) throws Exception {
    int run = ++runs;
    switch (row) {
      case "mkdir":
        return user -> must(user.files.mkdirs(new Path(user.work("mkdir-", run))));
      case "create":
        return user -> create(user, user.work("create-", run), created);
      case "delete":
        return user -> {
          String path = created.poll();
          if (path == null) {
            throw new Exhausted();
          }
          must(user.files.delete(new Path(path), false));
        };
      case "stat":
        return user -> user.files.getFileStatus(new Path(user.any(user.paths)));
      case "statdir":
        return user -> user.files.getFileStatus(new Path(user.any(user.directories)));
      case "open":
        return user -> user.files.open(new Path(user.any(user.paths))).close();
      case "list16":
        return user ->
            must(
                user.files.listStatus(new Path(user.any(user.directories))).length
                    == FILES_PER_DIRECTORY);
      case "list1000":
        return user ->
            must(user.files.listStatus(new Path(largeDirectory)).length == LARGE_DIRECTORY_FILES);
      case "rename":
        return LoadTool::renameBackAndForth;
      case "setPermission":
        return user ->
            user.files.setPermission(
                new Path(user.any(user.paths)),
                new FsPermission((short) (user.random.nextBoolean() ? 0600 : 0644)));
      case "setReplication":
        return user ->
            must(
                user.files.setReplication(
                    new Path(user.any(user.paths)), (short) (user.random.nextBoolean() ? 2 : 3)));
      case "addBlock":
        return user -> write(user, user.work("write-", run));
      default:
        return mix(row, run);
    }
  }

  private static void renameBackAndForth(User user) throws IOException {
    int chosen = user.random.nextInt(user.paths.size());
    String from = user.paths.get(chosen);
    int name = from.lastIndexOf('/') + 1;
    String to =
        from.substring(0, name) + (from.charAt(name) == 'f' ? 'g' : 'f') + from.substring(name + 1);
    must(user.files.rename(new Path(from), new Path(to)));
    user.paths.set(chosen, to);
  }

  private static void create(User user, String path, Queue<String> to) throws IOException {
    user.files.create(new Path(path)).close();
    to.add(path);
  }

  private static void write(User user, String path) throws IOException {
    try (OutputStream out =
        user.files.create(new Path(path), true, BUFFER_BYTES, (short) 3, SMALL_BLOCK_BYTES)) {
      out.write(new byte[SMALL_FILE_BYTES]);
    }
  }

  private static void must(boolean condition) throws IOException {
    if (!condition) {
      throw new IOException("the answer is not what the operation must get");
    }
  }

  /** No operation of the row is left. */
  private static final class Exhausted extends Exception {}

  // ---- the mix

  private static final String[] KINDS = {
    "read",
    "statFile",
    "statDir",
    "listDir",
    "listFile",
    "create",
    "rename",
    "delete",
    "setReplication",
    "chownDir",
    "chmodFile",
    "chmodDir",
    "mkdir"
  };
  private static final double[] SPOTIFY = {
    68.73, 13.04, 3.96, 8.52, 0.49, 2.7, 1.3, 0.75, 0.14, 0.32, 0.02, 0.01, 0.02
  };
  private static final int CREATE = 5;
  private static final double ZIPF_EXPONENT = 0.99;
  private static final int LEAST_FILES = 4;

  private Operation mix(String row, int run) throws Exception {
    Map<String, Double> creates =
        Map.of(
            "spotify", 2.7,
            "spotify-zipf", 2.7,
            "spotify-shared", 2.7,
            "spotify-create5", 5.0,
            "spotify-create10", 10.0,
            "spotify-create20", 20.0);
    if (!creates.containsKey(row)) {
      throw new IllegalArgumentException("no row '" + row + "'");
    }
    boolean shared = row.equals("spotify-shared");
    boolean zipf = row.equals("spotify-zipf");
    prepareMix(shared);
    double[] shares = shares(creates.get(row));
    return user -> mixed(user, draw(shares, user.random), shared, zipf, run);
  }

  private static double[] shares(double createPercent) {
    double[] shares = SPOTIFY.clone();
    for (int i = 0; i < shares.length; i++) {
      shares[i] *= (100 - createPercent) / (100 - SPOTIFY[CREATE]);
    }
    shares[CREATE] = createPercent;
    return shares;
  }

  private static String draw(double[] shares, Random random) {
    double at = random.nextDouble() * Arrays.stream(shares).sum();
    int i = 0;
    while (i < shares.length - 1 && at >= shares[i]) {
      at -= shares[i++];
    }
    return KINDS[i];
  }

  /** By the continuous form of Zipf's law, which needs no table. */
  private static int zipf(int count, Random random) {
    double power = 1 - ZIPF_EXPONENT;
    double x = Math.pow(random.nextDouble() * (Math.pow(count + 1, power) - 1) + 1, 1 / power);
    return Math.min(count - 1, (int) x - 1);
  }

  private void mixed(User user, String kind, boolean shared, boolean zipf, int run)
      throws IOException {
    List<String> live = shared ? user.shared : user.own;
    int chosen = zipf ? zipf(live.size(), user.random) : user.random.nextInt(live.size());
    Path file = new Path(live.get(chosen));
    Path directory = new Path(user.any(user.mixDirectories));
    String fresh =
        (shared ? sharedDirectory : user.any(user.mixDirectories))
            + "/"
            + name("new-" + user.index + "-" + run + "-", user.names++);
    switch (kind) {
      case "read" -> user.files.open(file).close();
      case "statFile" -> user.files.getFileStatus(file);
      case "statDir" -> user.files.getFileStatus(directory);
      case "listDir" -> user.files.listStatus(directory);
      case "listFile" -> user.files.listStatus(file);
      case "rename" -> {
        Path to =
            new Path(file.getParent(), name("moved-" + user.index + "-" + run + "-", user.names++));
        must(user.files.rename(file, to));
        live.set(chosen, to.toUri().getPath());
      }
      case "delete" -> {
        if (live.size() > LEAST_FILES) {
          must(user.files.delete(file, false));
          live.set(chosen, live.get(live.size() - 1));
          live.remove(live.size() - 1);
        }
      }
      case "setReplication" ->
          must(user.files.setReplication(file, (short) (user.random.nextBoolean() ? 2 : 3)));
      case "chownDir" -> {
        String owner = user.random.nextBoolean() ? "alice" : "bob";
        user.files.setOwner(directory, owner, owner);
      }
      case "chmodFile" -> user.files.setPermission(file, new FsPermission((short) 0640));
      case "chmodDir" -> user.files.setPermission(directory, new FsPermission((short) 0750));
      case "mkdir" -> must(user.files.mkdirs(new Path(fresh)));
      default -> {
        user.files.create(new Path(fresh)).close();
        live.add(fresh);
      }
    }
  }

  // ---- measuring

  /** Latencies in nanoseconds, in buckets that are at most 1/32 wider than their lower end. */
  private static final class Histogram {
    private final long[] buckets = new long[39 * 32];
    private long count;

    void record(long nanos) {
      buckets[bucket(nanos)]++;
      count++;
    }

    void add(Histogram other) {
      for (int i = 0; i < buckets.length; i++) {
        buckets[i] += other.buckets[i];
      }
      count += other.count;
    }

    private static int bucket(long nanos) {
      long capped = Math.min(nanos, (1L << 42) - 1);
      if (capped < 32) {
        return (int) capped;
      }
      int shift = 64 - Long.numberOfLeadingZeros(capped) - 6;
      return (shift + 1) * 32 + (int) ((capped >> shift) - 32);
    }

    double millis(double quantile) {
      long rank = Math.max(1, (long) Math.ceil(quantile * count));
      long seen = 0;
      for (int i = 0; i < buckets.length; i++) {
        seen += buckets[i];
        if (seen >= rank) {
          return (i < 32 ? i : ((i % 32 + 33L) << (i / 32 - 1)) - 1) / 1e6;
        }
      }
      return 0;
    }
  }

  /** What one thread has done within the window. */
  private static final class Tally {
    final Histogram latencies = new Histogram();
    long failures;
    String firstFailure = "";
  }

  private String run(String row, double seconds) throws Exception {
    if (row.equals("delete") && created.isEmpty()) {
      measure(operation("create"), seconds);
    }
    return measure(operation(row), seconds);
  }

  private String measure(Operation operation, double seconds) throws Exception {
    List<Tally> tallies = new ArrayList<>();
    users.forEach(user -> tallies.add(new Tally()));
    CountDownLatch exhausted = new CountDownLatch(1);
    long clientBefore = cpuMicros("self", USER, KERNEL);
    long serverBefore = cpuMicros(serverPid, USER, KERNEL);
    long kernelBefore = cpuMicros(serverPid, KERNEL);
    long start = System.nanoTime();
    long end = start + (long) (seconds * 1e9);
    List<Future<?>> running = new ArrayList<>();
    for (int i = 0; i < users.size(); i++) {
      User user = users.get(i);
      Tally tally = tallies.get(i);
      running.add(threads.submit(() -> loop(operation, user, tally, end, exhausted)));
    }
    exhausted.await(end - System.nanoTime(), TimeUnit.NANOSECONDS);
    double took = (System.nanoTime() - start) / 1e9;
    long server = cpuMicros(serverPid, USER, KERNEL) - serverBefore;
    long kernel = cpuMicros(serverPid, KERNEL) - kernelBefore;
    long client = cpuMicros("self", USER, KERNEL) - clientBefore;
    for (Future<?> one : running) {
      one.get();
    }
    return json(tallies, took, server, kernel, client);
  }

  private static void loop(
      Operation operation, User user, Tally tally, long end, CountDownLatch exhausted) {
    while (true) {
      long begun = System.nanoTime();
      if (begun >= end || exhausted.getCount() == 0) {
        return;
      }
      try {
        operation.run(user);
        long now = System.nanoTime();
        if (now <= end) {
          tally.latencies.record(now - begun);
        }
      } catch (Exhausted e) {
        exhausted.countDown();
        return;
      } catch (Exception e) {
        if (tally.failures++ == 0) {
          tally.firstFailure = e.toString();
        }
      }
    }
  }

  private static String json(
      List<Tally> tallies, double took, long server, long kernel, long client) {
    Histogram all = new Histogram();
    tallies.forEach(tally -> all.add(tally.latencies));
    long failures = tallies.stream().mapToLong(tally -> tally.failures).sum();
    String first =
        tallies.stream().map(t -> t.firstFailure).filter(t -> !t.isEmpty()).findFirst().orElse("");
    return String.format(
        Locale.ROOT,
        "{\"operations\":%d,\"failures\":%d,\"firstFailure\":\"%s\",\"seconds\":%.6f,"
            + "\"serverCpuMicros\":%d,\"serverKernelMicros\":%d,\"clientCpuMicros\":%d,"
            + "\"p50Millis\":%.4f,\"p99Millis\":%.4f,\"p999Millis\":%.4f}",
        all.count,
        failures,
        quoted(first),
        took,
        server,
        kernel,
        client,
        all.millis(0.5),
        all.millis(0.99),
        all.millis(0.999));
  }

  /** Times of all threads of a process; a tick of the kernel is 10 ms. */
  private static long cpuMicros(String pid, int... times) throws IOException {
    String stat =
        Files.readString(java.nio.file.Path.of("/proc", pid, "stat"), StandardCharsets.ISO_8859_1);
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return Arrays.stream(times).mapToLong(i -> Long.parseLong(fields[i])).sum() * TICK_MICROS;
  }

  /** A name of 34 characters. */
  private static String name(String word, long number) {
    String digits = Long.toString(number);
    return word + "0".repeat(Math.max(0, 34 - word.length() - digits.length())) + digits;
  }
}
