// A server by Jetty: HTTP/1.1 and HTTP/2 with prior knowledge on one port, and both over TLS, chosen by ALPN, on another.
// Arguments: the certificate and its key, PEM. It prints `listening on ADDRESS:PORT`, and ends when its stdin does.
//
//   GET  /                ok
//   GET  /body?bytes=N    N bytes
//   GET  /status?code=N   that status
//   POST /upload          the length of the body and its SHA-256, as JSON
//   GET  /socket          a WebSocket that returns every message (RFC 6455, and RFC 8441 over HTTP/2)
//   GET  /stats           tls_port, connections, and requests, uploaded_bytes, sockets, and messages by version of HTTP

import java.io.ByteArrayInputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.server.handler.ContextHandler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Fields;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.websocket.api.Session;
import org.eclipse.jetty.websocket.server.WebSocketUpgradeHandler;

public class Server {
    private static final Map<String, AtomicLong> COUNTS = new ConcurrentHashMap<>();
    private static final Set<String> CONNECTIONS = ConcurrentHashMap.newKeySet();

    private static void add(String name, long number) {
        COUNTS.computeIfAbsent(name, key -> new AtomicLong()).addAndGet(number);
    }

    public static void main(String[] args) throws Exception {
        var server = new org.eclipse.jetty.server.Server();
        var configuration = new HttpConfiguration();
        var plain = new ServerConnector(
                server, new HttpConnectionFactory(configuration), new HTTP2CServerConnectionFactory(configuration));
        var secured = new HttpConfiguration();
        // A client may use any of the names of the certificate.
        secured.addCustomizer(new SecureRequestCustomizer(false));
        var alpn = new ALPNServerConnectionFactory();
        alpn.setDefaultProtocol("http/1.1");
        var tls = new ServerConnector(
                server,
                new SslConnectionFactory(context(args[0], args[1]), alpn.getProtocol()),
                alpn,
                new HTTP2ServerConnectionFactory(secured),
                new HttpConnectionFactory(secured));
        for (var connector : new ServerConnector[] {plain, tls}) {
            connector.setHost("127.0.0.1");
            server.addConnector(connector);
        }
        var root = new ContextHandler("/");
        var sockets = WebSocketUpgradeHandler.from(server, root, container -> {
            container.addMapping("/socket", (request, response, callback) -> new Echo(version(request)));
        });
        sockets.setHandler(new Application(tls));
        root.setHandler(sockets);
        server.setHandler(root);
        server.start();
        System.out.println("listening on 127.0.0.1:" + plain.getLocalPort());
        while (System.in.read() >= 0) {}
        System.exit(0);
    }

    private static SslContextFactory.Server context(String certificate, String key) throws Exception {
        var pem = Files.readString(Path.of(key)).replaceAll("-----[A-Z ]+-----|\\s", "");
        var secret = KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem)));
        var factory = CertificateFactory.getInstance("X.509");
        var chain = factory.generateCertificates(new ByteArrayInputStream(Files.readAllBytes(Path.of(certificate))));
        var store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("server", secret, new char[0], chain.toArray(new Certificate[0]));
        var made = new SslContextFactory.Server();
        made.setKeyStore(store);
        made.setKeyStorePassword("");
        return made;
    }

    private static String version(Request request) {
        return request.getConnectionMetaData().getHttpVersion().asString();
    }

    private static class Application extends Handler.Abstract {
        private final ServerConnector tls;

        Application(ServerConnector tls) {
            this.tls = tls;
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) throws Exception {
            var path = Request.getPathInContext(request);
            if (path.equals("/stats")) {
                var all = new TreeMap<String, Long>();
                COUNTS.forEach((name, count) -> all.put(name, count.get()));
                all.put("tls_port", (long) tls.getLocalPort());
                all.put("connections", (long) CONNECTIONS.size());
                response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json");
                var pairs = all.entrySet().stream().map(one -> "\"" + one.getKey() + "\":" + one.getValue());
                text(response, "{" + String.join(",", pairs.toList()) + "}", callback);
                return true;
            }
            CONNECTIONS.add(request.getConnectionMetaData().getId());
            add("requests " + version(request), 1);
            Fields query = Request.extractQueryParameters(request);
            switch (path) {
                case "/" -> text(response, "ok", callback);
                case "/body" -> {
                    var bytes = new byte[Integer.parseInt(query.getValue("bytes"))];
                    java.util.Arrays.fill(bytes, (byte) 'x');
                    response.write(true, ByteBuffer.wrap(bytes), callback);
                }
                case "/status" -> {
                    response.setStatus(Integer.parseInt(query.getValue("code")));
                    callback.succeeded();
                }
                case "/upload" -> {
                    var digest = MessageDigest.getInstance("SHA-256");
                    var body = Content.Source.asByteBuffer(request);
                    add("uploaded_bytes " + version(request), body.remaining());
                    var length = body.remaining();
                    digest.update(body);
                    var hash = HexFormat.of().formatHex(digest.digest());
                    text(response, "{\"bytes\":" + length + ",\"sha256\":\"" + hash + "\"}", callback);
                }
                default -> {
                    response.setStatus(404);
                    callback.succeeded();
                }
            }
            return true;
        }

        private static void text(Response response, String text, Callback callback) {
            response.write(true, ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), callback);
        }
    }

    /** Returns what it receives. */
    public static class Echo implements Session.Listener.AutoDemanding {
        private final String version;
        private Session session;

        Echo(String version) {
            this.version = version;
        }

        @Override
        public void onWebSocketOpen(Session session) {
            this.session = session;
            add("sockets " + version, 1);
        }

        @Override
        public void onWebSocketText(String message) {
            add("messages " + version, 1);
            session.sendText(message, org.eclipse.jetty.websocket.api.Callback.NOOP);
        }

        @Override
        public void onWebSocketBinary(ByteBuffer message, org.eclipse.jetty.websocket.api.Callback callback) {
            add("messages " + version, 1);
            session.sendBinary(message, callback);
        }
    }
}
