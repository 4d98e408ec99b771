// k6/ws: bytes.
import ws from 'k6/ws';

export default function () {
  ws.connect(`ws://${__ENV.HOST}/ws/echo`, null, (socket) => {
    socket.on('open', () => socket.sendBinary(new Uint8Array([1, 2, 255]).buffer));
    socket.on('binaryMessage', (bytes) => {
      console.log(bytes instanceof ArrayBuffer, new Uint8Array(bytes).join());
      socket.close(1000);
    });
  });
}
