// k6/ws: messages that come back, and a close.
import ws from 'k6/ws';
import { check } from 'k6';

export default function () {
  const url = `ws://${__ENV.HOST}/ws/echo`;
  const response = ws.connect(url, { headers: { 'X-A': '1' }, tags: { own: 'x' } }, (socket) => {
    socket.on('open', () => {
      console.log('open');
      socket.send('one');
    });
    socket.on('message', (text) => {
      console.log('message', text);
      if (text === 'one') socket.send('two');
      else socket.close();
    });
    socket.on('close', (code) => console.log('close', code));
    socket.on('error', (e) => console.log('error', e.error()));
  });
  check(response, { 'is 101': (r) => r && r.status === 101 });
  console.log(response.status, response.headers['X-Greeting'], response.url === url, response.error, response.body);
}
