// The older name of k6/websockets.
// differs: metrics websockets
import { WebSocket } from 'k6/experimental/websockets';

export default function () {
  const socket = new WebSocket(`ws://${__ENV.HOST}/ws/echo`);
  socket.onopen = () => socket.send('x');
  socket.onmessage = () => socket.close();
}
