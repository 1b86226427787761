package io.ebbfs.ignite;

import org.apache.ignite.IgniteLogger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes what Ignite logs to the log of the process. Its information is our detail. */
final class IgniteLog implements IgniteLogger {
  private final Logger log;

  IgniteLog() {
    this(LoggerFactory.getLogger("org.apache.ignite"));
  }

  private IgniteLog(Logger log) {
    this.log = log;
  }

  @Override
  public IgniteLogger getLogger(Object category) {
    return category == null
        ? this
        : new IgniteLog(
            LoggerFactory.getLogger(
                category instanceof Class<?> type ? type.getName() : category.toString()));
  }

  @Override
  public void trace(String message) {
    log.trace(message);
  }

  @Override
  public void debug(String message) {
    log.trace(message);
  }

  @Override
  public void info(String message) {
    log.debug(message);
  }

  @Override
  public void warning(String message, Throwable cause) {
    log.warn(message, cause);
  }

  @Override
  public void error(String message, Throwable cause) {
    log.error(message, cause);
  }

  @Override
  public boolean isTraceEnabled() {
    return log.isTraceEnabled();
  }

  @Override
  public boolean isDebugEnabled() {
    return log.isTraceEnabled();
  }

  @Override
  public boolean isInfoEnabled() {
    return log.isDebugEnabled();
  }

  @Override
  public boolean isQuiet() {
    return false;
  }

  @Override
  public String fileName() {
    return null;
  }
}
