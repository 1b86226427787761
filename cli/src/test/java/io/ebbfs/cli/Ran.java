package io.ebbfs.cli;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * A command that ran in this process.
 *
 * @param code the exit code
 * @param out what it printed
 * @param err what it said went wrong
 */
record Ran(int code, String out, String err) {
  static Ran ebb(String... words) {
    PrintStream outBefore = System.out;
    PrintStream errBefore = System.err;
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
    int code;
    try {
      code = Ebb.commandLine().execute(words);
    } finally {
      System.setOut(outBefore);
      System.setErr(errBefore);
    }
    return new Ran(
        code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  /** What a refused command says; nothing else may have been printed. */
  static String refused(String... words) {
    Ran ran = ebb(words);
    if (ran.code != 2 || !ran.out.isEmpty() || ran.err.contains("\tat ")) {
      throw new AssertionError("not refused with one message: " + ran);
    }
    return ran.err;
  }
}
