// TLS in front of a server: each connection is passed on without it. Arguments: the certificate, its key, the address and
// the port of the server, and how many connections are accepted (default: all); later ones end at once. It prints
// `listening on ADDRESS:PORT`, and ends when its stdin does.
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { createServer } from "node:tls";

const [certificate, key, host, port, most = Infinity] = process.argv.slice(2);
const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (client) => {
  const onward = connect({ host, port: Number(port), noDelay: true });
  client.setNoDelay(true);
  client.on("error", () => onward.destroy()).pipe(onward);
  onward.on("error", () => client.destroy()).pipe(client);
});
let accepted = 0;
server.on("connection", (socket) => {
  accepted += 1;
  if (accepted > Number(most)) socket.destroy();
});
server.on("tlsClientError", () => {});
server.listen(0, "127.0.0.1", () => console.log(`listening on 127.0.0.1:${server.address().port}`));
process.stdin.on("end", () => process.exit(0)).resume();
