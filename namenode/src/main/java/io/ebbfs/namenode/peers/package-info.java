/**
 * What makes a namenode serve beside the one that leads: it forwards the calls that need what only
 * the leader knows, and takes over the leader's view of the chunk servers.
 */
package io.ebbfs.namenode.peers;
