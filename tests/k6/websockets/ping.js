// k6/websockets: pings.
// differs: metrics websockets
import { WebSocket } from 'k6/websockets';

export default function () {
  const socket = new WebSocket(`ws://${__ENV.HOST}/ws/echo`);
  socket.onopen = () => socket.ping();
  socket.onpong = () => {
    console.log('pong');
    socket.send('ping');
  };
  socket.onping = () => {
    console.log('ping');
    socket.close();
  };
}
