// k6/websockets: events of a socket.
// differs: metrics websockets
import { WebSocket } from 'k6/websockets';

export default function () {
  const socket = new WebSocket(`ws://${__ENV.HOST}/ws/echo`, null, { headers: { 'X-A': '1' }, tags: { own: 'x' } });
  console.log(socket.readyState, socket.url === `ws://${__ENV.HOST}/ws/echo`, socket.bufferedAmount);
  socket.onopen = () => {
    console.log('open', socket.readyState);
    socket.send('one');
  };
  socket.onmessage = (event) => {
    console.log(event.data, event.type);
    socket.close(1000, 'done');
  };
  socket.onclose = (event) => console.log('close', event.code, socket.readyState);
  socket.onerror = (event) => console.log('error', event.error);
}
