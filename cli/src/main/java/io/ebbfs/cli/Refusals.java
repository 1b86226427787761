package io.ebbfs.cli;

import io.ebbfs.cli.options.ServerProcess;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.NearestWord;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.verify.cluster.VerifyException;
import io.ebbfs.workloads.demo.DemoException;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** One message for a command that cannot be done, without a stack trace. */
final class Refusals {
  private static final String OPTION_WITHOUT_VALUE = "Missing required parameter for option";

  private static final String NO_COMMAND = "Missing required subcommand";

  private Refusals() {}

  /** Wrong words on the command line. */
  static int ofArguments(ParameterException problem, String[] arguments) {
    CommandLine command = problem.getCommandLine();
    PrintWriter err = command.getErr();
    err.println(prefix(command) + ": " + message(problem));
    String heading = "usage: ";
    err.print(heading + command.getHelp().synopsis(heading.length()));
    err.printf("'%s --help' says more.%n", command.getCommandSpec().qualifiedName());
    err.flush();
    return ExitCode.USAGE;
  }

  /** A command that could not do what it was told. */
  static int ofRun(Exception problem, CommandLine command, ParseResult parsed) {
    if (problem instanceof ParameterException wrong) {
      return ofArguments(wrong, new String[0]);
    }
    PrintWriter err = command.getErr();
    if (isForPeople(problem)) {
      err.println(prefix(command) + ": " + problem.getMessage());
    } else if (problem instanceof IOException) {
      // The message of some is only a path.
      boolean plain = problem.getClass() == IOException.class;
      err.println(prefix(command) + ": " + (plain ? problem.getMessage() : problem));
      err.flush();
      return codeOf((IOException) problem, command);
    } else if (problem instanceof InterruptedException) {
      err.println(prefix(command) + ": interrupted");
    } else {
      err.println(prefix(command) + ": this is a mistake in EbbFS");
      problem.printStackTrace(err);
      err.flush();
      return ExitCode.SOFTWARE;
    }
    err.flush();
    return ExitCode.USAGE;
  }

  /** A server process tells its supervisor whether another start may help. */
  private static int codeOf(IOException problem, CommandLine command) {
    boolean resource =
        command.getCommandSpec().userObject() instanceof ServerProcess
            && !(problem.getCause() instanceof ConfigException);
    return resource ? ServerProcess.EXIT_RESOURCE : ExitCode.USAGE;
  }

  /** Whether the message names what failed, the value and the remedy. */
  private static boolean isForPeople(Exception problem) {
    return problem instanceof ClusterException
        || problem instanceof ConfigException
        || problem instanceof DemoException
        || problem instanceof VerifyException;
  }

  private static String prefix(CommandLine command) {
    return command.getCommandSpec().userObject() instanceof ServerProcess server
        ? server.messagePrefix()
        : "error";
  }

  private static String message(ParameterException problem) {
    List<String> unknown = problem.getCommandLine().getUnmatchedArguments();
    if (problem instanceof UnmatchedArgumentException unmatched) {
      unknown = unmatched.getUnmatched();
    }
    if (!unknown.isEmpty()) {
      return unknown(problem.getCommandLine(), unknown.get(0));
    }
    if (problem instanceof MissingParameterException missing) {
      return missing(missing);
    }
    String text = problem.getMessage();
    if (text.equals(NO_COMMAND)) {
      return "a command is missing: choose from "
          + String.join(", ", problem.getCommandLine().getSubcommands().keySet());
    }
    // The parser's words for users of a library.
    return text.replaceFirst("^Invalid value", "invalid value")
        .replaceFirst("positional parameter at index [^(]*\\(([^)]*)\\)", "$1")
        .replaceFirst("^Error: ", "");
  }

  private static String unknown(CommandLine command, String word) {
    if (word.startsWith("-")) {
      return "unknown option " + word + nearestOption(command, word);
    }
    Collection<String> below = command.getSubcommands().keySet();
    return below.isEmpty()
        ? "'%s' is one word too many".formatted(word)
        : "unknown command '%s'%s".formatted(word, meant(NearestWord.to(word, below)));
  }

  private static String nearestOption(CommandLine command, String word) {
    List<String> names =
        command.getCommandSpec().options().stream()
            .filter(option -> !option.hidden())
            .map(option -> withoutDashes(option.longestName()))
            .toList();
    return meant(
        NearestWord.to(withoutDashes(word.split("=", 2)[0]), names).map(name -> "--" + name));
  }

  private static String withoutDashes(String option) {
    return option.replaceFirst("^--?", "");
  }

  private static String meant(Optional<String> nearest) {
    return nearest.map(name -> "; did you mean " + name + "?").orElse("");
  }

  private static String missing(MissingParameterException problem) {
    List<ArgSpec> missing = problem.getMissing();
    String names = missing.stream().map(Refusals::name).collect(Collectors.joining(", "));
    if (problem.getMessage().startsWith(OPTION_WITHOUT_VALUE)) {
      return names + " has no value";
    }
    return names + (missing.size() == 1 ? " is missing" : " are missing");
  }

  private static String name(ArgSpec argument) {
    return argument instanceof OptionSpec option ? option.longestName() : argument.paramLabel();
  }
}
