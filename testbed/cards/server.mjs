// The cards API on Node's own `http`, without a dependency. It keeps one oddity of the service that it stands for: the
// header text is passed to `writeHead` as a string, which Node takes for the reason phrase. So the status line reads
// `HTTP/1.1 200 Content-Type: application/json`, there is no Content-Type at all, and a client has to put up with it.
import { createServer } from "node:http";
import { deck } from "./deck.mjs";

const USAGE = `Cards, drawn at random

  GET /question   a question with a gap to be filled
  GET /answer     an answer that may fill one
  GET /pick       one of each, as a JSON object
`;

const { answers, questions } = deck();
const draw = (cards) => cards[Math.floor(Math.random() * cards.length)];
const routes = {
  "/question": () => draw(questions),
  "/answer": () => draw(answers),
  "/pick": () => JSON.stringify({ question: draw(questions), answer: draw(answers) }),
};

const server = createServer((request, response) => {
  const path = request.url.split("?", 1)[0];
  const route = Object.hasOwn(routes, path) ? routes[path] : () => USAGE;
  response.writeHead(200, "Content-Type: application/json");
  response.end(route());
});

// The length of the queue of connections that the kernel has opened and this process has not yet accepted.
const backlog = Number(process.env.BACKLOG ?? 511);
server.listen({ port: Number(process.env.PORT), host: "127.0.0.1", backlog });
