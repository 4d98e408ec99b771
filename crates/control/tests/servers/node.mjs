// Serves the page of metrics whose file is named, as a program with prom-client would: a process that can be stopped
// in the middle. Its version and its memory are its own, so that nobody takes the file for it.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const [, , file, port] = process.argv;
const text = readFileSync(file, "utf8");

createServer((request, response) => {
  const page = text
    .replace(/version="[^"]*"/, `version="${process.version}"`)
    .replace(/(process_resident_memory_bytes) .*/, `$1 ${process.memoryUsage.rss()}`);
  response.setHeader("content-type", "text/plain; version=0.0.4; charset=utf-8");
  response.end(page);
}).listen(Number(port), "127.0.0.1", () => console.log("listening"));
