package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.process.Launcher;
import io.ebbfs.testbed.process.ProcessId;
import io.ebbfs.testbed.process.ServerLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A namenode of EbbFS with the settings that suit production. Not thread-safe. */
final class EbbfsUnderTest implements NamenodeUnderTest {
  private static final String HOST = "127.0.0.1";
  private static final String NAMENODE = "namenode";
  private static final long START_MILLIS = 300_000;
  private static final long END_MILLIS = 30_000;
  private static final int LOG_LINES = 15;

  private final Build build;
  private final Path directory;
  private final int heapMebibytes;
  private final Launcher launcher;
  private ProcessId namenode;
  private int port;

  private EbbfsUnderTest(Build build, Path directory, int heapMebibytes) {
    this.build = build;
    this.directory = directory;
    this.heapMebibytes = heapMebibytes;
    this.launcher = new Launcher(directory);
  }

  static EbbfsUnderTest start(Build build, Path directory, int heapMebibytes)
      throws ClusterException, IOException, InterruptedException {
    Files.createDirectories(directory);
    EbbfsUnderTest ebbfs = new EbbfsUnderTest(build, directory, heapMebibytes);
    ebbfs.launchNamenode();
    ebbfs.awaitNamenode();
    return ebbfs;
  }

  private Path readyFile() {
    return directory.resolve("ready");
  }

  private ServerLog log() {
    return new ServerLog(directory.resolve("logs").resolve(NAMENODE + ".log"));
  }

  void launchNamenode() throws ClusterException, IOException {
    Files.deleteIfExists(readyFile());
    List<String> command = new ArrayList<>(List.of(Launcher.java()));
    command.addAll(NamenodeJvm.flags(heapMebibytes));
    command.addAll(
        List.of(
            "-Djava.net.preferIPv4Stack=true",
            "-cp",
            build.classPath("cli"),
            "io.ebbfs.cli.Ebb",
            "namenode",
            "--data",
            directory.resolve("data").toString(),
            "--host",
            HOST,
            "--port",
            Integer.toString(port),
            "--ready-file",
            readyFile().toString()));
    namenode = launcher.start(NAMENODE, command, directory, log());
  }

  void awaitNamenode() throws ClusterException, IOException, InterruptedException {
    ConditionWaiter.within(START_MILLIS)
        .until(
            "the start of EbbFS's namenode",
            () -> {
              if (!namenode.isAlive()) {
                throw new ClusterException(
                    "EbbFS's namenode has ended; its log ends with" + log().tail(LOG_LINES));
              }
              return Files.exists(readyFile()) ? null : readyFile() + " is not there yet";
            });
    port = Integer.parseInt(Files.readString(readyFile()).strip());
  }

  @Override
  public String name() {
    return "ebbfs";
  }

  @Override
  public String host() {
    return HOST;
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public long pid() {
    return namenode.pid();
  }

  @Override
  public void close() throws IOException, InterruptedException {
    for (ProcessId process : launcher.running()) {
      process.signal(true);
    }
    for (ProcessId process : launcher.running()) {
      process.awaitEnd(END_MILLIS);
    }
  }
}
