/**
 * What HDFS says about its erasure coding policies: their layout, and which of them are enabled.
 */
package io.ebbfs.namenode.erasure;
