/**
 * Reads the YAML files of the configuration: {@link io.ebbfs.settings.YamlFile} parses, {@link
 * io.ebbfs.settings.Section} answers key by key, and all that is wrong is reported at once with
 * file, line and the nearest valid key.
 */
package io.ebbfs.settings;
