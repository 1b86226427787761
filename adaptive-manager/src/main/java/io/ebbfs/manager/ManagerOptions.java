package io.ebbfs.manager;

import java.nio.file.Path;

/**
 * Where a manager lives.
 *
 * @param confDirectory holds manager.yaml and policies.yaml
 * @param dataDirectory for its RocksDB
 * @param kafka bootstrap servers, host:port
 * @param httpHost the address that the API listens at; it has no authentication of its own
 * @param httpPort 0 lets the kernel choose
 */
public record ManagerOptions(
    Path confDirectory, Path dataDirectory, String kafka, String httpHost, int httpPort) {}
