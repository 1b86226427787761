/** Storage policies of HDFS: which policy holds for a file, and which types of disks it wants. */
package io.ebbfs.namenode.policies;
