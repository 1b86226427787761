/** The calls of clients that set, unset and read storage policies. */
package io.ebbfs.namenode.files.policies;
