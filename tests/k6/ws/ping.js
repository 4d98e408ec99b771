// k6/ws: pings and pongs.
import ws from 'k6/ws';

export default function () {
  ws.connect(`ws://${__ENV.HOST}/ws/echo`, (socket) => {
    socket.on('open', () => socket.ping());
    socket.on('pong', () => {
      console.log('pong');
      socket.send('ping');
    });
    socket.on('ping', () => {
      console.log('ping');
      socket.close();
    });
  });
}
