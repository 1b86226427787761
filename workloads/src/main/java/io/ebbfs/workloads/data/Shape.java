package io.ebbfs.workloads.data;

/**
 * The size of both systems.
 *
 * @param servers of blocks
 * @param disks directories of each server
 * @param blockBytes block size of the files
 * @param rate of the links of the servers and of the measuring clients; null for loopback
 */
record Shape(int servers, int disks, long blockBytes, String rate) {}
