// An HTTPS server of JavaScript modules: the files of a folder, `/moved/NAME` as a redirect to `/NAME`, and `/gone` as 404.
// Arguments: the certificate, its key, and the folder. It ends when its stdin does.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { basename, join } from 'node:path';

const [certificate, key, folder] = process.argv.slice(2);
const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (request, response) => {
  if (request.url.startsWith('/moved/')) {
    response.writeHead(302, { location: request.url.slice('/moved'.length) }).end();
    return;
  }
  try {
    const body = readFileSync(join(folder, basename(request.url)));
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(body);
  } catch {
    response.writeHead(404).end();
  }
});
server.listen(0, '127.0.0.1', () => console.log(`listening on 127.0.0.1:${server.address().port}`));
process.stdin.on('end', () => process.exit(0)).resume();
