// k6/websockets: the server closes.
import { WebSocket } from 'k6/websockets';

export default function () {
  const socket = new WebSocket(`ws://${__ENV.HOST}/ws/echo`);
  socket.onopen = () => socket.send('close');
  socket.onclose = (event) => console.log('close', event.code, event.reason);
}
