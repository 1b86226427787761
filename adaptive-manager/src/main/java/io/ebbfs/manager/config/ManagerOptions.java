package io.ebbfs.manager.config;

import java.nio.file.Path;
import java.util.Optional;

/**
 * The directories and addresses of a manager.
 *
 * @param confDirectory holds manager.yaml and policies.yaml
 * @param dataDirectory holds the RocksDB of the manager
 * @param namenode where clients reach the namenode, host:port
 * @param kafka bootstrap servers, host:port
 * @param httpHost the address that the API listens at; whoever reaches it may read
 * @param httpPort 0 lets the kernel choose
 * @param apiToken the file with the token of requests that change something; empty: none is
 *     answered
 */
public record ManagerOptions(
    Path confDirectory,
    Path dataDirectory,
    String namenode,
    String kafka,
    String httpHost,
    int httpPort,
    Optional<Path> apiToken) {}
