package io.ebbfs.cli.server;

import io.ebbfs.protocol.rpc.NamenodeAddresses;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The options of a control plane.
 *
 * @param conf the directory with manager.yaml, policies.yaml and raid-node.yaml
 * @param only the part that runs; empty for both
 * @param kafka bootstrap servers, host:port
 * @param httpHost where the API listens
 * @param httpPort 0 lets the kernel choose
 * @param data for the state of the manager and of the raid-node
 * @param serviceKey the file with the key of the cluster's services; null for none
 * @param apiToken the file with the token of API requests that change something; null for none
 * @param readyFile gets the API's address once everything runs; null for none
 */
record ControlPlaneOptions(
    Path conf,
    Optional<ControlPart> only,
    NamenodeAddresses namenodes,
    String kafka,
    String httpHost,
    int httpPort,
    Path data,
    Path serviceKey,
    Path apiToken,
    Path readyFile) {
  /** Whether this process runs the part. */
  boolean runs(ControlPart part) {
    return only.isEmpty() || only.get() == part;
  }
}
