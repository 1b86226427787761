package io.ebbfs.namenode.tasks.lifecycle;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.MetadataStore;
import java.time.Clock;

/** The parts of the namenode that every class needs which creates transitions. */
public record TransitionContext(
    CodeRegistry codes,
    MetadataStore store,
    IdGenerators ids,
    ClusterView cluster,
    TransitionLifecycle lifecycle,
    TransitionIndex index,
    Clock clock,
    TransitionSettings settings) {}
