package io.ebbfs.manager.config;

import java.nio.file.Path;

/**
 * The directories and addresses of a manager.
 *
 * @param confDirectory holds manager.yaml and policies.yaml
 * @param dataDirectory holds the RocksDB of the manager
 * @param namenode where clients reach the namenode, host:port
 * @param kafka bootstrap servers, host:port
 * @param httpHost the address that the API listens at; the API has no authentication
 * @param httpPort 0 lets the kernel choose
 */
public record ManagerOptions(
    Path confDirectory,
    Path dataDirectory,
    String namenode,
    String kafka,
    String httpHost,
    int httpPort) {}
