// k6/websockets: a connection that cannot be made.
// differs: exit failed-requests
// differs: metrics websockets
// differs: keys websockets
import { WebSocket } from 'k6/websockets';

export default function () {
  const socket = new WebSocket('ws://127.0.0.1:1/');
  socket.onerror = (event) => console.log('error', typeof event.error);
  socket.onclose = (event) => console.log('close');
  socket.onopen = () => console.log('open');
}
