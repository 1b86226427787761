package io.ebbfs.verify.system;

import io.ebbfs.namenode.NamenodeConfig;
import io.ebbfs.namenode.NamenodeServer;
import io.ebbfs.testbed.Build;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** A namenode in this process, and a chunk server with one disk as a process of its own. */
record NamenodeAndChunkServer(NamenodeServer namenode, Process chunkServer, Path directory)
    implements AutoCloseable {
  /** Starts both, the chunk server with more options, and does not wait for it. */
  static NamenodeAndChunkServer start(Path directory, String... options) throws Exception {
    List<NamenodeConfig.Override> overrides =
        List.of(
            new NamenodeConfig.Override("data", "data", directory.resolve("namenode").toString()),
            new NamenodeConfig.Override("port", "port", "0"));
    NamenodeServer namenode =
        NamenodeServer.start(
            NamenodeConfig.of(Optional.empty(), overrides, Optional.empty()),
            Clock.systemUTC(),
            new Random(1));
    try {
      return new NamenodeAndChunkServer(
          namenode, launchChunkServer(namenode, directory, options), directory);
    } catch (Exception e) {
      namenode.close();
      throw e;
    }
  }

  private static Process launchChunkServer(
      NamenodeServer namenode, Path directory, String... options) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                Build.find().chunkServer().toString(),
                "--namenode=127.0.0.1:" + namenode.address().getPort(),
                "--data=" + chunks(directory),
                "--heartbeat-millis=300",
                "--ready-file=" + ready(directory)));
    command.addAll(List.of(options));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("chunkserver.log").toFile())
        .start();
  }

  private static Path chunks(Path directory) {
    return directory.resolve("chunks");
  }

  private static Path ready(Path directory) {
    return directory.resolve("ready");
  }

  int port() {
    return namenode.address().getPort();
  }

  /** The disk of the chunk server. */
  Path chunks() {
    return chunks(directory);
  }

  /** The chunk server writes this file once it serves. */
  Path ready() {
    return ready(directory);
  }

  @Override
  public void close() throws Exception {
    chunkServer.destroyForcibly().waitFor();
    namenode.close();
  }
}
