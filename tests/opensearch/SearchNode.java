import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.Plugin;

/**
 * One OpenSearch node on loopback, on ports that the system gives. Usage: SearchNode HOME PLUGIN_CLASS...
 *
 * Says "listening on PORT" when it answers, and ends when its standard input does: with whoever started it, however that ended.
 */
public class SearchNode extends Node {
  SearchNode(Environment environment, Collection<Class<? extends Plugin>> plugins) {
    super(environment, plugins, true); // a Node of one's own skips the server's checks of the machine, which refuse root
  }

  public static void main(String[] args) throws Exception {
    Path home = Path.of(args[0]).toAbsolutePath();
    Files.createDirectories(home.resolve("config"));
    List<Class<? extends Plugin>> plugins = new ArrayList<>();
    for (int i = 1; i < args.length; i++) {
      plugins.add(Class.forName(args[i]).asSubclass(Plugin.class));
    }
    Settings settings =
        Settings.builder()
            .put("path.home", home.toString())
            .put("cluster.name", "test")
            .put("node.name", "test")
            .put("discovery.type", "single-node")
            .put("network.host", "127.0.0.1")
            .put("http.type", "netty4")
            .put("http.port", 0)
            .put("transport.type", "netty4")
            .put("transport.port", 0)
            .put("cluster.routing.allocation.disk.threshold_enabled", false) // a full disk makes indexes read-only
            .put("node.store.allow_mmap", false)
            .build();
    Environment environment =
        InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), home.resolve("config"), () -> "test");
    SearchNode node = new SearchNode(environment, plugins);
    node.start();
    HttpServerTransport http = node.injector().getInstance(HttpServerTransport.class);
    System.out.println("listening on " + http.boundAddress().publishAddress().getPort());
    while (System.in.read() >= 0) {}
    node.close();
    System.exit(0);
  }
}
