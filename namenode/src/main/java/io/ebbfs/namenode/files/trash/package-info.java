/**
 * The trash of users: when it is emptied ({@link io.ebbfs.namenode.files.trash.TrashEmptier}), what
 * is done with each entry ({@link io.ebbfs.namenode.files.trash.TrashPass}), and how checkpoints
 * are named ({@link io.ebbfs.namenode.files.trash.CheckpointNames}).
 */
package io.ebbfs.namenode.files.trash;
