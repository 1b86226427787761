package io.ebbfs.cli.server;

/** Where the messages of a server process go. */
final class ServerLogging {
  private static final String PROPERTY = "log4j.configuration";

  private ServerLogging() {}

  /** Uses this resource unless the property names another file. Call it before any log message. */
  static void use(String resource) {
    if (System.getProperty(PROPERTY) == null) {
      System.setProperty(PROPERTY, resource);
    }
  }
}
