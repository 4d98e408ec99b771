// k6/ws: the server closes.
import ws from 'k6/ws';

export default function () {
  const response = ws.connect(`ws://${__ENV.HOST}/ws/echo`, {}, (socket) => {
    socket.on('open', () => socket.send('close'));
    socket.on('close', (code) => console.log('close', code));
  });
  console.log(response.status);
}
