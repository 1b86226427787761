/** The erasure coding policies of directories and files, which clients set and ask for. */
package io.ebbfs.namenode.files.erasure;
