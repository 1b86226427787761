package io.ebbfs.namenode.rpc.client;

import java.io.IOException;
import java.nio.file.Path;

/** Takes a backup of the metadata. Thread-safe. */
@FunctionalInterface
public interface BackupTaker {
  /** Takes a backup now; returns its directory. */
  Path take() throws IOException;
}
