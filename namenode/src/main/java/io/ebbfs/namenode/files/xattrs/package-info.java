/**
 * Extended attributes of files and directories, as HDFS has them, and EbbFS's own ones below {@code
 * user.ebbfs.}: the pin, which a user sets, and the coding state, which is only read.
 */
package io.ebbfs.namenode.files.xattrs;
