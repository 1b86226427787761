/** Access control lists of files and directories, as HDFS has them. */
package io.ebbfs.namenode.files.acls;
