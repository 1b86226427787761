package io.ebbfs.namenode.store;

import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/** A row as a scan returns it. */
public record Row<V extends MessageLite>(Key key, V value) {}
