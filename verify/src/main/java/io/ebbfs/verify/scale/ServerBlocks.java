package io.ebbfs.verify.scale;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The blocks of each server, in a file for each: they would fill the memory that is measured. */
final class ServerBlocks implements AutoCloseable {
  private static final int BUFFER_BYTES = 16 << 10;

  private final Path directory;
  private final int disks;
  private final List<DataOutputStream> files = new ArrayList<>();

  ServerBlocks(Path directory, int servers, int disks) throws IOException {
    this.directory = Files.createDirectories(directory);
    this.disks = disks;
    for (int server = 0; server < servers; server++) {
      files.add(
          new DataOutputStream(
              new BufferedOutputStream(Files.newOutputStream(file(server)), BUFFER_BYTES)));
    }
  }

  private Path file(int server) {
    return directory.resolve("server-" + server);
  }

  /** Thread-safe. */
  void add(int server, int disk, long blockId) throws IOException {
    DataOutputStream file = files.get(server);
    synchronized (file) {
      file.writeByte(disk);
      file.writeLong(blockId);
    }
  }

  /** The blocks of a server in the order of their ids, by disk. To be called after a close. */
  List<List<Long>> read(int server) throws IOException {
    List<List<Long>> blocks = new ArrayList<>();
    for (int disk = 0; disk < disks; disk++) {
      blocks.add(new ArrayList<>());
    }
    try (DataInputStream in =
        new DataInputStream(new java.io.BufferedInputStream(Files.newInputStream(file(server))))) {
      while (true) {
        int disk;
        try {
          disk = in.readByte();
        } catch (EOFException e) {
          blocks.forEach(ids -> ids.sort(null));
          return blocks;
        }
        blocks.get(disk).add(in.readLong());
      }
    }
  }

  @Override
  public void close() throws IOException {
    for (DataOutputStream file : files) {
      file.close();
    }
  }
}
