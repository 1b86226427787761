package io.ebbfs.cli.server;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.cli.options.ServerProcess;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.namenode.NamenodeConfig;
import io.ebbfs.namenode.NamenodeServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A namenode process; SIGTERM stops it cleanly. */
@Command(
    name = "namenode",
    description = {
      "Runs a namenode until it is stopped by SIGTERM.",
      "The options change the values of the file; a later option wins over an earlier one."
    })
public final class NamenodeCommand implements Callable<Integer>, ServerProcess {
  @Mixin private HelpOption help;
  @Spec private CommandSpec command;

  @Option(
      names = "--conf",
      paramLabel = "FILE",
      description = "The configuration, such as conf/namenode.yaml.")
  private Path conf;

  @Option(
      names = "--ready-file",
      paramLabel = "FILE",
      description = "Gets the port once calls are answered.")
  private Path readyFile;

  /** Keys over the file, in the order of the command line. */
  private final List<NamenodeConfig.Override> overrides = new ArrayList<>();

  @Option(names = "--data", paramLabel = "DIR", description = "Where the metadata is kept.")
  void data(String value) {
    override("--data", "data", value);
  }

  @Option(names = "--host", paramLabel = "ADDRESS", description = "The address to listen at.")
  void host(String value) {
    override("--host", "host", value);
  }

  @Option(
      names = "--port",
      paramLabel = "N",
      description = "The port to listen at; 0 means any free one.")
  void port(String value) {
    override("--port", "port", value);
  }

  @Option(
      names = "--kafka",
      paramLabel = "HOST:PORT",
      description = "Brokers that get an event for each opened file.")
  void kafka(String value) {
    override("--kafka", "kafka", value);
  }

  @Option(names = "--codes", paramLabel = "FILE", description = "A file that defines codes.")
  void codes(String value) {
    override("--codes", "codes", value);
  }

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "A key of the configuration; may be given many times.")
  void set(String setting) {
    if (setting == null) {
      return;
    }
    int equals = setting.indexOf('=');
    if (equals <= 0) {
      throw new ParameterException(
          command.commandLine(), "--set %s is not KEY=VALUE".formatted(setting));
    }
    override("--set " + setting, setting.substring(0, equals), setting.substring(equals + 1));
  }

  private void override(String argument, String key, String value) {
    if (value != null) {
      overrides.add(new NamenodeConfig.Override(argument, key, value));
    }
  }

  @Override
  public String messagePrefix() {
    return "namenode";
  }

  /** What the command line and its file ask for. */
  NamenodeConfig config() throws ConfigException {
    return NamenodeConfig.of(Optional.ofNullable(conf), overrides, Optional.ofNullable(readyFile));
  }

  @Override
  public Integer call() throws ConfigException, IOException, InterruptedException {
    ServerLogging.use("namenode-log4j.properties");
    NamenodeConfig config = config();
    NamenodeServer server = NamenodeServer.start(config, Clock.systemUTC(), new SecureRandom());
    Runtime.getRuntime().addShutdownHook(new Thread(server::close, "stop"));
    if (config.readyFile() != null) {
      writeReady(config.readyFile(), server.address().getPort());
    }
    new CountDownLatch(1).await();
    return 0;
  }

  /** The file appears at once and whole, so that whoever waits for it can read it. */
  private static void writeReady(Path file, int port) throws IOException {
    Path temporary = file.resolveSibling(file.getFileName() + ".tmp");
    Files.writeString(temporary, port + "\n", StandardCharsets.UTF_8);
    Files.move(
        temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
