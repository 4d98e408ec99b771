// k6/net/grpc: streams in both directions.
import grpc from 'k6/net/grpc';

const client = new grpc.Client();
client.load([], 'echo.proto');

export default function () {
  client.connect(__ENV.GRPC, { plaintext: true });
  const chat = new grpc.Stream(client, 'echo.v1.Echo/Chat', { tags: { own: 'x' } });
  let seen = 0;
  chat.on('data', (item) => {
    console.log('data', item.name, item.id);
    seen += 1;
    if (seen === 3) chat.end();
    else chat.write({ name: `m${seen}`, id: seen });
  });
  chat.on('error', (error) => console.log('error', error.code));
  chat.on('end', () => {
    console.log('end');
    collect();
  });
  chat.write({ name: 'm0' });
}

function collect() {
  const stream = new grpc.Stream(client, 'echo.v1.Echo/Collect');
  stream.on('data', (message) => console.log('items', message.items.length));
  stream.on('end', () => {
    console.log('end of items');
    repeat();
  });
  stream.write({ id: 1 });
  stream.write({ id: 2 });
  stream.end();
}

function repeat() {
  const stream = new grpc.Stream(client, 'echo.v1.Echo/Repeat', { metadata: { 'x-times': '3' } });
  stream.on('data', (item) => console.log('item', item.id));
  stream.on('end', () => {
    console.log('end of repeats');
    client.close();
  });
  stream.write({ id: 5 });
  stream.end();
}
