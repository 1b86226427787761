package io.ebbfs.workloads.data;

/**
 * The size of both systems.
 *
 * @param servers of blocks
 * @param disks directories of each server
 * @param blockBytes block size of the files
 */
record Shape(int servers, int disks, long blockBytes) {}
