/**
 * Snapshots: who may create them ({@link io.ebbfs.namenode.files.snapshots.SnapshotService}), how
 * two of them differ ({@link io.ebbfs.namenode.files.snapshots.SnapshotDiff}), and what goes when
 * one is deleted ({@link io.ebbfs.namenode.files.snapshots.SnapshotCleaner}).
 */
package io.ebbfs.namenode.files.snapshots;
