package io.ebbfs.manager;

import java.nio.file.Path;

/**
 * Where a manager lives.
 *
 * @param confDirectory holds manager.yaml and policies.yaml
 * @param dataDirectory for its RocksDB
 * @param kafka bootstrap servers, host:port
 * @param httpPort of 127.0.0.1; 0 lets the kernel choose
 */
public record ManagerOptions(Path confDirectory, Path dataDirectory, String kafka, int httpPort) {}
