/**
 * Reads the YAML files of the configuration: {@link io.ebbfs.common.config.YamlFile} parses, {@link
 * io.ebbfs.common.config.Section} gives the values key by key, and all problems are reported at
 * once with file, line and the nearest valid key.
 */
package io.ebbfs.common.config;
