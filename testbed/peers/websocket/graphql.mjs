// Operations of GraphQL over a WebSocket, by the libraries `graphql-ws` and `graphql`.
//
//   subscription { prices(count: 3, every: 5) { seq value } }   results every 5 ms, then the server completes
//   subscription { prices(count: 3, fails_at: 2) { seq value } }   the second result has errors
//   subscription { refused { seq } }   rejected with `error`
//   query { price { value } }          one result
//   ?token=x            refuses the connection (close code 4403) unless the payload of `connection_init` has this token
//   ?silent=1           never acknowledges
//   ?ping=1             sends a ping before the acknowledgment, which waits for the pong
//   ?garbage=1          sends a message that the protocol does not have
import { GraphQLError, buildSchema } from "graphql";
import { makeServer } from "graphql-ws";

export const stats = { initialized: 0, subscribed: 0, results: 0, completed_by_client: 0, completed: 0, pongs: 0, codes: {}, variables: [] };

const schema = buildSchema(`
  type Price { seq: Int! value: Float! }
  type Query { price: Price! }
  type Subscription { prices(count: Int!, every: Int = 0, fails_at: Int = 0): Price! refused: Price! }
`);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function* prices({ count, every, fails_at }) {
  for (let seq = 1; seq <= count; seq += 1) {
    await pause(every);
    const value = () => {
      if (seq === fails_at) throw new GraphQLError("no price");
      return seq / 2;
    };
    yield { prices: { seq, value } };
  }
}

const roots = {
  query: { price: { seq: 1, value: 0.5 } },
  subscription: {
    prices,
    refused: () => {
      throw new GraphQLError("not for you");
    },
  },
};

/** Serves the operations of one socket. */
export function operate(socket, query) {
  let received = () => {};
  let pong;
  const ponged = new Promise((resolve) => (pong = resolve));
  const server = makeServer({
    schema,
    roots,
    onConnect: async ({ connectionParams }) => {
      if (query.has("silent")) await new Promise(() => {});
      if (query.has("ping")) {
        socket.send(JSON.stringify({ type: "ping" }));
        await ponged;
      }
      if (query.has("garbage")) socket.send(JSON.stringify({ type: "data", id: "1" }));
      stats.initialized += 1;
      return !query.has("token") || connectionParams?.token === query.get("token");
    },
    onSubscribe: (_, __, payload) => {
      stats.subscribed += 1;
      if (payload.variables && stats.variables.length < 20) stats.variables.push(payload.variables);
    },
    onNext: () => void (stats.results += 1),
    onComplete: () => void (stats.completed += 1),
    onPong: () => {
      stats.pongs += 1;
      pong();
    },
  });
  const closed = server.opened(
    {
      protocol: socket.protocol,
      send: async (data) => socket.readyState === socket.OPEN && socket.send(data),
      close: (code, reason) => socket.close(code, reason),
      onMessage: (callback) => (received = callback),
    },
    {},
  );
  socket.on("message", (data) => {
    const text = String(data);
    stats.completed_by_client += JSON.parse(text).type === "complete" ? 1 : 0;
    received(text).catch(() => socket.close(1011));
  });
  socket.on("close", (code, reason) => {
    stats.codes[code] = (stats.codes[code] ?? 0) + 1;
    closed(code, String(reason));
  });
  socket.on("error", () => {});
}
