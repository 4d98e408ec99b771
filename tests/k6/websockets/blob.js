// k6/websockets: bytes as a Blob.
// differs: console lenient
// differs: errors lenient
// differs: keys lenient
// differs: metrics lenient
// differs: requests lenient
import { WebSocket, Blob } from 'k6/websockets';

export default function () {
  const socket = new WebSocket(`ws://${__ENV.HOST}/ws/echo`);
  console.log(socket.binaryType);
  socket.binaryType = 'blob';
  socket.onopen = () => socket.send(new Blob([new Uint8Array([97, 98, 99]).buffer]));
  socket.onmessage = async (event) => {
    console.log(event.data.size, await event.data.text());
    socket.close();
  };
}
