package io.ebbfs.ignite;

import java.io.Serializable;
import java.util.UUID;
import org.apache.ignite.cluster.ClusterNode;
import org.apache.ignite.internal.GridKernalContext;
import org.apache.ignite.internal.GridKernalContextImpl;
import org.apache.ignite.internal.IgniteEx;
import org.apache.ignite.internal.processors.query.NoOpQueryEngine;
import org.apache.ignite.plugin.CachePluginContext;
import org.apache.ignite.plugin.CachePluginProvider;
import org.apache.ignite.plugin.ExtensionRegistry;
import org.apache.ignite.plugin.IgnitePlugin;
import org.apache.ignite.plugin.PluginConfiguration;
import org.apache.ignite.plugin.PluginContext;
import org.apache.ignite.plugin.PluginProvider;

/**
 * Switches on the sorted indexes of ignite-core. The core has them, but maintains them only if some
 * engine for SQL is there. The store needs ordered scans and no SQL, so this plugin registers the
 * engine of the core that answers nothing.
 */
final class SortedIndexPlugin implements PluginProvider<PluginConfiguration> {
  private static final IgnitePlugin PLUGIN = new IgnitePlugin() {};

  @Override
  public String name() {
    return "ebbfs-sorted-index";
  }

  @Override
  public String version() {
    return "1";
  }

  @Override
  public String copyright() {
    return "";
  }

  @Override
  @SuppressWarnings("unchecked") // the interface leaves the type to the caller
  public <T extends IgnitePlugin> T plugin() {
    return (T) PLUGIN;
  }

  @Override
  public void initExtensions(PluginContext context, ExtensionRegistry registry) {
    GridKernalContext kernal = ((IgniteEx) context.grid()).context();
    ((GridKernalContextImpl) kernal).add(new NoOpQueryEngine(kernal));
  }

  @Override
  public <T> T createComponent(PluginContext context, Class<T> type) {
    return null;
  }

  @Override
  @SuppressWarnings("rawtypes") // as the interface declares it
  public CachePluginProvider createCacheProvider(CachePluginContext context) {
    return null;
  }

  @Override
  public void start(PluginContext context) {}

  @Override
  public void stop(boolean cancel) {}

  @Override
  public void onIgniteStart() {}

  @Override
  public void onIgniteStop(boolean cancel) {}

  @Override
  public Serializable provideDiscoveryData(UUID node) {
    return null;
  }

  @Override
  public void receiveDiscoveryData(UUID node, Serializable data) {}

  @Override
  public void validateNewNode(ClusterNode node) {}
}
