package io.ebbfs.common.config;

/**
 * A problem of a configuration file, for example "policies.yaml:7: unknown key 'pathes'; did you
 * mean 'paths'?". Immutable.
 *
 * @param file the name of the file, without its directory
 * @param line of the problem, from 1; 0 for the whole file
 * @param message what is wrong
 * @param remedy what to do
 */
public record ConfigProblem(String file, int line, String message, String remedy) {
  @Override
  public String toString() {
    return file + (line > 0 ? ":" + line : "") + ": " + message + "; " + remedy;
  }
}
