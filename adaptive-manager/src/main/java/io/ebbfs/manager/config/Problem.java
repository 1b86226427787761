package io.ebbfs.manager.config;

/** One thing wrong in a configuration file. Lines count from 1; 0 means the whole file. */
public record Problem(String file, int line, String message, String remedy) {
  @Override
  public String toString() {
    return file + (line > 0 ? ":" + line : "") + ": " + message + "; " + remedy;
  }
}
