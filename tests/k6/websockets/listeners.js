// k6/websockets: listeners, bytes, and protocols.
// differs: metrics websockets
import { WebSocket } from 'k6/websockets';

export default function () {
  const socket = new WebSocket(`ws://${__ENV.HOST}/ws/echo`, ['chat', 'other']);
  socket.binaryType = 'arraybuffer';
  socket.addEventListener('open', () => {
    console.log(socket.protocol);
    socket.send(new Uint8Array([1, 2, 3]).buffer);
  });
  socket.addEventListener('message', (event) => {
    console.log(event.data instanceof ArrayBuffer, new Uint8Array(event.data).join());
    socket.close();
  });
  socket.addEventListener('close', () => console.log('close'));
}
