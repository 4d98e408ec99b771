// k6/ws: a connection that cannot be made, and one that is not a WebSocket.
// differs: exit failed-requests
// differs: metrics websockets
// differs: keys websockets
// differs: console websockets
import ws from 'k6/ws';

export default function () {
  const response = ws.connect(`ws://${__ENV.HOST}/none`, (socket) => {
    socket.on('error', (e) => console.log('error'));
  });
  console.log(response.status);
  try {
    const other = ws.connect('ws://127.0.0.1:1/', (socket) => {});
    console.log('returned', other.status);
  } catch (e) {
    console.log('exception');
  }
}
